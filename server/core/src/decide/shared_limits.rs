//! A usage limit that another loop of this user met with the same agent and account. It is heeded before an agent is
//! started, by a wait or by the next agent of the list, unless the user orders to start it anyway.

use crate::journal::{Record, WaitReason};
use loopkeeper_text::moment::Moment;

use super::limits::wait_limit_outcome;
use super::state::{LoopState, Wait};
use super::{Decision, Effect, attached, questions, takeover};

/// What the state keeps of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharedLimit {
    /// The loop that met the limit that is waited for.
    pub met_by: Option<String>,
    /// Until then the user wants agents to be started all the same.
    pub overridden: Option<Moment>,
}

/// Whether limits that other loops met count for the next start.
pub(super) fn is_applicable(state: &LoopState, now: Moment) -> bool {
    let overridden = state.shared_limit.overridden.is_some_and(|it| now.awake < it.awake);
    !attached::is_wanted(state) && !overridden
}

/// The agent at work is under a limit that `met_by` met: it is not started.
pub(super) fn handle_shared_limit(
    state: &LoopState,
    now: Moment,
    until: Moment,
    met_by: String,
) -> Vec<Decision> {
    if let Some(change) = takeover::at_shared_limit(state, now, until, &met_by) {
        return vec![Decision::Record(change), Decision::Effect(Effect::GoOn)];
    }
    let wait = Wait { reason: WaitReason::Quota, until };
    match wait_limit_outcome(state, wait) {
        Some(outcome) => vec![Decision::Record(Record::Ended { outcome }), Decision::Effect(Effect::GoOn)],
        None => questions::before_wait(state, now, wait, Some(met_by)),
    }
}

/// Whether the loop waits for such a limit, which the user's word ends.
pub(super) fn is_waited_for(state: &LoopState) -> bool {
    state.wait.is_some() && state.shared_limit.met_by.is_some()
}

/// By the user's word it is not waited for any longer.
pub(super) fn clear_shared_limit(state: &mut LoopState) {
    if state.shared_limit.met_by.take().is_some() {
        state.shared_limit.overridden = state.wait.take().map(|it| it.until);
    }
}

/// For people, while it is waited for.
pub fn sentence(state: &LoopState) -> Option<String> {
    let met_by = state.shared_limit.met_by.as_ref().filter(|_| is_waited_for(state))?;
    let agent = &state.spec.agent.name;
    Some(format!(
        "loop {met_by} met the usage limit of `{agent}`: `loopkeeper resume` starts it all the same"
    ))
}
