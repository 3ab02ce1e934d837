//! A usage limit that another loop of this user reached with the same agent and account. Before an agent starts, the loop
//! waits for the limit to end or switches to the next agent of the list, unless the user starts it anyway.

use crate::journal::WaitReason;
use crate::loop_state::{LoopState, Wait};
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::{Decision, questions, takeover};

/// Whether limits that other loops reached apply to the next start.
pub(super) fn is_applicable(state: &LoopState, now: Moment) -> bool {
    let overridden = state.agents.limit_overridden.is_some_and(|it| now.awake < it.awake);
    !state.is_attached() && !overridden
}

/// Another loop reached the usage limit of the agent at work, which is therefore not started.
pub(super) fn handle_shared_limit(
    state: &LoopState,
    now: Moment,
    until: Moment,
    met_by: String,
) -> Vec<Decision> {
    if let Some(change) = takeover::at_shared_limit(state, now, until, &met_by) {
        return Decision::record_and_continue(change);
    }
    let wait = Wait { reason: WaitReason::Quota, until, met_by: Some(met_by) };
    questions::begin_wait(state, now, wait)
}

/// Whether the loop waits for such a limit. The user's `resume` ends the wait.
pub(super) fn is_waited_for(state: &LoopState) -> bool {
    met_by(state).is_some()
}

/// Ends the wait for a shared limit by command of the user.
pub(super) fn clear_shared_limit(state: &mut LoopState) {
    let shared = state.phase.wait_mut().and_then(|it| it.take_if(|it| it.met_by.is_some()));
    if let Some(wait) = shared {
        state.agents.limit_overridden = Some(wait.until);
    }
}

fn met_by(state: &LoopState) -> Option<&str> {
    state.phase.wait()?.met_by.as_deref()
}

/// The user-visible text during the wait.
pub fn sentence(state: &LoopState) -> Option<String> {
    let met_by = met_by(state)?;
    let agent = &state.spec.agent.name;
    Some(tr!(
        "loop {met_by} reached the usage limit of `{agent}`: `loopkeeper resume` starts it anyway",
        met_by,
        agent
    ))
}
