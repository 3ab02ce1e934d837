//! The time that a loop has used, as of its last record.

use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeAccount {
    pub started_at: Moment,
    /// When the last record was written.
    pub last_at: Moment,
    /// Milliseconds at work or waiting for the provider, up to `last_at`; pauses and dead keepers left out.
    pub worked_ms: u64,
    pub paused_ms: u64,
    /// Milliseconds of waits for a provider, a limit of calls or as configured; also part of `worked_ms`.
    pub waited_ms: u64,
    /// The part of `worked_ms` up to the end of the last iteration that changed something.
    worked_at_progress: u64,
    /// When the wait began that the last record reports, and the epoch of its keeper.
    waiting_since: Option<(Moment, u32)>,
}

impl TimeAccount {
    pub(crate) fn starting(at: Moment) -> Self {
        Self {
            started_at: at,
            last_at: at,
            worked_ms: 0,
            paused_ms: 0,
            waited_ms: 0,
            worked_at_progress: 0,
            waiting_since: None,
        }
    }

    /// Accounts for the time between the last record and one at `at`.
    pub(crate) fn pass(&mut self, at: Moment, waits_for_user: bool) {
        let passed = at.ms_since(self.last_at);
        let account = if waits_for_user { &mut self.paused_ms } else { &mut self.worked_ms };
        *account = account.saturating_add(passed);
    }

    /// An iteration that changed something has ended.
    pub(crate) fn mark_progress(&mut self) {
        self.worked_at_progress = self.worked_ms;
    }

    /// Milliseconds since then; `worked_ms`: now.
    pub(crate) fn idle_ms(&self, worked_ms: u64) -> u64 {
        worked_ms.saturating_sub(self.worked_at_progress)
    }

    pub(crate) fn begin_wait(&mut self, at: Moment, epoch: u32) {
        self.waiting_since = Some((at, epoch));
    }

    /// Any record ends a wait. The time of a dead keeper does not count.
    pub(crate) fn end_wait(&mut self, at: Moment, epoch: u32) {
        if let Some((since, _)) = self.waiting_since.take().filter(|(_, began)| *began == epoch) {
            self.waited_ms = self.waited_ms.saturating_add(at.ms_since(since));
        }
    }
}
