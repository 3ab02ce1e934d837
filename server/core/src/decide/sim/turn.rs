//! A scripted turn of the agent: one iteration.

use super::Sim;
use super::parts::{quiet_run, seen};
use crate::decide::Event;
use loopkeeper_agent::{AgentEnding, AgentRun, ProviderClass, ProviderError};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Criterion;

/// The actions of one iteration's agent, and the results of the checks afterwards.
#[derive(Debug, Clone)]
pub struct Turn {
    /// One letter per criterion after it: `p`ass, a digit (that many tests pass), `f`ail, `t`imed out, `z`ero tests,
    /// `u`nstable, `-` unverified; or the check cannot run because the machine lacks a program (`m`) or a Python module
    /// (`n`), or the project lacks a file (`g`).
    pub results: &'static str,
    pub changed: Vec<&'static str>,
    pub says: &'static str,
    pub error: Option<ProviderClass>,
    /// The message of the error.
    pub why: &'static str,
    pub cost: u64,
    pub takes_ms: u64,
    /// Paths that the checks write each time they run.
    pub wrote: Vec<&'static str>,
    /// Plan items done by now.
    pub ticks: usize,
    /// Files that are weaker than at the start from now on.
    pub weakens: Option<Vec<&'static str>>,
    /// The documents' criteria as the agent leaves them.
    pub leaves: Option<Vec<Criterion>>,
    /// The plan as the agent leaves it, if `ticks` cannot express it.
    pub plan: Option<Vec<PlanItem>>,
    /// Tools it was denied.
    pub denied: Vec<&'static str>,
    /// The agent lost the session to continue.
    pub forgets: bool,
    /// Commands that its tools run.
    pub ran: Vec<&'static str>,
    /// The name of the tree that it makes, if the tree recurs.
    pub makes: Option<&'static str>,
    pub errors: Vec<&'static str>,
    pub output: u64,
    /// The finding of checks that fail after it.
    pub fact: &'static str,
    /// It never ends on its own.
    pub hangs: bool,
    /// The branch that it leaves HEAD on; `""`: none.
    pub switches: Option<&'static str>,
}

impl Turn {
    pub fn new(results: &'static str) -> Self {
        Self {
            results,
            changed: vec!["src/lib.rs"],
            says: "",
            error: None,
            why: "no luck",
            cost: 10_000,
            takes_ms: 60_000,
            wrote: Vec::new(),
            ticks: 0,
            weakens: None,
            leaves: None,
            plan: None,
            denied: Vec::new(),
            forgets: false,
            ran: Vec::new(),
            makes: None,
            errors: Vec::new(),
            output: 0,
            fact: "",
            hangs: false,
            switches: None,
        }
    }

    pub fn idle(results: &'static str) -> Self {
        Self { changed: Vec::new(), ..Self::new(results) }
    }

    pub fn fails(class: ProviderClass, results: &'static str) -> Self {
        Self { error: Some(class), ..Self::idle(results) }
    }

    pub fn denied(self, denied: &[&'static str]) -> Self {
        Self { denied: denied.to_vec(), ..self }
    }

    pub fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }
}

impl Sim {
    pub(super) fn act(&mut self) {
        let Some(act) = self.turns.get(self.played).cloned() else {
            // The script is over: the agent hangs until the keeper ends it.
            return;
        };
        self.played += 1;
        self.now = self.now.plus_ms(act.takes_ms);
        self.standing = act.results;
        self.fact = act.fact;
        self.branch = act.switches.or(self.branch);
        self.wrote.clone_from(&act.wrote);
        self.ticks = act.ticks;
        if let Some(weakens) = act.weakens {
            self.weak = weakens;
        }
        self.plan = act.plan.or(self.plan.take());
        if let Some(leaves) = act.leaves {
            self.documents = leaves;
        }
        if !act.changed.is_empty() {
            self.tree += 1;
            self.restored_tree = None;
            self.named_tree = act.makes;
        }
        if act.hangs {
            return;
        }
        let class = if act.forgets { Some(ProviderClass::Refused) } else { act.error };
        let error = class.map(|class| ProviderError {
            class,
            message: act.why.to_owned(),
            status: None,
            resets_at: None,
        });
        let run = AgentRun {
            final_text: act.says.to_owned(),
            cost_micros: Some(act.cost),
            duration_ms: act.takes_ms,
            commands: act.ran.iter().map(ToString::to_string).collect(),
            error,
            denials: act.denied.len() as u32,
            denied: act.denied.iter().map(ToString::to_string).collect(),
            program_missing: false,
            session_lost: act.forgets,
            errors: act.errors.iter().map(|it| seen(it)).collect(),
            output_bytes: act.output,
            ..quiet_run()
        };
        self.process.works = false;
        let run = self.ended_or_held(run);
        self.event(Event::AgentEnded(Box::new(run)));
    }

    pub(super) fn last_changes(&self) -> Vec<String> {
        let by_itself = |it| matches!(it, Some(AgentEnding::Exited | AgentEnding::Held));
        let ran = self.state.last_iteration().is_some_and(|it| by_itself(it.ending));
        let act = self.played.checked_sub(1).and_then(|it| self.turns.get(it));
        act.filter(|it| ran || it.hangs)
            .map(|it| it.changed.iter().map(ToString::to_string).collect())
            .unwrap_or_default()
    }
}
