//! The evidence recorded with a trip of the breaker: all counters, and of the iterations that count for its cause the
//! errors, the changes and the recurring trees.

use crate::journal::{
    BreakerCause, BreakerCounts, ErrorOccurrence, IterationChanges, RecurringTree, TripEvidence,
};

use super::history::BreakerHistory;
use super::oscillation;
use loopkeeper_agent::errors::FingerprintedError;

const MAX_ERRORS: usize = 10;
const MAX_ITERATIONS: usize = 10;

pub(super) fn collect_evidence(
    past: &BreakerHistory<'_>,
    cause: BreakerCause,
    counts: BreakerCounts,
) -> TripEvidence {
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
    let counted = past.newest_rows(MAX_ITERATIONS).iter().filter(|it| it.number >= first);
    let changed = counted.map(|it| IterationChanges { iteration: it.number, changes: it.changes.clone() });
    let trees = recurring.into_iter();
    TripEvidence {
        counts,
        errors: newest_errors(past, first),
        changed: changed.collect(),
        failing: Vec::new(),
        trees: trees.map(|(tree, iterations)| RecurringTree { tree: tree.to_owned(), iterations }).collect(),
        session_reset: false,
    }
}

/// The last errors since the iteration `first`, each with the last iteration that printed it.
fn newest_errors(past: &BreakerHistory<'_>, first: u32) -> Vec<ErrorOccurrence> {
    let recent = past.outlines().rev().take_while(|it| it.figures.number >= first);
    let printed = recent.flat_map(|it| it.errors.iter().rev().map(move |error| (it.figures.number, error)));
    let mut found: Vec<ErrorOccurrence> = Vec::new();
    for (iteration, error) in printed {
        if found.len() == MAX_ERRORS {
            break;
        }
        if found.iter().all(|it| it.fingerprint != error.fingerprint) {
            let FingerprintedError { fingerprint, text } = error.clone();
            found.push(ErrorOccurrence { iteration, fingerprint, text });
        }
    }
    found.reverse();
    found
}
