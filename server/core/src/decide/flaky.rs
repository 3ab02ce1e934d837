//! Checks that pass and fail on the same files. One lucky pass of such a check completes nothing: it has to pass
//! again on the very same tree, twice in a row once it was seen to flip, three times once it did so again.

use std::collections::BTreeMap;

use crate::check::{CheckResult, Status};
use crate::journal::Round;
use loopkeeper_task::criterion::CriterionId;

use super::handle_event::criteria_of;
use super::state::{LoopState, VolatileState};
use super::{Decision, Effect};

/// More passes in a row than this prove nothing more.
const MAX_PASSES: u32 = 3;

/// What the rounds of a loop say about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlakyState {
    /// How often each check changed its mind on an unchanged tree.
    pub flips: BTreeMap<CriterionId, u32>,
    /// Rounds in a row, on one tree, in which everything required passed.
    pub passes: u32,
}

/// Whether it passed and failed on the same files.
pub fn is_flaky(state: &LoopState, id: &CriterionId) -> bool {
    state.flaky.flips.contains_key(id)
}

/// In how many rounds in a row such a check has to pass; `None`: it never changed its mind.
pub fn passes_needed(state: &LoopState, id: &CriterionId) -> Option<u32> {
    state.flaky.flips.get(id).map(|it| passes_for_flips(*it))
}

fn passes_for_flips(flips: u32) -> u32 {
    flips.saturating_add(1).min(MAX_PASSES)
}

/// Another round on the same tree, where one pass does not prove it.
pub(super) fn once_more(state: &LoopState, live: &mut VolatileState) -> Option<Vec<Decision>> {
    let flips = state.required().filter_map(|it| state.flaky.flips.get(&it.criterion.id)).max()?;
    // What is done with a check that fails (a condition of the user's, most of a group) rests on no pass.
    if state.flaky.passes == 0 || state.flaky.passes >= passes_for_flips(*flips) {
        return None;
    }
    if std::mem::replace(&mut live.checking_at_rest, true) {
        return Some(Vec::new());
    }
    Some(vec![Decision::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })])
}

/// Before the results of a round are taken.
pub(super) fn count_flips(state: &mut LoopState, round: &Round) {
    if !on_the_same_tree(state, round) {
        state.flaky.passes = 0;
        return;
    }
    let decided =
        |it: Status| matches!(it, Status::Pass | Status::Fail | Status::TimedOut | Status::CouldNotRun);
    for result in &round.results {
        let before = state.results.get(&result.criterion);
        let absent = |it: &CheckResult| it.missing_on_machine().is_some();
        if absent(result) || before.is_some_and(absent) {
            // It changed with the machine.
            continue;
        }
        let Some(before) = before.map(|it| it.status).filter(|it| decided(*it)) else { continue };
        if decided(result.status) && (before == Status::Pass) != (result.status == Status::Pass) {
            *state.flaky.flips.entry(result.criterion.clone()).or_default() += 1;
        }
    }
}

/// After the results of a round were taken.
pub(super) fn update_pass_streak(state: &mut LoopState, all: bool) {
    state.flaky.passes = if all { state.flaky.passes.saturating_add(1) } else { 0 };
}

fn on_the_same_tree(state: &LoopState, round: &Round) -> bool {
    !state.judged_tree.is_empty() && round.tree_before == state.judged_tree
}
