//! Detects the same required criteria failing in the same way in consecutive iterations, while nothing more passes.
//! File changes do not matter: an agent can edit for a whole night without effect on any check.

use crate::check::fingerprint::fingerprint;
use crate::check::{CheckResult, Status};
use crate::journal::FailingCriterion;
use crate::loop_state::LoopState;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

use super::history::{BreakerHistory, FinishedIteration};

/// Maximum length of the failure in the reason.
const TEXT_CHARS: usize = 80;
/// Maximum number of criteria in the record of an opening.
const MAX_LISTED: usize = 10;

/// Number of iterations in a row, the last one included, after which the same criteria failed in the same way.
pub(super) fn count_same_failures(past: &BreakerHistory<'_>) -> u32 {
    let mut judged = past.counted_iterations().rev().filter(is_judged_work).peekable();
    let Some(last) = judged.peek().and_then(|it| it.outline.failing) else { return 0 };
    let mut count = 0;
    for iteration in judged {
        if iteration.outline.failing != Some(last) {
            break;
        }
        count += 1;
        if iteration.has_turned() {
            // More criteria pass since then: the streak begins with this iteration.
            break;
        }
    }
    // A single occurrence is no repetition.
    if count > 1 { count } else { 0 }
}

/// The work was judged and kept. An agent that failed is counted by its own error alone.
pub(super) fn is_judged_work(iteration: &FinishedIteration<'_>) -> bool {
    !iteration.outline.results.is_empty()
        && !iteration.outline.figures.rolled_back
        && !iteration.is_provider_failure()
}

/// `tests pass: 3 of 9 fail`, in the order of the task.
pub(super) fn text(state: &LoopState) -> String {
    let mut names = failing_results(state).map(|(name, result)| match result.fact.as_str() {
        "" => name.to_owned(),
        fact => tr!("{name}: {fact}", name, fact),
    });
    let first = sanitize::line_within(&names.next().unwrap_or_default(), TEXT_CHARS);
    match names.count() {
        0 => first,
        more => tr!("{first}, and {more} more", first, more),
    }
}

/// The failing criteria for the record of an opening.
pub(super) fn failing_criteria(state: &LoopState) -> Vec<FailingCriterion> {
    let listed = failing_results(state).take(MAX_LISTED).map(|(name, result)| FailingCriterion {
        criterion: result.criterion.clone(),
        name: name.to_owned(),
        fingerprint: fingerprint(result),
        fact: result.fact.clone(),
    });
    listed.collect()
}

fn failing_results(state: &LoopState) -> impl Iterator<Item = (&str, &CheckResult)> {
    let results = state
        .required()
        .filter_map(|it| Some((it.criterion.name.as_str(), state.criteria.results.get(&it.criterion.id)?)));
    results.filter(|(_, it)| !matches!(it.status, Status::Pass | Status::Unverified))
}
