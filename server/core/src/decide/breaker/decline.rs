//! Detects an agent that gave up: its output shrinks while nothing more passes. Little output alone means nothing, and
//! an iteration that claims to be done, or whose check results differ, does not count.

use super::history::{BreakerHistory, FinishedIteration};

/// Number of such iterations in a row that opens the breaker.
pub(super) const CONSECUTIVE_DECLINES: u32 = 2;
/// Minimum number of earlier iterations for a median.
const MIN_SAMPLES: usize = 4;
/// Number of earlier iterations that the median is of.
const MEDIAN_WINDOW: usize = 100;
/// A median below this is too small to decline from.
const MIN_MEDIAN_BYTES: u64 = 200;

/// Number of iterations in a row whose output is more than `percent` % below the median of the [`MEDIAN_WINDOW`]
/// iterations before them.
pub(super) fn count_declines(past: &BreakerHistory<'_>, percent: u32) -> u32 {
    let keep = 100_u64.saturating_sub(u64::from(percent));
    // Backwards from the last one: most loops stop at the first.
    let iterations = past.counted_iterations().rev().filter(|it| !it.is_provider_failure());
    let figures = || past.outlines().rev().map(|it| it.figures);
    let output_sizes = || figures().filter(|it| !it.is_provider_failure).map(|it| it.output_bytes);
    let is_less = |bytes: u64, back: usize| {
        median_output(output_sizes().skip(back + 1).take(MEDIAN_WINDOW))
            .is_some_and(|it| bytes.saturating_mul(100) < it.saturating_mul(keep))
    };
    let is_decline = |(back, it): &(usize, FinishedIteration<'_>)| {
        is_less(it.outline.figures.output_bytes, *back) && has_no_result(it)
    };
    iterations.enumerate().take_while(is_decline).count() as u32
}

fn has_no_result(iteration: &FinishedIteration<'_>) -> bool {
    !iteration.outline.figures.has_claim && !iteration.progress().passes && !iteration.is_better()
}

/// The median, where there are enough samples.
fn median_output(bytes: impl Iterator<Item = u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = bytes.collect();
    sorted.sort_unstable();
    let median = sorted.get(sorted.len() / 2).copied().filter(|_| sorted.len() >= MIN_SAMPLES)?;
    (median >= MIN_MEDIAN_BYTES).then_some(median)
}
