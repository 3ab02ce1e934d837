//! The sessions of the agent, as far as iterations continue them.

use crate::journal::{AgentPlan, SessionReason};
use loopkeeper_agent::kind::{AgentKind, Support};
use loopkeeper_agent::{AgentEnding, AgentRun};
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

/// Changes that are kept and shown.
const MAX_KEPT: usize = 50;

/// The recorded state of all sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionHistory {
    /// The session that the next iteration continues.
    pub current: Option<CurrentSession>,
    /// The last fifty.
    pub changes: Vec<SessionChange>,
    /// How often one was left for another.
    pub resets: u32,
    pub(crate) refused: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentSession {
    pub id: String,
    pub started_at: Moment,
    pub(crate) used_at: Moment,
    /// Unused before `used_at`, in a boot before this one.
    pub(crate) idle_ms: u64,
    /// What it used, where the agent counts over all its processes.
    pub tokens: u64,
    /// Its last iteration ended before it reported its usage.
    pub(crate) owes: bool,
    /// The agent began it.
    pub(crate) confirmed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChange {
    pub at: Moment,
    /// The last one before it.
    pub iteration: u32,
    pub from: Option<String>,
    pub to: Option<String>,
    pub reason: SessionReason,
}

/// Whether loopkeeper or the agent names sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SessionIdOwner {
    Ours,
    /// The agent: the id of the start is not the id to continue with.
    Its,
}

impl SessionIdOwner {
    pub(crate) fn of(plan: &AgentPlan) -> Self {
        let kind = match plan.kind() {
            AgentKind::Own(dialect) => dialect.kind(),
            known => Some(known),
        };
        let is_its = kind.is_some_and(|it| it.capabilities().chosen_session == Support::No);
        if is_its { Self::Its } else { Self::Ours }
    }
}

impl SessionHistory {
    pub(crate) fn record_change(&mut self, change: SessionChange) {
        let begun = |id: &String| CurrentSession {
            id: id.clone(),
            started_at: change.at,
            used_at: change.at,
            idle_ms: 0,
            tokens: 0,
            owes: false,
            confirmed: false,
        };
        self.current = change.to.as_ref().map(begun);
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

    /// Records an attached session. Its usage up to here is not charged to the loop, unless an iteration is part of it
    /// that reported nothing.
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

    /// The agent of an iteration in this session has gone.
    pub(crate) fn record_run(&mut self, at: Moment, (id, names): (&str, SessionIdOwner), run: &AgentRun) {
        let Some(current) = self.current.as_mut().filter(|it| it.id == id) else { return };
        (current.used_at, current.idle_ms) = (at, 0);
        current.tokens = run.session_tokens.unwrap_or(current.tokens);
        current.owes = run.session_tokens.is_none();
        current.confirmed |= match &run.session {
            Some(begun) if names == SessionIdOwner::Its => {
                current.id.clone_from(begun);
                true
            }
            Some(begun) => begun == id,
            // An agent that reports no session is trusted if it ended well.
            None => run.error.is_none() && (run.exit == Some(0) || run.ending == AgentEnding::Held),
        };
    }

    /// Another boot's clock means nothing from here on.
    pub(crate) fn rebase_clock(&mut self, at: Moment) {
        if let Some(current) = &mut self.current {
            let unused = at.wall.saturating_sub(current.used_at.wall);
            current.idle_ms = current.idle_ms.saturating_add(unused);
            current.used_at = at;
        }
    }
}
