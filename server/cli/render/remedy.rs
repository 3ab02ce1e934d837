//! What the user can do about a loop that does not go on by itself.

use loopkeeper_core::journal::PauseReason;
use loopkeeper_core::view::{LoopStatus, Phase};

/// One sentence with the command; `None` for a loop that needs nobody.
pub(crate) fn of(status: &LoopStatus) -> Option<String> {
    let id = &status.id;
    Some(match status.phase {
        Phase::Interrupted => format!("`loopkeeper resume {id}` goes on, `loopkeeper stop {id}` ends it."),
        Phase::Untrusted => {
            format!("`loopkeeper trust` shows its commands, `loopkeeper resume {id}` goes on.")
        }
        Phase::Paused => match status.pause.as_ref().map(|it| it.reason) {
            Some(PauseReason::Breaker) => {
                format!("`loopkeeper steer {id} '…'` gives a hint, `loopkeeper resume {id}` tries once more.")
            }
            _ => format!("`loopkeeper resume {id}` goes on."),
        },
        Phase::Damaged => {
            "Nothing of it was changed. Restore its journal from a backup, or start a new loop.".into()
        }
        Phase::Baseline
        | Phase::Iterating
        | Phase::Checking
        | Phase::Waiting
        | Phase::Stopping
        | Phase::NeedsAnswer
        | Phase::Ended => return None,
    })
}
