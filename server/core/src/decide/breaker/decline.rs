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
    let mut looks = past.counted().iter().filter(|it| !it.is_trouble);
    let mut count = 0;
    // From the last one back: most loops are through with the first.
    while let Some(look) = looks.next_back() {
        let is_less = || usual(looks.clone()).is_some_and(|it| look.row.output_bytes * 100 < it * keep);
        if !got_nowhere(look) || !is_less() {
            break;
        }
        count += 1;
    }
    count
}

fn got_nowhere(look: &Look<'_>) -> bool {
    !look.moved.passes && !look.is_better() && look.row.claim.is_none()
}

/// The median, where there is one worth the name.
fn usual<'a>(looks: impl Iterator<Item = &'a Look<'a>>) -> Option<u64> {
    let mut sorted: Vec<u64> = looks.map(|it| it.row.output_bytes).collect();
    sorted.sort_unstable();
    let median = sorted.get(sorted.len() / 2).copied().filter(|_| sorted.len() >= SAMPLES)?;
    (median >= LEAST_BYTES).then_some(median)
}
