//! The sessions of the agent, as far as iterations continue them.

use crate::journal::{AgentPlan, SessionReason};
use loopkeeper_agent::kind::{AgentKind, Support};
use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

/// Maximum number of changes that are kept and shown.
const MAX_KEPT: usize = 50;

/// The recorded state of all sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionHistory {
    /// The session that the next iteration continues.
    pub current: Option<CurrentSession>,
    /// The last fifty changes.
    pub changes: Vec<SessionChange>,
    /// How often a session was given up before the loop ended.
    pub resets: u32,
    pub(crate) refused: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentSession {
    pub id: String,
    pub started_at: Moment,
    pub(crate) used_at: Moment,
    /// Milliseconds without use before `used_at`, in earlier boots.
    pub(crate) idle_ms: u64,
    /// Tokens that it used, if the agent counts them over all its processes.
    pub tokens: u64,
    /// Its last iteration ended before it reported its usage.
    pub(crate) owes: bool,
    /// The agent began it.
    pub(crate) confirmed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChange {
    pub at: Moment,
    /// The last iteration before it.
    pub iteration: u32,
    pub from: Option<String>,
    pub to: Option<String>,
    pub reason: SessionReason,
}

/// Whether loopkeeper or the agent chooses the ids of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SessionIdOwner {
    Loopkeeper,
    /// The id of the start is not the id to continue with.
    Agent,
}

impl SessionIdOwner {
    pub(crate) fn of(plan: &AgentPlan) -> Self {
        let kind = match plan.kind() {
            AgentKind::Own(dialect) => dialect.kind(),
            known => Some(known),
        };
        let is_agent = kind.is_some_and(|it| it.capabilities().chosen_session == Support::No);
        if is_agent { Self::Agent } else { Self::Loopkeeper }
    }
}

impl SessionHistory {
    pub(crate) fn record_change(&mut self, change: SessionChange) {
        let started = |id: &String| CurrentSession {
            id: id.clone(),
            started_at: change.at,
            used_at: change.at,
            idle_ms: 0,
            tokens: 0,
            owes: false,
            confirmed: false,
        };
        self.current = change.to.as_ref().map(started);
        if change.from.is_some() && change.reason != SessionReason::Ended {
            self.resets = self.resets.saturating_add(1);
        }
        if change.reason == SessionReason::Refused {
            self.refused = self.refused.saturating_add(1);
        }
        self.changes.push(change);
        if self.changes.len() > MAX_KEPT {
            self.changes.remove(0);
        }
    }

    /// Records an attached session. Its earlier usage is not charged to the loop, unless that includes an iteration which
    /// reported none.
    pub(crate) fn record_join(&mut self, id: &str, reported: Option<u64>, at: Moment) {
        let old = self.current.take().filter(|it| it.id == id);
        let before = old.as_ref().map_or(0, |it| it.tokens);
        self.current = Some(CurrentSession {
            id: id.to_owned(),
            started_at: old.as_ref().map_or(at, |it| it.started_at),
            used_at: at,
            idle_ms: 0,
            tokens: reported.filter(|_| !old.as_ref().is_some_and(|it| it.owes)).unwrap_or(before),
            owes: old.is_some_and(|it| it.owes),
            confirmed: true,
        });
    }

    /// Records the end of an agent's turn in this session.
    pub(crate) fn record_run(&mut self, at: Moment, (id, owner): (&str, SessionIdOwner), run: &AgentRun) {
        let Some(current) = self.current.as_mut().filter(|it| it.id == id) else { return };
        (current.used_at, current.idle_ms) = (at, 0);
        current.tokens = run.session_tokens.unwrap_or(current.tokens);
        current.owes = run.session_tokens.is_none();
        current.confirmed |= match &run.session {
            Some(reported) if owner == SessionIdOwner::Agent => {
                current.id.clone_from(reported);
                true
            }
            Some(reported) => reported == id,
            // An agent that reports no session is trusted if it ended well.
            None => run.error.is_none() && (run.exit == Some(0) || run.ending == AgentEnding::Held),
        };
    }

    /// Moments of another boot are not comparable: the idle time so far is kept as a duration, by wall time.
    pub(crate) fn rebase_clock(&mut self, at: Moment) {
        if let Some(current) = &mut self.current {
            let unused = at.wall.saturating_sub(current.used_at.wall);
            current.idle_ms = current.idle_ms.saturating_add(unused);
            current.used_at = at;
        }
    }
}
