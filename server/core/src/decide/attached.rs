//! A session that its user opened and attached to the loop (`mode = "attach"`). It joins when its user sends a prompt or
//! its turn ends, works like a held agent, and is never started or ended by us. Without it the loop is paused.

use crate::journal::{PauseReason, Record};
use crate::loop_state::{LoopState, Phase, VolatileState};
use loopkeeper_agent::AgentEnding;
use loopkeeper_text::tr;

use super::{Decision, Effect, hook_session};

/// A user's session that requests its next prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOffer {
    pub session: String,
    /// How often the session can still be held in this turn.
    pub holds: u32,
    /// Tokens the session used before, where it reports them.
    pub tokens: Option<u64>,
}

/// Attaches the session, or reports why it is not accepted.
pub(super) fn accept_session(
    state: &LoopState,
    live: &mut VolatileState,
    offer: SessionOffer,
) -> Vec<Decision> {
    let is_at_work = matches!(state.phase, Phase::Iterating(_));
    if is_at_work || state.outcome().is_some() || !state.lacks_session() {
        return Vec::new();
    }
    let other_pause = state.pause.as_ref().filter(|it| it.reason != PauseReason::Session);
    let stops = state.stop.map(|_| tr!("the loop is stopping").to_owned());
    if let Some(why) = stops.or_else(|| Some(other_pause?.message.to_string())) {
        return vec![Decision::Effect(Effect::ReleaseAgent { why })];
    }
    // A release request concerned the previous session, which may have ended without answering it.
    live.agent.release_requested = false;
    live.judged_again = false;
    let SessionOffer { session, holds, tokens } = offer;
    let mut steps = vec![Decision::Record(Record::SessionJoined { session, holds, tokens })];
    if state.is_between_iterations() {
        steps.push(Decision::Effect(Effect::Continue));
    }
    steps
}

/// Why the session is released, for its user; `steps`: the pending decisions of the loop.
pub(super) fn release_message(state: &LoopState, steps: &[Decision]) -> String {
    let why = hook_session::release_reason(steps);
    let is_wait = |it: &Decision| matches!(it, Decision::Record(Record::Waiting { .. }));
    match why.as_str() {
        "" if !state.is_attached() => why,
        "" if state.phase.wait().is_some() || steps.iter().any(is_wait) => {
            tr!("the loop is waiting (`loopkeeper status` shows for what); send another prompt afterwards")
                .to_owned()
        }
        "" => attach_instructions(state),
        _ => why,
    }
}

/// Instructions for the user of the session, phrased to follow "paused: ".
pub(super) fn attach_instructions(state: &LoopState) -> String {
    let last = state.last_iteration();
    let text = match last.and_then(|it| it.ending) {
        None if last.is_none() => tr!("waits for your session: give `claude` in this folder any prompt"),
        Some(AgentEnding::TimedOut | AgentEnding::Idle) => {
            tr!("your session is still working: the loop continues when its turn ends")
        }
        Some(AgentEnding::Held) if state.agents.hold.holds_left == Some(0) => {
            tr!("The stop hook no longer continues this turn: send your session any prompt to continue")
        }
        Some(AgentEnding::Held) | None => tr!("send your session any prompt to continue"),
        Some(_) => tr!("your session was closed: resume it, or start `claude`, and send any prompt"),
    };
    text.to_owned()
}
