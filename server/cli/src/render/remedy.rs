//! The user's options for a loop that does not continue automatically.

use loopkeeper_core::journal::{PauseReason, QuestionKind};
use loopkeeper_view::{DisplayPhase, LoopStatus};

/// The remedies, each with its command first, because narrow terminals truncate the end. Empty if the loop does not
/// need the user.
pub(crate) fn remedy_lines(status: &LoopStatus) -> Vec<String> {
    let id = &status.id;
    match status.phase {
        DisplayPhase::Interrupted => {
            vec![format!("`loopkeeper resume {id}` continues it"), format!("`loopkeeper stop {id}` ends it")]
        }
        DisplayPhase::Untrusted => {
            vec![
                "`loopkeeper trust` shows its commands".into(),
                format!("`loopkeeper resume {id}` continues it"),
            ]
        }
        DisplayPhase::Paused => match status.pause.as_ref().map(|it| it.reason) {
            Some(PauseReason::Breaker) => vec![
                format!("`loopkeeper steer {id} '…'` gives a hint"),
                format!("`loopkeeper resume {id}` tries once more"),
            ],
            Some(PauseReason::Missing) => vec![
                format!("`loopkeeper resume {id}` checks again"),
                format!("`loopkeeper resume {id} --anyway` continues without it"),
            ],
            // Its sentence contains the remedy.
            Some(PauseReason::Session) => vec![format!("`loopkeeper stop {id}` ends it")],
            _ => vec![format!("`loopkeeper resume {id}` continues it")],
        },
        DisplayPhase::NeedsAnswer
            if status.question.as_ref().is_some_and(|it| it.kind == QuestionKind::Permission) =>
        {
            vec![
                format!("`loopkeeper answer {id} allow` allows it this once, `always` for the whole loop"),
                format!("`loopkeeper answer {id} deny` denies it"),
            ]
        }
        DisplayPhase::NeedsAnswer => vec![
            format!("`loopkeeper answer {id} '…'` answers"),
            format!("`loopkeeper resume {id}` lets the agent decide"),
        ],
        DisplayPhase::Waiting if status.is_cooling() => vec![
            format!("`loopkeeper resume {id}` tries now"),
            format!("`loopkeeper reset breaker {id}` closes it and continues the loop"),
        ],
        DisplayPhase::Waiting if status.question.is_some() => {
            vec![format!("`loopkeeper answer {id} stop` ends it")]
        }
        DisplayPhase::Damaged => {
            vec!["Nothing of it was changed. Restore its journal from a backup, or start a new loop.".into()]
        }
        DisplayPhase::Baseline
        | DisplayPhase::Iterating
        | DisplayPhase::Checking
        | DisplayPhase::Waiting
        | DisplayPhase::Stopping
        | DisplayPhase::Ended => Vec::new(),
    }
}
