//! The agent's session, if each iteration continues that of the previous one (`session.continue`). Session ids are
//! derived from the loop's id, so that no loop continues a session that it did not begin.

use crate::journal::{BreakerState, Record, SessionReason};
use crate::loop_state::LoopState;
use loopkeeper_agent::LoopMode;
use loopkeeper_text::digest::sha256;
use loopkeeper_text::moment::Moment;

use super::Decision;

/// An agent that lost its session this often is started with a fresh one from then on.
const MAX_REFUSED: u32 = 2;

/// The session of one iteration.
pub(super) struct SessionChoice {
    pub(super) id: String,
    /// It continues; otherwise the agent begins it.
    pub(super) resumed: bool,
    /// Tokens that it used before.
    pub(super) tokens: u64,
    pub(super) change: Option<Record>,
}

/// The session of the next iteration.
pub(super) fn choose_session(state: &LoopState, now: Moment) -> SessionChoice {
    let fresh = session_id(&state.spec.loop_id, state.iteration + 1);
    let settings = &state.spec.settings.session;
    let resumes = settings.resume || state.spec.settings.mode != LoopMode::Loop;
    if !resumes || state.session.refused >= MAX_REFUSED {
        return SessionChoice { id: fresh, resumed: false, tokens: 0, change: None };
    }
    let (from, reason) = match &state.session.current {
        None => (None, SessionReason::Started),
        // A held agent stays in its session as long as it lasts.
        Some(it) if state.agents.hold.is_held => {
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

/// Adds the record that the session is left before the first record that leaves it. Applied to every decision, because
/// so many of them can end the loop, open the breaker or restore files.
pub(super) fn with_session_changes(state: &LoopState, mut steps: Vec<Decision>) -> Vec<Decision> {
    let left = steps.iter().enumerate().find_map(|(at, it)| Some((at, leave_reason(state, it)?)));
    let Some((at, reason)) = left else { return steps };
    steps.splice(at..at, leave_session_step(state, reason));
    steps
}

/// Why this decision leaves the session, if it does.
fn leave_reason(state: &LoopState, step: &Decision) -> Option<SessionReason> {
    let Decision::Record(record) = step else { return None };
    match record {
        Record::Ended { .. } => Some(SessionReason::Ended),
        Record::BreakerChanged { state: to, .. } => match to {
            BreakerState::Open => Some(SessionReason::Breaker),
            BreakerState::Closed | BreakerState::HalfOpen => None,
        },
        // The agent lost it.
        Record::IterationEnded { .. } => {
            let is_lost = state.last_iteration().is_some_and(|it| it.session_lost);
            is_lost.then_some(SessionReason::Refused)
        }
        Record::RolledBack { to, paths, .. } => {
            (paths.is_empty() && has_later_work(state, *to)).then_some(SessionReason::RolledBack)
        }
        Record::LoopStarted { .. }
        | Record::BranchTaken { .. }
        | Record::Committed { .. }
        | Record::Baseline { .. }
        | Record::IterationIntended { .. }
        | Record::AgentStarted { .. }
        | Record::AgentLeft { .. }
        | Record::AgentEnded { .. }
        | Record::SubagentAsked { .. }
        | Record::SubagentStarted { .. }
        | Record::SubagentEnded { .. }
        | Record::SnapshotTaken { .. }
        | Record::ChecksDone { .. }
        | Record::Waiting { .. }
        | Record::Paused { .. }
        | Record::ChecksWaived { .. }
        | Record::Resumed {}
        | Record::Steered { .. }
        | Record::Asked { .. }
        | Record::Answered { .. }
        | Record::SessionChanged { .. }
        | Record::SessionJoined { .. }
        | Record::AgentChanged { .. }
        | Record::Stopping { .. }
        | Record::WeakeningAccepted { .. }
        | Record::ProtectedEdited { .. }
        | Record::FinalVerdict { .. }
        | Record::Mutants { .. }
        | Record::TrustChanged { .. }
        | Record::CommandRefused { .. }
        | Record::HookFailed { .. }
        | Record::Feedback { .. }
        | Record::Recovered { .. }
        | Record::Unknown => None,
    }
}

/// Whether the session contains work that is no longer in the files. Its context at the end of `to` is not stored.
fn has_later_work(state: &LoopState, to: u32) -> bool {
    let Some(current) = &state.session.current else { return false };
    state.history.iter().rev().any(|it| !it.rolled_back && it.number > to && it.session == current.id)
}

/// The record to append if files were rolled back without a keeper.
pub fn after_rollback(state: &LoopState, to: u32) -> Option<Record> {
    let from = state.session.current.as_ref().filter(|_| has_later_work(state, to))?.id.clone();
    Some(Record::SessionChanged { from: Some(from), to: None, reason: SessionReason::RolledBack })
}

/// Handles the user's command that the next iteration begins with a fresh context.
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
