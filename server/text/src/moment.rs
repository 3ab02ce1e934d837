//! A point in time that is passed to the core as a value, because the core reads no clock.

use serde::{Deserialize, Serialize};

/// One moment, read by the shell. `wall` is for display and provider resets, `awake` for all internal deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Moment {
    /// Milliseconds since the Unix epoch, UTC. May jump.
    pub wall: u64,
    /// Milliseconds of `CLOCK_BOOTTIME`: never jumps, counts suspend, restarts at boot.
    pub awake: u64,
}

impl Moment {
    /// The moment `ms` later on both clocks.
    pub fn plus_ms(self, ms: u64) -> Self {
        Self { wall: self.wall.saturating_add(ms), awake: self.awake.saturating_add(ms) }
    }

    /// Milliseconds of `awake` since `earlier`; zero if `earlier` is in the future.
    pub fn ms_since(self, earlier: Self) -> u64 {
        self.awake.saturating_sub(earlier.awake)
    }
}
