//! The answers of the machine to a keeper's effects, as small values: the event is made of one when it is handled.

use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::decide::final_verdict::VerdictReply;
use loopkeeper_core::decide::mutants::{MutantCounts, MutantReply};
use loopkeeper_core::decide::sim::{as_left, criterion, quiet_run, round_of, spec};
use loopkeeper_core::decide::{CallSlot, Event, LoopState, SnapshotFacts, TaskDocuments, UserCommand};
use loopkeeper_core::journal::{LoopSpec, Round};
use loopkeeper_core::prompt::MemoryFiles;
use loopkeeper_core::settings::SandboxMode;

use super::Bound;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    Steer,
    Stop,
    StopNow,
}

impl Request {
    pub(crate) const TEXT: &str = "mind the tests";

    fn command(self) -> UserCommand {
        match self {
            Self::Steer => UserCommand::Steer(Self::TEXT.to_owned()),
            Self::Stop => UserCommand::Stop,
            Self::StopNow => UserCommand::StopNow,
        }
    }
}

/// What a keeper has to handle next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Signal {
    Launched,
    Reopened {
        boot: u8,
    },
    Continued,
    /// `tree`: the number of changes in the work tree.
    Snapshot {
        tree: u8,
    },
    Documents,
    Checks {
        tree: u8,
    },
    Verdict {
        tree: u8,
    },
    Mutants,
    ChecksCancelled,
    CallSlot {
        iteration: u32,
    },
    AgentStarted,
    AgentEnded {
        ending: AgentEnding,
    },
    NoActivity,
    Asked(Request),
}

/// What makes events of signals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) bound: Bound,
    /// Checks pass whatever the tree is.
    pub(crate) forged: bool,
}

pub(crate) fn loop_spec(bound: Bound) -> LoopSpec {
    let mut spec = spec(vec![criterion("enough", "test -f done")]);
    spec.settings.limits.iterations = bound.iterations;
    spec.settings.sandbox = SandboxMode::Auto;
    spec
}

pub(crate) fn boot_id(boot: u8) -> String {
    format!("boot-{boot}")
}

pub(crate) fn tree_name(tree: u8) -> String {
    format!("tree-{tree}")
}

impl Signal {
    pub(crate) fn event(self, state: &LoopState, facts: Facts) -> Event {
        match self {
            Self::Launched => Event::Launched { spec: Box::new(state.spec.clone()), boot: boot_id(0) },
            Self::Reopened { boot } => Event::Reopened { boot: boot_id(boot), version: "0.1.0".to_owned() },
            Self::Continued => Event::Continued,
            Self::Snapshot { tree } => Event::SnapshotTaken(snapshot(state, tree)),
            Self::Documents => Event::TaskRead(Box::new(documents(state))),
            Self::Checks { tree } => {
                let round = Box::new(round(state, tree, facts));
                Event::ChecksDone { round, wrote: Vec::new(), untracked: Vec::new(), strays: Vec::new() }
            }
            Self::Verdict { tree } => {
                let rounds = Box::new(as_left(round(state, tree, facts)));
                Event::FinalVerdict(VerdictReply::Judged(rounds))
            }
            Self::Mutants => Event::MutantsTested(MutantReply::Tested(MutantCounts::default())),
            Self::ChecksCancelled => Event::ChecksCancelled,
            Self::CallSlot { iteration } => Event::CallAnswered(CallSlot::Taken { this_hour: iteration }),
            Self::AgentStarted => Event::AgentStarted {
                pid: 42,
                agent_pid: None,
                domain: "subreaper".to_owned(),
                network: None,
                holds: None,
            },
            Self::AgentEnded { ending } => Event::AgentEnded(Box::new(AgentRun { ending, ..quiet_run() })),
            Self::NoActivity => Event::ActivityChecked { alive: false },
            Self::Asked(request) => Event::UserAsked(request.command()),
        }
    }
}

fn snapshot(state: &LoopState, tree: u8) -> SnapshotFacts {
    let tree = tree_name(tree);
    let is_changed = state.tree_before().is_some_and(|it| it != tree);
    let changed = if is_changed { vec!["src/lib.rs".to_owned()] } else { Vec::new() };
    SnapshotFacts { tree, changed, ..SnapshotFacts::default() }
}

fn documents(state: &LoopState) -> TaskDocuments {
    TaskDocuments {
        prompt: "Do it.".to_owned(),
        criteria: state.spec.criteria.clone(),
        sums: [(String::new(), "unchanged".to_owned())].into(),
        notes: MemoryFiles::default(),
        ..TaskDocuments::default()
    }
}

fn round(state: &LoopState, tree: u8, facts: Facts) -> Round {
    let passes = facts.forged || tree >= facts.bound.changes;
    let (status, fact) = if passes { (Status::Pass, "") } else { (Status::Fail, "exit 1") };
    let results = state.spec.criteria.iter().map(|it| CheckResult::new(it.id.clone(), status, fact));
    Round { tree_before: tree_name(tree), tree_after: tree_name(tree), ..round_of(results.collect()) }
}
