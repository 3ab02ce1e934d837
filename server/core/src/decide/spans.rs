//! Constants of time and the wording of iteration counts, shared by several rules.

use loopkeeper_text::words;

pub const DAY_MS: u64 = 24 * HOUR_MS;
pub const HOUR_MS: u64 = 60 * 60 * 1000;

/// `1 iteration`, `3 iterations`.
pub fn iterations(n: u32) -> String {
    words::counted(u64::from(n), "iteration")
}
