//! An agent that says less and less while nothing more passes has given up. Little output alone means nothing: an
//! iteration that claims the end, or after which a check finds something else, is none.

use super::past::{Look, Past};

/// So many such iterations in a row open the breaker.
pub(super) const IN_A_ROW: u32 = 2;
/// Fewer earlier iterations have no usual amount.
const SAMPLES: usize = 4;
/// A usual amount below this is too small to decline from.
const LEAST_BYTES: u64 = 200;

/// Iterations in a row whose output is over `percent` below the median of those before.
pub(super) fn count(past: &Past<'_>, percent: u32) -> u32 {
    let keep = 100_u64.saturating_sub(u64::from(percent));
    let (mut count, mut before) = (0_u32, Vec::new());
    for look in past.counted().iter().filter(|it| !it.is_trouble) {
        let is_less = usual(&before).is_some_and(|it| look.row.output_bytes * 100 < it * keep);
        count = if is_less && got_nowhere(look) { count + 1 } else { 0 };
        before.push(look.row.output_bytes);
    }
    count
}

fn got_nowhere(look: &Look<'_>) -> bool {
    !look.moved.passes && !look.is_better() && look.row.claim.is_none()
}

/// The median, where there is one worth the name.
fn usual(samples: &[u64]) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let median = sorted.get(sorted.len() / 2).copied().filter(|_| samples.len() >= SAMPLES)?;
    (median >= LEAST_BYTES).then_some(median)
}
