//! The answers of the machine to a keeper's effects, as small values: the event is made of one when it is handled.

use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::decide::final_verdict::VerdictReply;
use loopkeeper_core::decide::mutants::{MutantCounts, MutantReply};
use loopkeeper_core::decide::sim::{criterion, quiet_run, round_of, spec, verdict_rounds};
use loopkeeper_core::decide::{
    CallSlot, Event, LoopState, Phase, SnapshotFacts, TaskDocuments, UserCommand, weakening,
};
use loopkeeper_core::journal::{LoopSpec, Round};
use loopkeeper_core::prompt::MemoryFiles;
use loopkeeper_core::settings::SandboxMode;
use loopkeeper_core::tamper::WeakeningFinding;

use super::Bound;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    Steer,
    Stop,
    StopNow,
    Resume,
    /// Restores all files as they were after this iteration.
    RollBack {
        to: u32,
    },
    /// Restores the test of the start.
    RestoreTest,
}

/// The work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Tree {
    /// The number of changes.
    pub(crate) changes: u8,
    /// How often its test was weakened.
    pub(crate) weakenings: u8,
}

impl Tree {
    pub(crate) const TEST: &str = "tests/test.py";

    pub(crate) fn name(self) -> String {
        format!("tree-{}-{}", self.changes, self.weakenings)
    }

    pub(crate) fn of_name(name: &str) -> Self {
        let mut numbers = name.split('-').skip(1).filter_map(|it| it.parse().ok());
        let mut next = || numbers.next().expect("the name of a tree");
        Self { changes: next(), weakenings: next() }
    }
}

impl Request {
    pub(crate) const TEXT: &str = "mind the tests";

    fn command(self) -> UserCommand {
        match self {
            Self::Steer => UserCommand::Steer(Self::TEXT.to_owned()),
            Self::Stop => UserCommand::Stop,
            Self::StopNow => UserCommand::StopNow,
            Self::Resume => UserCommand::Resume,
            Self::RollBack { to } => UserCommand::Rollback { to, paths: Vec::new() },
            Self::RestoreTest => UserCommand::Rollback { to: 0, paths: restored_paths(true) },
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
    Snapshot {
        tree: Tree,
    },
    Documents,
    Checks {
        tree: Tree,
    },
    Verdict {
        tree: Tree,
    },
    RollbackReady {
        to: u32,
        only_test: bool,
        tree: Tree,
    },
    RolledBack {
        to: u32,
        only_test: bool,
        /// The tree whose files were restored, and the work tree before and after.
        source: Tree,
        before: Tree,
        after: Tree,
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

fn restored_paths(only_test: bool) -> Vec<String> {
    if only_test { vec![Tree::TEST.to_owned()] } else { Vec::new() }
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
                let rounds = Box::new(verdict_rounds(round(state, tree, facts)));
                Event::FinalVerdict(VerdictReply::Judged(rounds))
            }
            Self::RollbackReady { to, only_test, tree } => {
                let snapshot = SnapshotFacts { tree: tree.name(), ..SnapshotFacts::default() };
                Event::RollbackReady { to, paths: restored_paths(only_test), snapshot }
            }
            Self::RolledBack { to, only_test, source, before, after } => Event::RolledBack {
                to,
                tree: source.name(),
                from: before.name(),
                after: after.name(),
                paths: restored_paths(only_test),
                refused: Vec::new(),
            },
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

fn snapshot(state: &LoopState, tree: Tree) -> SnapshotFacts {
    let before = state.tree_before().map(Tree::of_name);
    let is_changed = before.is_some_and(|it| it != tree);
    let changed = if is_changed { vec!["src/lib.rs".to_owned()] } else { Vec::new() };
    let facts = SnapshotFacts { tree: tree.name(), changed, ..SnapshotFacts::default() };
    let Some(scan) = weakening::inspection(state) else { return facts };
    if state.phase == Phase::Closing {
        let baseline = Tree::of_name(scan.version_of(Tree::TEST));
        let weakened =
            WeakeningFinding { path: Tree::TEST.to_owned(), what: "weaker".to_owned(), criterion: None };
        let is_weaker = tree.weakenings > baseline.weakenings;
        return SnapshotFacts { weakened: is_weaker.then_some(weakened).into_iter().collect(), ..facts };
    }
    let last = scan.last_version_of(Tree::TEST);
    let is_edited = !last.is_empty() && Tree::of_name(last).weakenings != tree.weakenings;
    SnapshotFacts { edited: restored_paths(is_edited), ..facts }
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

fn round(state: &LoopState, tree: Tree, facts: Facts) -> Round {
    let passes = facts.forged || tree.changes >= facts.bound.changes;
    let (status, fact) = if passes { (Status::Pass, "") } else { (Status::Fail, "exit 1") };
    let results = state.spec.criteria.iter().map(|it| CheckResult::new(it.id.clone(), status, fact));
    Round { tree_before: tree.name(), tree_after: tree.name(), ..round_of(results.collect()) }
}
