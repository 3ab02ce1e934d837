//! Commands reserved for the user that come from other processes: refused in every phase, and recorded.

use crate::journal::{CommandSender, Record, RestrictedCommand};
use crate::loop_state::LoopState;

use super::{Decision, Effect, RefusalReason};
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

/// CommandAttempts beyond this number are refused without a record: a process could fill the journal.
const MAX_RECORDED: u32 = 100;

/// The origin of a command that the user did not send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOrigin {
    /// Below this child of the keeper: a warden, or the bubblewrap around one.
    Job { warden: u32 },
    /// In the kill domain of another loop, or of checks without a loop.
    OtherLoop,
    /// The sender exited before it could be inspected.
    Unknown,
}

pub(super) fn refuse(state: &LoopState, command: RestrictedCommand, from: AttemptOrigin) -> Vec<Decision> {
    let is_recorded = state.outcome().is_none() && state.reported.attempts.total() < MAX_RECORDED;
    let by = sender(state, from);
    let record = Record::CommandRefused { iteration: state.iteration, command, by };
    let message = message(command, by);
    let refusal = Decision::Effect(Effect::Refuse { code: RefusalReason::Forbidden, message });
    is_recorded.then_some(Decision::Record(record)).into_iter().chain([refusal]).collect()
}

fn sender(state: &LoopState, from: AttemptOrigin) -> CommandSender {
    match from {
        // An agent may send a command before its start is on record.
        AttemptOrigin::Job { .. } if state.phase.running_agent().is_some_and(|it| it.pid.is_none()) => {
            CommandSender::Agent
        }
        AttemptOrigin::Job { warden } if state.reported.attempts.agent == Some(warden) => {
            CommandSender::Agent
        }
        AttemptOrigin::Job { .. } => CommandSender::Job,
        AttemptOrigin::OtherLoop => CommandSender::OtherLoop,
        AttemptOrigin::Unknown => CommandSender::Unknown,
    }
}

fn message(command: RestrictedCommand, by: CommandSender) -> Message {
    let verb = command.verb();
    let fact = match by {
        CommandSender::Agent | CommandSender::Job => {
            tr!("`{verb}` came from a process of this loop, and only the user may request it", verb)
        }
        CommandSender::OtherLoop => {
            tr!("`{verb}` came from a process of another loop, and only the user may request it", verb)
        }
        CommandSender::Unknown => tr!(
            "`{verb}` came from a process that ended before it was identified, and only the user may request it",
            verb
        ),
    };
    Message::new(fact).with_hint(tr!("use a terminal or an editor that no agent started."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::samples;

    #[test]
    fn attempts_are_recorded_by_sender_up_to_the_maximum() {
        let first = samples::entry(1, samples::records().remove(0));
        let mut state = crate::decide::state_from_first(&first).unwrap();
        state.reported.attempts.agent = Some(7);
        let asked = |state: &LoopState, from| refuse(state, RestrictedCommand::Accept, from);
        let check = |state: &LoopState, from, expect| {
            let steps = asked(state, from);
            let Some(Decision::Record(Record::CommandRefused { command, by, .. })) = steps.first() else {
                panic!("{steps:?}");
            };
            assert_eq!((*command, *by), (RestrictedCommand::Accept, expect));
            let last = steps.last();
            assert!(
                matches!(last, Some(Decision::Effect(Effect::Refuse { code: RefusalReason::Forbidden, .. }))),
                "{last:?}"
            );
        };
        check(&state, AttemptOrigin::Job { warden: 7 }, CommandSender::Agent);
        check(&state, AttemptOrigin::Job { warden: 8 }, CommandSender::Job);
        check(&state, AttemptOrigin::OtherLoop, CommandSender::OtherLoop);
        check(&state, AttemptOrigin::Unknown, CommandSender::Unknown);
        for _ in 0..MAX_RECORDED {
            state.reported.attempts.record(RestrictedCommand::Stop, CommandSender::Agent);
        }
        assert_eq!(asked(&state, AttemptOrigin::Unknown).len(), 1, "refused and not recorded");
    }
}
