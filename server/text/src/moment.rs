//! The core's only notion of time.

use serde::{Deserialize, Serialize};

/// One moment, read by the shell. `wall` is for people and provider resets, `awake` for every deadline of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Moment {
    /// Milliseconds since the Unix epoch, UTC. May jump.
    pub wall: u64,
    /// Milliseconds of `CLOCK_BOOTTIME`: never jumps, counts suspend, starts anew at boot.
    pub awake: u64,
}

impl Moment {
    /// The moment `ms` later on both clocks.
    pub fn plus_ms(self, ms: u64) -> Self {
        Self { wall: self.wall.saturating_add(ms), awake: self.awake.saturating_add(ms) }
    }

    /// Milliseconds of `awake` since `earlier`; zero when `earlier` lies ahead.
    pub fn ms_since(self, earlier: Self) -> u64 {
        self.awake.saturating_sub(earlier.awake)
    }
}
