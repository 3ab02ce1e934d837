//! In hook mode: one process that works many iterations, and tells its cost at its end.

use super::Sim;
use crate::agent::{AgentEnding, AgentLeft, AgentRun};
use crate::decide::Event;
use crate::decide::attached::Guest;
use crate::settings::Mode;

/// Of each turn.
const TOKENS: u64 = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Process {
    pub(crate) alive: bool,
    /// How many there were.
    pub(crate) starts: u32,
    /// How often one lets itself be held.
    pub(crate) cap: Option<u32>,
    holds: Option<u32>,
    owed: u64,
    /// What the session used so far, where it tells that.
    pub(crate) tokens: Option<u64>,
    pub(super) used_before: u64,
}

impl Process {
    /// What its session used by now, where it tells that.
    pub(crate) fn uses(&mut self, more: u64) -> Option<u64> {
        let all = self.tokens.as_mut()?;
        *all += more;
        Some(*all)
    }

    /// It goes on with the answer, or another one begins. How often it lets itself be held from here on.
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
    /// The end of a turn: the stop hook holds an agent that ended it well.
    pub(super) fn ended_or_held(&mut self, run: AgentRun) -> AgentRun {
        let cost = run.cost_micros.unwrap_or(0);
        if self.state.spec.settings.mode == Mode::Loop || run.error.is_some() {
            self.process.alive = false;
            let owed = std::mem::take(&mut self.process.owed);
            return AgentRun { cost_micros: Some(cost + owed), ..run };
        }
        self.process.owed += cost;
        let session_tokens = self.process.uses(TOKENS);
        let tokens = session_tokens.map(|it| it.saturating_sub(self.process.used_before));
        AgentRun { ending: AgentEnding::Held, exit: None, cost_micros: None, session_tokens, tokens, ..run }
    }

    /// A session asks for work: its user spoke to it.
    pub(crate) fn lend(&mut self, session: &str, holds: u32) {
        (self.process.alive, self.process.holds) = (true, Some(holds + 1));
        let tokens = self.process.tokens;
        self.event(Event::SessionCame(Guest { session: session.to_owned(), holds, tokens }));
    }

    pub(super) fn let_go(&mut self) {
        assert!(self.process.alive, "somebody is held");
        self.process.alive = false;
        let cost_micros = Some(std::mem::take(&mut self.process.owed));
        let left = AgentLeft { exit: Some(0), cost_micros, ..AgentLeft::default() };
        self.event(Event::AgentLeft(Box::new(left)));
    }
}
