//! Simulates hook mode: one process that works on many iterations, and reports its cost when it ends.

use super::Sim;
use crate::decide::Event;
use crate::decide::attached::SessionOffer;
use loopkeeper_agent::{AgentEnding, AgentExited, AgentRun, LoopMode};

/// Tokens of each turn.
const TOKENS: u64 = 1_000;

#[derive(Debug, Default)]
pub struct Process {
    pub alive: bool,
    /// Number of processes so far.
    pub starts: u32,
    /// How often a process can be held.
    pub cap: Option<u32>,
    holds: Option<u32>,
    /// Cost that is reported when the process ends.
    unreported_cost: u64,
    /// A turn is running.
    pub(super) works: bool,
    /// The usage of the session so far, where it is reported.
    pub tokens: Option<u64>,
    pub(super) used_before: u64,
}

impl Process {
    /// The present usage of its session, where it is reported.
    pub fn uses(&mut self, more: u64) -> Option<u64> {
        let all = self.tokens.as_mut()?;
        *all += more;
        Some(*all)
    }

    /// Continues with the answer, or starts another process; returns how often it can be held from then on.
    pub(super) fn answers(&mut self) -> Option<u32> {
        if self.alive {
            self.holds = self.holds.map(|it| it.checked_sub(1).expect("no more than its cap"));
        } else {
            self.starts += 1;
            self.holds = self.cap;
        }
        self.alive = true;
        self.holds
    }
}

impl Sim {
    /// The end of a turn: the stop hook holds an agent that ended it without an error.
    pub(super) fn ended_or_held(&mut self, run: AgentRun) -> AgentRun {
        if self.is_attached() {
            return self.turn_over(run);
        }
        let cost = run.cost_micros.unwrap_or(0);
        if self.state.spec.settings.mode == LoopMode::Loop || run.error.is_some() {
            self.process.alive = false;
            let earlier = std::mem::take(&mut self.process.unreported_cost);
            return AgentRun { cost_micros: Some(cost + earlier), ..run };
        }
        self.process.unreported_cost += cost;
        AgentRun { ending: AgentEnding::Held, exit: None, cost_micros: None, ..run }
    }

    pub(super) fn is_attached(&self) -> bool {
        self.state.spec.settings.mode == LoopMode::Attach
    }

    /// An attached session reports only the last message and the tokens; an error in the script closes it.
    fn turn_over(&mut self, run: AgentRun) -> AgentRun {
        let session_tokens = self.process.uses(TOKENS);
        let tokens = session_tokens.map(|it| it.saturating_sub(self.process.used_before));
        self.process.alive = run.error.is_none();
        let ending = if self.process.alive { AgentEnding::Held } else { AgentEnding::Exited };
        let exit = (!self.process.alive).then_some(0);
        let run_of_turn = AgentRun { ending, exit, tokens, session_tokens, ..super::quiet_run() };
        AgentRun { final_text: run.final_text, duration_ms: run.duration_ms, ..run_of_turn }
    }

    /// The user sends a prompt to one of their sessions; `false`: it does not attach the session.
    pub fn speak(&mut self, session: &str, holds: u32) -> bool {
        let is_at_work = self.process.works;
        if self.finished || is_at_work || !self.is_attached() {
            return false;
        }
        if self.process.alive {
            // It was interrupted.
            self.process.alive = false;
            self.event(Event::AgentLeft(Box::default()));
        }
        self.attach(session, holds);
        true
    }

    /// A session requests work after a prompt of its user.
    pub fn attach(&mut self, session: &str, holds: u32) {
        (self.process.alive, self.process.holds) = (true, Some(holds + 1));
        let tokens = self.process.tokens;
        self.event(Event::SessionOffered(SessionOffer { session: session.to_owned(), holds, tokens }));
    }

    pub(super) fn release_agent(&mut self) {
        assert!(self.process.alive || self.is_attached(), "a process is held");
        self.process.alive = false;
        let cost_micros = Some(std::mem::take(&mut self.process.unreported_cost));
        let left = AgentExited { exit: Some(0), cost_micros, ..AgentExited::default() };
        self.event(Event::AgentLeft(Box::new(left)));
    }
}
