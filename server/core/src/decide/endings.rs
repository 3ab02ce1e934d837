//! Decisions that end or pause a loop, or end its agent, for the modules that decide when.

use crate::journal::{Outcome, OutcomeKind, PauseReason, Record};
use crate::loop_state::{LoopState, VolatileState};
use loopkeeper_agent::AgentEnding;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

use super::{Decision, Effect, KillMode, spans};

/// Asks the agent to exit, once for each reason that is more urgent than the previous one.
pub(super) fn end_agent(live: &mut VolatileState, why: AgentEnding) -> Vec<Decision> {
    live.agent.ending = Some(why);
    vec![Decision::Effect(Effect::StopAgent { why, grace: KillMode::Given })]
}

/// Pauses for the user, or ends if the loop is unattended.
pub(super) fn pause_or_end(
    state: &LoopState,
    reason: PauseReason,
    message: impl Into<Message>,
) -> Vec<Decision> {
    let message = message.into();
    if state.spec.attended {
        return vec![Decision::Record(Record::Paused { reason, message })];
    }
    let kind = if reason == PauseReason::Breaker { OutcomeKind::Breaker } else { OutcomeKind::Failed };
    end_now(kind, message, Some(reason))
}

/// The loop ends and its keeper exits.
pub(super) fn end_now(
    kind: OutcomeKind,
    sentence: impl Into<Message>,
    cause: Option<PauseReason>,
) -> Vec<Decision> {
    vec![end_record(kind, sentence, cause), Decision::Effect(Effect::Finish)]
}

pub(super) fn end_record(
    kind: OutcomeKind,
    sentence: impl Into<Message>,
    cause: Option<PauseReason>,
) -> Decision {
    let sentence = sentence.into();
    Decision::Record(Record::Ended { outcome: Outcome { kind, verified: false, sentence, cause } })
}

/// Ends the loop by command of the user.
pub(super) fn end_by_user(state: &LoopState) -> Vec<Decision> {
    vec![user_end_record(state), Decision::Effect(Effect::Finish)]
}

pub(super) fn user_end_record(state: &LoopState) -> Decision {
    let sentence = match state.iteration {
        0 => tr!("stopped before the first iteration").to_owned(),
        n => tr!("stopped after {iterations}", iterations = spans::iterations(n)),
    };
    end_record(OutcomeKind::Stopped, sentence, None)
}

/// A process that is still alive could change the tree under the checks.
pub(super) fn unkillable_record(processes: &str) -> Decision {
    let sentence =
        tr!("failed: processes of the agent could not be ended: {processes}; nothing was judged", processes);
    end_record(OutcomeKind::Failed, sentence, Some(PauseReason::Agent))
}
