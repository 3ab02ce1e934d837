//! Detects the same error of the agent or its tools in consecutive iterations, by fingerprint, while nothing measurable
//! improves.

use std::collections::BTreeSet;

use loopkeeper_text::sanitize;

use super::history::{BreakerHistory, FinishedIteration};

/// Maximum length of the error in the reason.
const TEXT_CHARS: usize = 80;

#[derive(Default)]
pub(super) struct RepeatedError {
    /// Number of iterations in a row that share an error.
    pub(super) count: u32,
    /// The error as printed in the last of them.
    pub(super) text: String,
}

/// The longest series of iterations up to the last one that have an error in common.
pub(super) fn repeated_errors(past: &BreakerHistory<'_>) -> RepeatedError {
    let works = || past.counted_iterations().filter(|it| !it.is_provider_failure() || it.failed_at_work());
    let Some(last) = works().next_back() else { return RepeatedError::default() };
    let (mut count, mut common) = (0, error_fingerprints(&last));
    // An iteration that improved something ends the series, even if it printed the error.
    for iteration in works().rev().take_while(|it| !it.is_better()) {
        let shared = &common & &error_fingerprints(&iteration);
        if shared.is_empty() {
            break;
        }
        (count, common) = (count + 1, shared);
    }
    RepeatedError { count, text: common_error_text(&last, &common) }
}

fn error_fingerprints<'a>(iteration: &FinishedIteration<'a>) -> BTreeSet<&'a str> {
    iteration.outline.errors.iter().map(|it| it.fingerprint.0.as_str()).collect()
}

fn common_error_text(iteration: &FinishedIteration<'_>, common: &BTreeSet<&str>) -> String {
    let mut errors = iteration.outline.errors.iter().rev();
    let printed = errors.find(|it| common.contains(it.fingerprint.0.as_str()));
    sanitize::line_within(printed.map(|it| it.text.as_str()).unwrap_or_default(), TEXT_CHARS)
}
