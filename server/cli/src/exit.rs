//! Exit codes: a contract with scripts and CI, so each has one name and one number.

use std::process::ExitCode;

use loopkeeper_core::journal::{Outcome, OutcomeKind, PauseReason};

use loopkeeper_operations::failure::FailureKind;

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Completed and verified, holds already, or the command succeeded.
    Done = 0,
    /// Ended otherwise: stopped, failed, login; `check` with a criterion that does not hold.
    Ended = 1,
    /// Usage or configuration error.
    Usage = 2,
    Breaker = 3,
    Limit = 4,
    NotTrusted = 5,
    /// Completed only according to the agent.
    Claimed = 6,
    /// Ended by INT or TERM.
    Signalled = 130,
}

impl Exit {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome.kind {
            OutcomeKind::Completed if outcome.verified => Self::Done,
            OutcomeKind::Completed => Self::Claimed,
            OutcomeKind::Breaker => Self::Breaker,
            OutcomeKind::Limit => Self::Limit,
            OutcomeKind::Stopped | OutcomeKind::Failed => match outcome.cause {
                Some(PauseReason::Trust) => Self::NotTrusted,
                Some(PauseReason::Breaker) => Self::Breaker,
                _ => Self::Ended,
            },
        }
    }

    pub(crate) fn of_failure(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Usage
            | FailureKind::NoTask
            | FailureKind::AgentMissing
            | FailureKind::Unsupported => Self::Usage,
            FailureKind::NotTrusted => Self::NotTrusted,
            FailureKind::TreeBusy | FailureKind::Conflict | FailureKind::Forbidden | FailureKind::Broken => {
                Self::Ended
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use loopkeeper_core::journal::{Outcome, OutcomeKind, PauseReason};

    #[test]
    fn outcomes_have_the_exit_codes_of_the_contract() {
        let check = |kind, verified, cause, expect| {
            let outcome = Outcome { kind, verified, sentence: "".into(), cause };
            assert_eq!(Exit::of(&outcome) as u8, expect, "{outcome:?}");
        };
        check(OutcomeKind::Completed, true, None, 0);
        check(OutcomeKind::Completed, false, None, 6);
        check(OutcomeKind::Stopped, false, None, 1);
        check(OutcomeKind::Failed, false, None, 1);
        check(OutcomeKind::Failed, false, Some(PauseReason::Agent), 1);
        check(OutcomeKind::Failed, false, Some(PauseReason::Trust), 5);
        check(OutcomeKind::Breaker, false, None, 3);
        check(OutcomeKind::Breaker, false, Some(PauseReason::Breaker), 3);
        check(OutcomeKind::Limit, false, None, 4);
    }
}
