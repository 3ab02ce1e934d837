//! Hook mode: one agent process works on many iterations, and the answer to its stop hook is the next prompt. Whenever
//! the loop ends or pauses the agent is released first: no session waits without a deadline, and a loop never
//! completes while its agent runs.

use crate::journal::Record;
use loopkeeper_agent::{AgentExited, LoopMode};
use loopkeeper_text::moment::Moment;

use super::handle_event::{criteria_of, unkillable_processes};
use super::sessions;
use super::state::{LoopState, StopMode, VolatileState};
use super::{Decision, Effect, attached};

/// What the loop is about to do is not the next iteration of this process.
pub(super) fn has_to_go(state: &LoopState, live: &VolatileState, now: Moment, steps: &[Decision]) -> bool {
    if state.stop == Some(StopMode::Now) {
        // It is ended, not asked.
        return false;
    }
    let ends = steps.iter().any(|it| matches!(it, Decision::Record(Record::Ended { .. })));
    let prepares = steps.iter().any(|it| matches!(it, Decision::Effect(Effect::TakeSnapshot)));
    // The user's own session is never ended: it waits for the verdict.
    let is_own = state.spec.settings.mode != LoopMode::Attach;
    let judges =
        is_own && steps.iter().any(|it| matches!(it, Decision::Effect(Effect::JudgeFinalTree { .. })));
    let rests = !steps.iter().any(|it| matches!(it, Decision::Effect(_))) && !is_busy(live);
    ends || judges || rests || (prepares && !can_go_on(state, now))
}

/// Something was asked for whose answer goes on.
fn is_busy(live: &VolatileState) -> bool {
    let judges = live.checking_at_rest || live.pinning.is_some();
    judges || live.preparing || live.asking.is_some() || live.committing
}

/// The same session, and the agent lets itself be held once more.
fn can_go_on(state: &LoopState, now: Moment) -> bool {
    state.holds != Some(0) && sessions::choose_session(state, now).resumed
}

pub(super) fn release_agent(live: &mut VolatileState, why: String) -> Vec<Decision> {
    live.release_requested = true;
    vec![Decision::Effect(Effect::LetAgentGo { why })]
}

/// What is about to be recorded, in words.
pub(super) fn release_reason(steps: &[Decision]) -> String {
    let sentence = |step: &Decision| match step {
        Decision::Effect(Effect::JudgeFinalTree { .. }) => {
            Some("every check passes, the final verdict follows".to_owned())
        }
        Decision::Record(Record::Ended { outcome }) => Some(outcome.sentence.clone()),
        Decision::Record(Record::Paused { message, .. }) => Some(message.clone()),
        _ => None,
    };
    steps.iter().find_map(sentence).unwrap_or_default()
}

/// A pause that did not come from the boundary lets it go as well.
pub(super) fn release_on_pause(
    state: &LoopState,
    live: &mut VolatileState,
    mut steps: Vec<Decision>,
) -> Vec<Decision> {
    let pauses = steps.iter().any(|it| matches!(it, Decision::Record(Record::Paused { .. })));
    let goes_on = steps.iter().any(|it| matches!(it, Decision::Effect(_)));
    if state.held && state.at_rest() && pauses && !goes_on && !live.release_requested {
        let why = release_reason(&steps);
        steps.extend(release_agent(live, why));
    }
    steps
}

/// It is gone, as it was told or by itself; the loop takes up what waited for that.
pub(super) fn handle_agent_exit(
    state: &LoopState,
    live: &mut VolatileState,
    left: Box<AgentExited>,
) -> Vec<Decision> {
    if attached::is_missing(state) || state.outcome.is_some() {
        // It was told that there is nothing to do.
        return Vec::new();
    }
    let alive = left.left.join(", ");
    let mut steps = vec![Decision::Record(Record::AgentLeft { iteration: state.iteration, left })];
    let was_told = std::mem::take(&mut live.release_requested);
    if !alive.is_empty() {
        steps.push(unkillable_processes(&alive));
    } else if was_told && state.at_rest() {
        steps.push(Decision::Effect(Effect::GoOn));
    }
    steps
}

/// Nothing is completed by a round beside a living agent: the checks run again once it is gone.
pub(super) fn recheck_after_exit(state: &LoopState, live: &mut VolatileState) -> Option<Vec<Decision>> {
    if state.held || !state.checked_with_agent_alive {
        return None;
    }
    if std::mem::replace(&mut live.checking_at_rest, true) {
        return Some(Vec::new());
    }
    Some(vec![Decision::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })])
}
