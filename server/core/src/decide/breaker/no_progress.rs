//! Counts iterations without a change of the tree: consecutive ones, very short ones, and those with denied tools.

use super::history::{BreakerHistory, FinishedIteration};

/// A shorter iteration did no real work.
pub(super) const FAST_MS: u64 = 10_000;

/// Number of iterations in a row that changed no file and made no commit.
pub(super) fn count_idle(past: &BreakerHistory<'_>) -> u32 {
    past.in_a_row(is_idle)
}

/// Number of iterations in a row that ended almost immediately and changed nothing.
pub(super) fn count_fast_failures(past: &BreakerHistory<'_>) -> u32 {
    past.in_a_row(|it| did_nothing(it) && it.outline.figures.duration_ms < FAST_MS && !it.has_turned())
}

/// Number of iterations in a row in which the agent was denied a tool and changed nothing.
pub(super) fn count_denials(past: &BreakerHistory<'_>) -> u32 {
    past.in_a_row(|it| did_nothing(it) && it.outline.figures.denials > 0)
}

fn is_idle(iteration: &FinishedIteration<'_>) -> bool {
    !iteration.changed()
}

/// Changes that were rolled back still count as work.
fn did_nothing(iteration: &FinishedIteration<'_>) -> bool {
    !iteration.outline.figures.has_progress
}
