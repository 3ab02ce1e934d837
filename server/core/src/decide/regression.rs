//! Rolls back an iteration that broke criteria that held right before it (`git.on_regression = "rollback"`), then
//! judges the restored files again. User edits are never overwritten: files changed since the iteration are kept.

use crate::check::Status;
use crate::journal::{PinnedCriterion, Round};
use crate::jury;
use crate::loop_state::{Iteration, LoopState, RegressionReview, RollbackCause, VolatileState};
use crate::settings::OnRegression;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::clauses::list_within;
use loopkeeper_text::tr;

use super::flaky;
use super::next_step::NextStep;

/// Maximum consecutive rollbacks; the next iteration is kept, otherwise the loop could never get past it.
const MAX_IN_A_ROW: u32 = 2;
const MAX_NAMED: usize = 3;

/// The rollback, if the last iteration must be rolled back.
pub(super) fn next(state: &LoopState, live: &VolatileState) -> Option<NextStep> {
    if state.pause.is_some() || live.work.is_checking() {
        return None;
    }
    let (row, broken) = regression(state, live)?;
    if live.regression != RegressionReview::JudgedTwice(row.number) {
        return Some(NextStep::second_round(state, row.number));
    }
    let reason = tr!(
        "iteration {number} broke {criteria}",
        number = row.number,
        criteria = list_within(&broken, MAX_NAMED)
    );
    let to = state
        .history
        .kept_outlines()
        .map(|it| it.figures.number)
        .rev()
        .find(|it| *it < row.number)
        .unwrap_or(0);
    Some(NextStep::rollback(to, RollbackCause::Regression { reason }))
}

/// Whether the last iteration may be rolled back once a pause ends.
pub(super) fn is_pending(state: &LoopState, live: &VolatileState) -> bool {
    state.pause.is_some() && state.stop.is_none() && regression(state, live).is_some()
}

/// The last iteration and what it broke, if it is to be rolled back for that.
fn regression<'a>(state: &'a LoopState, live: &VolatileState) -> Option<(&'a Iteration, Vec<&'a str>)> {
    let row = state.last_iteration().filter(|it| !it.rolled_back && it.changes.count > 0)?;
    let is_enabled = state.spec.settings.git.on_regression == OnRegression::Rollback;
    let is_kept = live.regression == RegressionReview::Kept(row.number);
    if !is_enabled || is_kept || state.streaks.rollbacks >= MAX_IN_A_ROW {
        return None;
    }
    let broken = broken_criteria(state, &row.row, |id| {
        let result = state.criteria.results.get(id).filter(|it| it.missing_on_machine().is_none());
        result.is_some_and(|it| is_failure(it.status)) && !flaky::is_flaky(state, id)
    });
    let can_restore = state.tree_before().is_some();
    (!broken.is_empty() && can_restore).then_some((row, broken))
}

/// For the summary of an iteration whose regression is kept.
pub(super) fn kept_regression_note(state: &LoopState, round: Option<&Round>) -> Option<String> {
    let is_enabled = state.spec.settings.git.on_regression == OnRegression::Rollback;
    let row: Vec<_> =
        round.iter().flat_map(|it| &it.results).map(|it| (it.criterion.clone(), it.status)).collect();
    if !is_enabled
        || state.streaks.rollbacks < MAX_IN_A_ROW
        || broken_criteria(state, &row, |_| true).is_empty()
    {
        return None;
    }
    Some(tr!("kept, since {count} iterations in a row were rolled back", count = MAX_IN_A_ROW))
}

/// Whether everything that held before the last iteration still holds.
pub(super) fn is_clean(state: &LoopState) -> bool {
    state
        .last_iteration()
        .is_some_and(|it| !it.row.is_empty() && broken_criteria(state, &it.row, |_| true).is_empty())
}

/// Names of criteria that passed right before the iteration and fail after it.
fn broken_criteria<'a>(
    state: &'a LoopState,
    row: &[(CriterionId, Status)],
    counts: impl Fn(&CriterionId) -> bool,
) -> Vec<&'a str> {
    let fails =
        |id: &CriterionId| row.iter().any(|(of, status)| of == id && is_failure(*status)) && counts(id);
    // A judge that could not be asked proves nothing about the work.
    let unasked = |it: &Criterion| {
        let status = row.iter().find(|(of, _)| *of == it.id).map(|(_, status)| *status);
        jury::quorum(it).is_some() && matches!(status, Some(Status::CouldNotRun | Status::TimedOut))
    };
    let passing = |it: &&PinnedCriterion| {
        state.criteria.passing_before.contains(&it.criterion.id) && !unasked(&it.criterion)
    };
    let held = state.criteria.pinned.iter().filter(passing);
    held.filter(|it| fails(&it.criterion.id)).map(|it| it.criterion.name.as_str()).collect()
}

/// A round that could not be judged is no regression.
fn is_failure(status: Status) -> bool {
    match status {
        Status::Fail | Status::TimedOut | Status::CouldNotRun | Status::NoTestsRan => true,
        Status::Pass | Status::Unstable | Status::Unverified => false,
    }
}
