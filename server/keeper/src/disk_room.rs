//! Handles a full or read-only disk: reports the cause, starts nothing, and continues a loop on a full one when there is
//! free space.

use std::path::Path;
use std::time::Duration;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::PauseReason;

use super::loop_context::LoopContext;
use super::run_context::SnapshotFailure;
use super::signals::StopSignals;
use loopkeeper_system::disk_room::{shortage, write_protection};

const FIRST_DELAY: Duration = Duration::from_secs(2);
/// Maximum number of times the retry interval doubles: a quota may be exhausted on a disk that has free space.
const MAX_DOUBLINGS: u32 = 8;

/// The failure of a snapshot that is not even tried: what follows it would not fit either.
pub(super) fn snapshot_refusal(context: &LoopContext) -> Option<SnapshotFailure> {
    let root = context.runtime.root();
    // An agent would be paid for work that it cannot save.
    let protection = write_protection(&root).map(SnapshotFailure::of_workspace);
    protection.or_else(|| shortage(&[context.state.root(), &root]).map(SnapshotFailure::of_full_disk))
}

/// The failure with the shortage that caused it, where there is one.
pub(super) fn with_shortage(context: &LoopContext, failure: SnapshotFailure) -> SnapshotFailure {
    match failure.reason {
        PauseReason::Disk => snapshot_refusal(context).unwrap_or(failure),
        _ => failure,
    }
}

/// Whether the loop continues when there is room.
pub fn is_waiting(state: &LoopState) -> bool {
    state.outcome().is_none() && state.pause.as_ref().is_some_and(|it| it.reason == PauseReason::Disk)
}

/// The delays between attempts: longer ones while no iteration comes of them.
#[derive(Debug, Default)]
pub struct DiskWait {
    iteration: u32,
    attempts: u32,
}

impl DiskWait {
    /// Resolves when the disks of both folders have room.
    pub(super) async fn wait(&mut self, (state_root, root): (&Path, &Path), iteration: u32) {
        loop {
            tokio::time::sleep(self.delay(iteration)).await;
            if shortage(&[state_root, root]).is_none() {
                break;
            }
        }
        self.attempts = self.attempts.saturating_add(1);
    }

    /// The same for a keeper that has ended; `false` after a signal to stop.
    pub async fn wait_or_stop(&mut self, folders: (&Path, &Path), iteration: u32) -> bool {
        let Ok(mut signals) = StopSignals::listen() else { return false };
        tokio::select! {
            _ = signals.next() => false,
            () = self.wait(folders, iteration) => true,
        }
    }

    fn delay(&mut self, iteration: u32) -> Duration {
        if iteration > self.iteration {
            *self = Self { iteration, attempts: 0 };
        }
        FIRST_DELAY * 2_u32.pow(self.attempts.min(MAX_DOUBLINGS))
    }
}

#[cfg(test)]
mod tests {
    use super::{DiskWait, FIRST_DELAY, MAX_DOUBLINGS};

    #[test]
    fn attempts_without_an_iteration_become_rare() {
        let mut wait = DiskWait { iteration: 3, attempts: 40 };
        assert_eq!(wait.delay(3), FIRST_DELAY * 2_u32.pow(MAX_DOUBLINGS));
        assert_eq!(wait.delay(4), FIRST_DELAY);
    }
}
