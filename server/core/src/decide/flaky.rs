//! Checks that pass and fail on the same files. A single pass of such a check completes nothing: it has to pass
//! three times in a row on the same tree.

use crate::check::{CheckResult, Status};
use crate::journal::Round;
use crate::loop_state::{LoopState, VolatileState};
use loopkeeper_task::criterion::CriterionId;

use super::next_step::NextStep;

/// Rounds in a row, on one tree, in which a flaky check has to pass.
const REQUIRED_PASSES: u32 = 3;

/// Whether it passed and failed on the same files.
pub fn is_flaky(state: &LoopState, id: &CriterionId) -> bool {
    state.criteria.flaky.flips.contains_key(id)
}

/// Number of rounds in a row in which such a check has to pass; `None`: its result never flipped.
pub fn passes_needed(state: &LoopState, id: &CriterionId) -> Option<u32> {
    is_flaky(state, id).then_some(REQUIRED_PASSES)
}

/// Repeats the round on the same tree if one pass is not sufficient.
pub(super) fn once_more(state: &LoopState, live: &VolatileState) -> Option<NextStep> {
    if !state.required().any(|it| is_flaky(state, &it.criterion.id)) {
        return None;
    }
    // A loop that is done although a check fails (user condition, majority of a group) does not depend on a pass.
    if state.criteria.flaky.passes == 0 || state.criteria.flaky.passes >= REQUIRED_PASSES {
        return None;
    }
    Some(NextStep::round_once(state, live))
}

/// Called before the results of a round are stored.
pub(super) fn count_flips(state: &mut LoopState, round: &Round) {
    if !on_the_same_tree(state, round) {
        return forget_passes_on_another_tree(state, round);
    }
    let is_verdict =
        |it: Status| matches!(it, Status::Pass | Status::Fail | Status::TimedOut | Status::CouldNotRun);
    for result in &round.results {
        let before = state.criteria.results.get(&result.criterion);
        let is_missing = |it: &CheckResult| it.missing_on_machine().is_some();
        if is_missing(result) || before.is_some_and(is_missing) {
            // The result changed with the machine.
            continue;
        }
        let Some(before) = before.map(|it| it.status).filter(|it| is_verdict(*it)) else { continue };
        if is_verdict(result.status) && (before == Status::Pass) != (result.status == Status::Pass) {
            *state.criteria.flaky.flips.entry(result.criterion.clone()).or_default() += 1;
        }
    }
}

/// Called before the results of a round are stored.
pub(super) fn forget_passes_on_another_tree(state: &mut LoopState, round: &Round) {
    if !on_the_same_tree(state, round) {
        state.criteria.flaky.passes = 0;
    }
}

/// Called after the results of a round are stored.
pub(super) fn update_pass_streak(state: &mut LoopState, all_passed: bool) {
    state.criteria.flaky.passes = if all_passed { state.criteria.flaky.passes.saturating_add(1) } else { 0 };
}

fn on_the_same_tree(state: &LoopState, round: &Round) -> bool {
    !state.tree.judged.is_empty() && round.tree_before == state.tree.judged
}
