//! Lists the user's options for a loop that does not continue automatically.

use loopkeeper_core::journal::{PauseReason, QuestionKind};
use loopkeeper_text::tr;
use loopkeeper_view::{DisplayPhase, LoopStatus};

/// The remedies, each with its command first, because narrow terminals truncate the end. Empty if the loop does not
/// need the user.
pub(crate) fn remedy_lines(status: &LoopStatus) -> Vec<String> {
    let id = &status.id;
    match status.phase {
        DisplayPhase::Interrupted => {
            vec![tr!("`loopkeeper resume {id}` continues it", id), tr!("`loopkeeper stop {id}` ends it", id)]
        }
        DisplayPhase::Untrusted => {
            vec![
                tr!("`loopkeeper trust` shows its commands").into(),
                tr!("`loopkeeper resume {id}` continues it", id),
            ]
        }
        DisplayPhase::Paused => match status.pause.as_ref().map(|it| it.reason) {
            Some(PauseReason::Breaker) => vec![
                tr!("`loopkeeper steer {id} '…'` gives a hint", id),
                tr!("`loopkeeper resume {id}` tries once more", id),
            ],
            Some(PauseReason::Missing) => vec![
                tr!("`loopkeeper resume {id}` checks again", id),
                tr!("`loopkeeper resume {id} --anyway` continues without it", id),
            ],
            // Its sentence contains the remedy.
            Some(PauseReason::Session) => vec![tr!("`loopkeeper stop {id}` ends it", id)],
            _ => vec![tr!("`loopkeeper resume {id}` continues it", id)],
        },
        DisplayPhase::NeedsAnswer
            if status.question.as_ref().is_some_and(|it| it.kind == QuestionKind::Permission) =>
        {
            vec![
                tr!("`loopkeeper answer {id} allow` allows it this once, `always` for the whole loop", id),
                tr!("`loopkeeper answer {id} deny` denies it", id),
            ]
        }
        DisplayPhase::NeedsAnswer => vec![
            tr!("`loopkeeper answer {id} '…'` answers", id),
            tr!("`loopkeeper resume {id}` lets the agent decide", id),
        ],
        DisplayPhase::Waiting if status.is_cooling() => vec![
            tr!("`loopkeeper resume {id}` tries now", id),
            tr!("`loopkeeper reset breaker {id}` closes it and continues the loop", id),
        ],
        DisplayPhase::Waiting if status.question.is_some() => {
            vec![tr!("`loopkeeper answer {id} stop` ends it", id)]
        }
        DisplayPhase::Damaged => {
            vec![tr!("Nothing was changed. Restore its journal from a backup, or start a new loop.").into()]
        }
        DisplayPhase::Baseline
        | DisplayPhase::Iterating
        | DisplayPhase::Checking
        | DisplayPhase::Waiting
        | DisplayPhase::Stopping
        | DisplayPhase::Ended => Vec::new(),
    }
}
