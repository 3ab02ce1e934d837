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
}

impl TimeAccount {
    pub(crate) fn starting(at: Moment) -> Self {
        Self { started_at: at, last_at: at, worked_ms: 0, paused_ms: 0 }
    }

    /// Accounts for the time between the last record and one at `at`.
    pub(crate) fn pass(&mut self, at: Moment, waits_for_user: bool) {
        let passed = at.ms_since(self.last_at);
        let account = if waits_for_user { &mut self.paused_ms } else { &mut self.worked_ms };
        *account = account.saturating_add(passed);
    }
}
