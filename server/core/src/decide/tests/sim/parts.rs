//! What played loops are made of: criteria, plans, results, runs, and a loop's beginning.

use crate::agent::AgentRun;
use crate::agent::errors::{SeenError, fingerprint};
use crate::agent::provider::Here;
use crate::agent::reader::{ProcessEnd, Reader};
use crate::check::{CheckResult, Missing, MissingKind, Owner, Status, TestCounts};
use crate::decide::commits::Order;
use crate::decide::{Committed, Event};
use crate::journal::{AgentPlan, Head, LoopSpec};
use crate::settings::{Dialect, Permissions, PromptBy, Sandbox, Settings};
use crate::task::{Check, Criterion, Place, PlanItem, TaskId};

pub(crate) fn criterion(name: &str, check: &str) -> Criterion {
    let check = (!check.is_empty()).then(|| Check::Command { command: check.to_owned(), expect: Vec::new() });
    Criterion::new(format!("id-{name}-{}", check.is_some()), name, check)
}

pub(crate) fn item(title: &str) -> PlanItem {
    PlanItem {
        id: title.to_owned(),
        title: title.to_owned(),
        done: false,
        blocking: true,
        place: Place::default(),
        priority: None,
        depends_on: Vec::new(),
    }
}

pub(crate) fn spec(criteria: Vec<Criterion>) -> LoopSpec {
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
            permissions: Permissions::Edits,
            env: Vec::new(),
        },
        others: Vec::new(),
        judge: None,
        settings: Settings {
            agent: "mine".to_owned(),
            task_exclude: Vec::new(),
            protected: Vec::new(),
            sandbox: Sandbox::Off,
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
    }
}

pub(super) fn seen(text: &str) -> SeenError {
    SeenError { fingerprint: fingerprint(text), text: text.to_owned() }
}

pub(super) fn result(criterion: &Criterion, letter: char, fact: &str) -> CheckResult {
    let status = match letter {
        'p' | '0'..='9' => Status::Pass,
        't' => Status::TimedOut,
        'z' => Status::NoTestsRan,
        '-' => Status::Unverified,
        'u' => Status::Unstable,
        'm' | 'g' => Status::CouldNotRun,
        _ => Status::Fail,
    };
    let fact = if status == Status::Pass { "" } else { fact };
    let status = if criterion.check.is_none() { Status::Unverified } else { status };
    CheckResult {
        duration_ms: 10,
        missing: match letter {
            'm' => Some(missing(Owner::Machine, MissingKind::Program, "make")),
            'g' => Some(missing(Owner::Project, MissingKind::File, "./coverage.sh")),
            _ => None,
        },
        tests: letter.to_digit(10).map(|it| TestCounts { passed: it.into(), ..TestCounts::default() }),
        ..CheckResult::new(criterion.id.clone(), status, fact)
    }
}

fn missing(owner: Owner, kind: MissingKind, name: &str) -> Missing {
    Missing { kind, name: name.to_owned(), owner, remedy: format!("install {name}") }
}

pub(crate) fn quiet_run() -> AgentRun {
    Reader::new(Dialect::Text).finish(ProcessEnd::exited(Some(0)), &Here::utc(0))
}

/// HEAD on a branch, or on none.
pub(super) fn head(branch: &str) -> Head {
    let branch = Some(branch.to_owned()).filter(|it| !it.is_empty());
    Head { commit: "c".to_owned(), tree: "t".to_owned(), branch }
}

impl super::Sim {
    pub(super) fn commit(&mut self, order: Order) {
        let made = Committed {
            iteration: order.iteration,
            commit: self.no_commit.is_none().then(|| format!("commit {}", order.iteration)),
            subject: self.no_commit.is_none().then(|| order.subject.clone()),
            note: self.no_commit.map(str::to_owned),
        };
        self.commits.push(order);
        self.event(Event::Committed(made));
    }
}
