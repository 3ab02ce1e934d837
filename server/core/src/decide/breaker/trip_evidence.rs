//! The evidence recorded with a trip of the breaker: all counters, the last errors, the changes of the last
//! iterations, and recurring trees.

use crate::journal::{BreakerCounts, ChangedIn, ErrorIn, TreeAfter, TripEvidence};

use super::history::BreakerHistory;
use super::oscillation;

const ERRORS: usize = 10;
const ITERATIONS: usize = 10;

pub(super) fn of(past: &BreakerHistory<'_>, counts: BreakerCounts) -> TripEvidence {
    let newest = past.newest_rows(ITERATIONS).iter();
    let changed = newest.map(|it| ChangedIn { iteration: it.number, changes: it.changes.clone() });
    let trees = oscillation::recurring_trees(past).into_iter();
    TripEvidence {
        counts,
        errors: last(errors(past), ERRORS),
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
