//! Detects the same error of the agent or its tools in consecutive iterations, by fingerprint, while nothing measurable
//! improves.

use std::collections::BTreeSet;

use loopkeeper_text::sanitize;

use super::history::{BreakerHistory, IterationFacts};

/// Maximum length of the error in the reason.
const TEXT_CHARS: usize = 80;

#[derive(Default)]
pub(super) struct RepeatedError {
    /// Iterations in a row that share an error.
    pub(super) count: u32,
    /// The error as printed in the last of them.
    pub(super) text: String,
}

/// The errors that all of the last iterations have in common.
pub(super) fn repeated_errors(past: &BreakerHistory<'_>) -> RepeatedError {
    let (mut count, mut common) = (0, BTreeSet::new());
    let works = || past.counted_iterations().filter(|it| !it.is_trouble || it.failed_at_work());
    let printed =
        works().rev().map(|it| if it.is_better() { BTreeSet::new() } else { error_fingerprints(&it) });
    // An iteration without an error restarts the count.
    let printed: Vec<_> = printed.take_while(|it| !it.is_empty()).collect();
    for prints in printed.into_iter().rev() {
        let shared: BTreeSet<String> = common.intersection(&prints).cloned().collect();
        (count, common) = if shared.is_empty() { (1, prints) } else { (count + 1, shared) };
    }
    let text = works().next_back().map(|it| text(&it, &common)).unwrap_or_default();
    RepeatedError { count, text }
}

fn error_fingerprints(look: &IterationFacts<'_>) -> BTreeSet<String> {
    look.row.errors.iter().map(|it| it.fingerprint.0.clone()).collect()
}

fn text(look: &IterationFacts<'_>, common: &BTreeSet<String>) -> String {
    let printed = look.row.errors.iter().rev().find(|it| common.contains(&it.fingerprint.0));
    sanitize::line_within(printed.map(|it| it.text.as_str()).unwrap_or_default(), TEXT_CHARS)
}
