//! The evidence recorded with a trip of the breaker: all counters, and of the iterations that count for its cause the
//! errors, the changes and the recurring trees.

use crate::journal::{BreakerCause, BreakerCounts, ChangedIn, ErrorIn, TreeAfter, TripEvidence};

use super::history::BreakerHistory;
use super::oscillation;

const ERRORS: usize = 10;
const ITERATIONS: usize = 10;

pub(super) fn of(past: &BreakerHistory<'_>, cause: BreakerCause, counts: BreakerCounts) -> TripEvidence {
    let recurring = oscillation::recurring_trees(past);
    let back = |count: u32| {
        let counted = past.counted_iterations().rev().take(count.max(1) as usize).next_back();
        counted.map_or(0, |it| it.outline.figures.number)
    };
    let first = match cause {
        BreakerCause::SameError => back(counts.same_error),
        BreakerCause::OutputDecline => back(counts.output_decline),
        BreakerCause::PermissionDenials => back(counts.permission_denials),
        BreakerCause::FastFailures => back(counts.fast_failures),
        BreakerCause::Oscillation => recurring.iter().flat_map(|(_, of)| of).min().copied().unwrap_or(0),
        BreakerCause::NoProgress
        | BreakerCause::TrialFailed
        | BreakerCause::TrialPassed
        | BreakerCause::Cooldown
        | BreakerCause::User => back(counts.no_progress),
    };
    let counted = past.newest_rows(ITERATIONS).iter().filter(|it| it.number >= first);
    let changed = counted.map(|it| ChangedIn { iteration: it.number, changes: it.changes.clone() });
    let errors = errors(past).into_iter().filter(|it| it.iteration >= first).collect();
    let trees = recurring.into_iter();
    TripEvidence {
        counts,
        errors: last(errors, ERRORS),
        changed: changed.collect(),
        failing: Vec::new(),
        trees: trees.map(|(tree, iterations)| TreeAfter { tree: tree.to_owned(), iterations }).collect(),
        session_reset: false,
    }
}

/// The errors, each with the last iteration that printed it.
fn errors(past: &BreakerHistory<'_>) -> Vec<ErrorIn> {
    let mut found: Vec<ErrorIn> = Vec::new();
    for outline in past.outlines() {
        for error in outline.errors {
            found.retain(|it| it.fingerprint != error.fingerprint);
            found.push(ErrorIn {
                iteration: outline.figures.number,
                fingerprint: error.fingerprint.clone(),
                text: error.text.clone(),
            });
        }
    }
    found
}

fn last<T>(mut items: Vec<T>, count: usize) -> Vec<T> {
    items.drain(..items.len().saturating_sub(count));
    items
}
