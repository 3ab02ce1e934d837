//! Hook mode: one agent process works on many iterations, and the answer to its stop hook is the next prompt. Whenever
//! the loop ends or pauses the agent is released first: no session waits without a deadline, and a loop never
//! completes while its agent runs.

use crate::journal::Record;
use crate::loop_state::{LoopState, StopMode, VolatileState};
use loopkeeper_agent::{AgentExited, LoopMode};
use loopkeeper_text::clauses::list;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::endings::unkillable_record;
use super::next_step::NextStep;
use super::sessions;
use super::{Decision, Effect};

/// Whether the next step of the loop is anything but another iteration of this process.
pub(super) fn must_release_session(
    state: &LoopState,
    live: &VolatileState,
    now: Moment,
    steps: &[Decision],
) -> bool {
    if state.stop == Some(StopMode::Now) {
        // The agent is terminated, not released.
        return false;
    }
    let ends = steps.iter().any(|it| matches!(it, Decision::Record(Record::Ended { .. })));
    let prepares = steps.iter().any(|it| matches!(it, Decision::Effect(Effect::TakeSnapshot)));
    // The user's own session is never terminated: it waits for the verdict.
    let is_own = state.spec.settings.mode != LoopMode::Attach;
    let judges =
        is_own && steps.iter().any(|it| matches!(it, Decision::Effect(Effect::JudgeFinalTree { .. })));
    let is_idle = !steps.iter().any(|it| matches!(it, Decision::Effect(_))) && !live.work.is_pending();
    ends || judges || is_idle || (prepares && !can_continue(state, now))
}

/// Whether the next iteration continues the session, and the agent can be held once more.
fn can_continue(state: &LoopState, now: Moment) -> bool {
    state.agents.hold.holds_left != Some(0) && sessions::choose_session(state, now).resumed
}

pub(super) fn release_agent(live: &mut VolatileState, why: String) -> Vec<Decision> {
    live.agent.release_requested = true;
    vec![Decision::Effect(Effect::ReleaseAgent { why })]
}

/// Describes the step that is about to be recorded; empty for a step without a message.
pub(super) fn release_reason(steps: &[Decision]) -> String {
    let sentence = |step: &Decision| match step {
        Decision::Effect(Effect::JudgeFinalTree { .. }) => {
            Some(tr!("every check passes, the final verdict follows").to_owned())
        }
        Decision::Record(Record::Ended { outcome }) => Some(outcome.sentence.to_string()),
        Decision::Record(Record::Paused { message, .. }) => Some(message.to_string()),
        Decision::Effect(_) | Decision::Record(_) => None,
    };
    steps.iter().find_map(sentence).unwrap_or_default()
}

/// Releases the agent that is held between iterations, if these steps pause the loop.
pub(super) fn release_on_pause(
    state: &LoopState,
    live: &mut VolatileState,
    mut steps: Vec<Decision>,
) -> Vec<Decision> {
    let pauses = steps.iter().any(|it| matches!(it, Decision::Record(Record::Paused { .. })));
    let has_effect = steps.iter().any(|it| matches!(it, Decision::Effect(_)));
    if state.agents.hold.is_held
        && state.is_between_iterations()
        && pauses
        && !has_effect
        && !live.agent.release_requested
    {
        let why = release_reason(&steps);
        steps.extend(release_agent(live, why));
    }
    steps
}

/// The agent exited, as requested or on its own; the loop continues the step that waited for it.
pub(super) fn handle_agent_exit(
    state: &LoopState,
    live: &mut VolatileState,
    exited: Box<AgentExited>,
) -> Vec<Decision> {
    if state.lacks_session() || state.outcome().is_some() {
        // The session was informed that there is nothing to do.
        return Vec::new();
    }
    let alive = list(&exited.unkillable);
    let mut steps = vec![Decision::Record(Record::AgentLeft { iteration: state.iteration, left: exited })];
    let was_requested = std::mem::take(&mut live.agent.release_requested);
    if !alive.is_empty() {
        steps.push(unkillable_record(&alive));
        steps.push(Decision::Effect(Effect::Finish));
    } else if was_requested && state.is_between_iterations() {
        steps.push(Decision::Effect(Effect::Continue));
    }
    steps
}

/// A round next to a living agent completes nothing: the checks run again after it exited.
pub(super) fn recheck_after_exit(state: &LoopState, live: &VolatileState) -> Option<NextStep> {
    if state.agents.hold.is_held || !state.tree.judged_beside_agent {
        return None;
    }
    Some(NextStep::round_once(state, live))
}
