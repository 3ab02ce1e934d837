//! Counts iterations without a change of the tree: consecutive ones, very short ones, and those with denied tools.

use super::history::{BreakerHistory, IterationFacts};

/// An iteration that is over sooner did not really work.
pub(super) const FAST_MS: u64 = 10_000;

/// Iterations in a row that changed no file and made no commit.
pub(super) fn no_progress(past: &BreakerHistory<'_>) -> u32 {
    past.in_a_row(is_idle)
}

/// Iterations in a row that were over at once and changed nothing.
pub(super) fn fast_failures(past: &BreakerHistory<'_>) -> u32 {
    past.in_a_row(|it| did_nothing(it) && !it.moved.turned && it.row.duration_ms < FAST_MS)
}

/// Iterations in a row in which the agent was denied a tool and changed nothing.
pub(super) fn count_denials(past: &BreakerHistory<'_>) -> u32 {
    past.in_a_row(|it| did_nothing(it) && it.row.denials > 0)
}

fn is_idle(look: &IterationFacts<'_>) -> bool {
    !look.changed()
}

/// Whoever did something that was taken back did work.
fn did_nothing(look: &IterationFacts<'_>) -> bool {
    !look.row.changes.has_progress()
}
