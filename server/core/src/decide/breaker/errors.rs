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
    let works = || past.counted_iterations().filter(|it| !it.is_provider_failure() || it.failed_at_work());
    let printed =
        works().rev().map(|it| if it.is_better() { BTreeSet::new() } else { error_fingerprints(&it) });
    // An iteration without an error restarts the count.
    let printed = since_disjoint(printed.take_while(|it| !it.is_empty()));
    for prints in printed.into_iter().rev() {
        let shared: BTreeSet<&str> = common.intersection(&prints).copied().collect();
        (count, common) = if shared.is_empty() { (1, prints) } else { (count + 1, shared) };
    }
    let text = works().next_back().map(|it| text(&it, &common)).unwrap_or_default();
    RepeatedError { count, text }
}

/// Those after the last that shares nothing with its successor: there the count begins again.
/// `printed` runs backwards. Most loops have few, however long they are.
fn since_disjoint<'a>(printed: impl Iterator<Item = BTreeSet<&'a str>>) -> Vec<BTreeSet<&'a str>> {
    let mut streak: Vec<BTreeSet<&str>> = Vec::new();
    for prints in printed {
        let is_disjoint = streak.last().is_some_and(|it| it.is_disjoint(&prints));
        if is_disjoint {
            break;
        }
        streak.push(prints);
    }
    streak
}

fn error_fingerprints<'a>(look: &IterationFacts<'a>) -> BTreeSet<&'a str> {
    look.outline.errors.iter().map(|it| it.fingerprint.0.as_str()).collect()
}

fn text(look: &IterationFacts<'_>, common: &BTreeSet<&str>) -> String {
    let printed = look.outline.errors.iter().rev().find(|it| common.contains(it.fingerprint.0.as_str()));
    sanitize::line_within(printed.map(|it| it.text.as_str()).unwrap_or_default(), TEXT_CHARS)
}
