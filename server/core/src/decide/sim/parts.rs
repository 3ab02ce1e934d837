//! Builders for simulated loops: criteria, plans, results, runs, and the first records of a loop.

use crate::check::{CheckResult, DependencyProvider, MissingDependency, MissingKind, Status, TestCounts};
use crate::decide::commits::CommitPlan;
use crate::decide::final_verdict::{TestOrder, UnrecordedInputs, VerdictRounds};
use crate::decide::{CommitOutcome, Event};
use crate::journal::{AgentPlan, GitHead, LoopSpec, Round};
use crate::settings::{SandboxMode, Settings};
use loopkeeper_agent::errors::{FingerprintedError, fingerprint};
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd};
use loopkeeper_agent::{AgentRun, PermissionMode, PromptBy};
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_task::{PlanItem, TaskId};
use loopkeeper_text::DocumentRange;

pub fn criterion(name: &str, check: &str) -> Criterion {
    let check = (!check.is_empty()).then(|| Check::Command { command: check.to_owned(), expect: Vec::new() });
    Criterion::new(format!("id-{name}-{}", check.is_some()), name, check)
}

/// A round of checks on a tree that no test reads.
pub fn round_of(results: Vec<CheckResult>) -> Round {
    Round { tree_before: String::new(), tree_after: String::new(), wrote: Vec::new(), results, judging: None }
}

/// A clean room's round on the tree as the agent left it, where no judge changed.
pub fn verdict_rounds(final_round: Round) -> VerdictRounds {
    VerdictRounds {
        final_round,
        pinned: None,
        judges: Vec::new(),
        unrecorded: UnrecordedInputs::default(),
        copied: None,
        order: TestOrder::default(),
    }
}

pub fn item(title: &str) -> PlanItem {
    PlanItem {
        id: title.to_owned(),
        title: title.to_owned(),
        done: false,
        blocking: true,
        place: DocumentRange::default(),
        priority: None,
        depends_on: Vec::new(),
        done_field: None,
        done_value: None,
    }
}

pub fn spec(criteria: Vec<Criterion>) -> LoopSpec {
    LoopSpec {
        loop_id: "20261120-abcdef".to_owned(),
        version: "0.1.0".to_owned(),
        task: TaskId("PROMPT.md".to_owned()),
        title: "A task".to_owned(),
        root: "/work tree".to_owned(),
        inline_prompt: None,
        agent: AgentPlan {
            name: "mine".to_owned(),
            argv: vec!["./agent.sh".to_owned()],
            prompt: PromptBy::Stdin,
            dialect: Dialect::Text,
            permissions: PermissionMode::Edits,
            env: Vec::new(),
        },
        fallbacks: Vec::new(),
        judge: None,
        settings: Settings {
            agent: "mine".to_owned(),
            task_exclude: Vec::new(),
            protected: Vec::new(),
            may_change: Vec::new(),
            sandbox: SandboxMode::Off,
            agents: Vec::new(),
            ..Settings::default()
        },
        branch: None,
        preset: None,
        promise: "COMPLETE".to_owned(),
        criteria,
        plan: Vec::new(),
        anyway: false,
        attended: true,
        unaccepted: Vec::new(),
        earlier: Vec::new(),
    }
}

pub(super) fn seen(text: &str) -> FingerprintedError {
    FingerprintedError { fingerprint: fingerprint(text), text: text.to_owned() }
}

pub(super) fn result(criterion: &Criterion, letter: char, fact: &str) -> CheckResult {
    let status = match letter {
        'p' | '0'..='9' => Status::Pass,
        't' => Status::TimedOut,
        'z' => Status::NoTestsRan,
        '-' => Status::Unverified,
        'u' => Status::Unstable,
        'm' | 'n' | 'g' => Status::CouldNotRun,
        _ => Status::Fail,
    };
    let fact = if status == Status::Pass { "" } else { fact };
    let status = if criterion.check.is_none() { Status::Unverified } else { status };
    CheckResult {
        duration_ms: 10,
        missing: match letter {
            'm' => Some(missing(DependencyProvider::Machine, MissingKind::Program, "make")),
            'n' => Some(missing(DependencyProvider::Machine, MissingKind::PythonModule, "ruff")),
            'g' => Some(missing(DependencyProvider::Project, MissingKind::File, "./coverage.sh")),
            _ => None,
        },
        tests: letter.to_digit(10).map(|it| TestCounts { passed: it.into(), ..TestCounts::default() }),
        number: letter.to_digit(10).filter(|_| !criterion.number_rules.is_empty()).map(f64::from),
        ..CheckResult::new(criterion.id.clone(), status, fact)
    }
}

fn missing(owner: DependencyProvider, kind: MissingKind, name: &str) -> MissingDependency {
    MissingDependency { kind, name: name.to_owned(), owner, remedy: format!("install {name}") }
}

pub fn quiet_run() -> AgentRun {
    AgentOutputReader::new(Dialect::Text).finish(ProcessEnd::exited(Some(0)), &LocalClock::utc(0))
}

/// HEAD on a branch, or on none.
pub(super) fn head(branch: &str) -> GitHead {
    let branch = Some(branch.to_owned()).filter(|it| !it.is_empty());
    GitHead { commit: "c".to_owned(), tree: "t".to_owned(), branch }
}

impl super::Sim {
    pub(super) fn commit(&mut self, plan: CommitPlan) {
        let made = CommitOutcome {
            iteration: plan.iteration,
            commit: self.no_commit.is_none().then(|| format!("commit {}", plan.iteration)),
            subject: self.no_commit.is_none().then(|| plan.subject.clone()),
            note: self.no_commit.map(str::to_owned),
        };
        self.commits.push(plan);
        self.event(Event::Committed(made));
    }
}
