//! What an iteration got done for good, as far as a loop can see: criteria that turned, items of the plan that were
//! ticked. For people and for ways back; nothing is decided by it.

use crate::check::Status;
use crate::journal::{ChangeStats, Round, Weakening};
use loopkeeper_task::PlanItem;

use super::flaky;
use super::state::LoopState;

/// An agent that ticks a whole plan at once did not do it all.
const NAMED: usize = 20;

/// What an iteration left behind.
pub(super) struct IterationWork<'a> {
    pub(super) changes: &'a ChangeStats,
    pub(super) weakened: &'a [Weakening],
    pub(super) plan: &'a [PlanItem],
}

/// In words, criteria first. None while something was made easier: what passes then counts for nothing.
pub(super) fn of_iteration(
    state: &LoopState,
    round: Option<&Round>,
    done: &IterationWork<'_>,
) -> Vec<String> {
    if !done.weakened.is_empty() {
        return Vec::new();
    }
    let passes = |id: &_| round.and_then(|it| it.result(id)).is_some_and(|it| it.status == Status::Pass);
    let turned = state.pinned.iter().map(|it| &it.criterion);
    let turned = turned.filter(|it| passes(&it.id) && !state.passing_before.contains(&it.id));
    // One pass of a check that changes its mind says nothing yet.
    let turned = turned.filter(|it| !flaky::is_flaky(state, &it.id));
    let was_open = |it: &&PlanItem| it.done && state.plan.iter().any(|old| old.id == it.id && !old.done);
    let worked = has_work(state, done);
    let ticked = done.plan.iter().filter(|it| worked && was_open(it));
    let passing = turned.map(|it| format!("now passes: {}", it.name));
    passing.chain(ticked.map(|it| format!("done: {}", it.title))).take(NAMED).collect()
}

/// Something changed besides the documents in which boxes are ticked.
fn has_work(state: &LoopState, done: &IterationWork<'_>) -> bool {
    let is_document =
        |path: &String| *path == state.spec.task.0 || done.plan.iter().any(|it| it.place.file == *path);
    let ChangeStats { count, files, committed, .. } = done.changes;
    let unnamed = *count > files.len() as u64;
    unnamed || files.iter().any(|it| !is_document(it)) || (*committed && files.is_empty())
}
