//! The agent's session, where iterations go on with that of the one before (`session.continue`). Its ids are made
//! of the loop's own, so that no loop takes over a session that it did not begin.

use crate::journal::{AgentPlan, BreakerState, Record, SessionReason};
use loopkeeper_agent::kind::{AgentKind, Support};
use loopkeeper_agent::{AgentEnding, AgentRun, LoopMode};
use loopkeeper_text::digest::sha256;
use loopkeeper_text::moment::Moment;

use super::Decision;
use super::state::LoopState;

/// Changes that are kept and shown.
const KEPT: usize = 50;
/// An agent that forgets its session this often is started afresh from then on.
const MAX_REFUSED: u32 = 2;

/// What the records say of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionHistory {
    /// The session that the next iteration continues.
    pub current: Option<CurrentSession>,
    /// The last fifty.
    pub changes: Vec<SessionChange>,
    /// How often one was left for another.
    pub resets: u32,
    refused: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentSession {
    pub id: String,
    pub started_at: Moment,
    used_at: Moment,
    /// Unused before `used_at`, in a boot before this one.
    idle_ms: u64,
    /// What it used, where the agent counts over all its processes.
    pub tokens: u64,
    /// Its last iteration ended before it reported its usage.
    owes: bool,
    /// The agent began it.
    confirmed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionChange {
    pub at: Moment,
    /// The last one before it.
    pub iteration: u32,
    pub from: Option<String>,
    pub to: Option<String>,
    pub reason: SessionReason,
}

/// Whether loopkeeper or the agent names sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionIdOwner {
    Ours,
    /// The agent: the id of the start is not the id to continue with.
    Its,
}

impl SessionIdOwner {
    pub(super) fn of(plan: &AgentPlan) -> Self {
        let kind = match plan.kind() {
            AgentKind::Own(dialect) => dialect.kind(),
            known => Some(known),
        };
        let is_its = kind.is_some_and(|it| it.capabilities().chosen_session == Support::No);
        if is_its { Self::Its } else { Self::Ours }
    }
}

/// The session of one iteration.
pub(super) struct SessionChoice {
    pub(super) id: String,
    /// It continues; otherwise the agent begins it.
    pub(super) resumed: bool,
    /// What it used before.
    pub(super) tokens: u64,
    pub(super) change: Option<Record>,
}

impl SessionHistory {
    pub(super) fn record_change(&mut self, change: SessionChange) {
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
        if self.changes.len() > KEPT {
            self.changes.remove(0);
        }
    }

    /// Its user lends it to the loop. What it used up to here is its user's affair, unless an iteration is part of it
    /// that reported nothing.
    pub(super) fn record_join(&mut self, id: &str, told: Option<u64>, at: Moment) {
        let old = self.current.take().filter(|it| it.id == id);
        let before = old.as_ref().map_or(0, |it| it.tokens);
        self.current = Some(CurrentSession {
            id: id.to_owned(),
            started_at: old.as_ref().map_or(at, |it| it.started_at),
            used_at: at,
            idle_ms: 0,
            tokens: told.filter(|_| !old.as_ref().is_some_and(|it| it.owes)).unwrap_or(before),
            owes: old.is_some_and(|it| it.owes),
            confirmed: true,
        });
    }

    /// The agent of an iteration in this session has gone.
    pub(super) fn record_run(&mut self, at: Moment, (id, names): (&str, SessionIdOwner), run: &AgentRun) {
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
    pub(super) fn rebase_clock(&mut self, at: Moment) {
        if let Some(current) = &mut self.current {
            let unused = at.wall.saturating_sub(current.used_at.wall);
            current.idle_ms = current.idle_ms.saturating_add(unused);
            current.used_at = at;
        }
    }
}

/// The session of the next iteration.
pub(super) fn choose_session(state: &LoopState, now: Moment) -> SessionChoice {
    let fresh = session_id(&state.spec.loop_id, state.iteration + 1);
    let settings = &state.spec.settings.session;
    let goes_on = settings.resume || state.spec.settings.mode != LoopMode::Loop;
    if !goes_on || state.session.refused >= MAX_REFUSED {
        return SessionChoice { id: fresh, resumed: false, tokens: 0, change: None };
    }
    let (from, reason) = match &state.session.current {
        None => (None, SessionReason::Started),
        // A held agent stays in its session as long as it lasts.
        Some(it) if state.held => {
            return SessionChoice { id: it.id.clone(), resumed: true, tokens: it.tokens, change: None };
        }
        Some(it) if !it.confirmed => (Some(it.id.clone()), SessionReason::Unconfirmed),
        Some(it) if it.idle_ms.saturating_add(now.ms_since(it.used_at)) >= settings.expires_ms => {
            (Some(it.id.clone()), SessionReason::Expired)
        }
        Some(it) => {
            return SessionChoice { id: it.id.clone(), resumed: true, tokens: it.tokens, change: None };
        }
    };
    let change = Record::SessionChanged { from, to: Some(fresh.clone()), reason };
    SessionChoice { id: fresh, resumed: false, tokens: 0, change: Some(change) }
}

/// A breaker that opens, the loop's end and an agent that does not know its session any more leave the session.
pub(super) fn with_session_changes(state: &LoopState, steps: Vec<Decision>) -> Vec<Decision> {
    if state.session.current.is_none() {
        return steps;
    }
    let lost = state.last_iteration().is_some_and(|it| it.session_lost);
    let mut all = Vec::with_capacity(steps.len() + 1);
    let mut is_left = false;
    for step in steps {
        let reason = match &step {
            Decision::Record(Record::Ended { .. }) => Some(SessionReason::Ended),
            Decision::Record(Record::BreakerChanged { state: BreakerState::Open, .. }) => {
                Some(SessionReason::Breaker)
            }
            Decision::Record(Record::IterationEnded { .. }) if lost => Some(SessionReason::Refused),
            Decision::Record(Record::RolledBack { to, paths, .. })
                if paths.is_empty() && knows_more(state, *to) =>
            {
                Some(SessionReason::RolledBack)
            }
            _ => None,
        };
        if let Some(reason) = reason.filter(|_| !is_left) {
            all.extend(leave_session_step(state, reason));
            is_left = true;
        }
        all.push(step);
    }
    all
}

/// It remembers work that is no longer in the files. Its memory at the end of `to` is not stored separately.
fn knows_more(state: &LoopState, to: u32) -> bool {
    let Some(current) = &state.session.current else { return false };
    state.kept_iterations().any(|it| it.number > to && it.session == current.id)
}

/// What belongs on record where the files went back without a keeper.
pub fn after_rollback(state: &LoopState, to: u32) -> Option<Record> {
    let from = state.session.current.as_ref().filter(|_| knows_more(state, to))?.id.clone();
    Some(Record::SessionChanged { from: Some(from), to: None, reason: SessionReason::RolledBack })
}

/// By the user's word: the next iteration begins with a fresh context.
pub(super) fn reset(state: &LoopState) -> Vec<Decision> {
    leave_session_step(state, SessionReason::Reset).into_iter().collect()
}

fn leave_session_step(state: &LoopState, reason: SessionReason) -> Option<Decision> {
    let from = state.session.current.as_ref()?.id.clone();
    Some(Decision::Record(Record::SessionChanged { from: Some(from), to: None, reason }))
}

/// A UUID that is the same in replay: agents want a session id of this shape, chosen before the start.
fn session_id(loop_id: &str, iteration: u32) -> String {
    let hash = sha256(format!("{loop_id}:{iteration}").as_bytes());
    let part = |range: std::ops::Range<usize>| hash.get(range).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0..8), part(8..12), part(13..16), part(17..20), part(20..32))
}
