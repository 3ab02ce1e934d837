//! The lasting results of an iteration: criteria that turned, plan items that were ticked. For users and as rollback
//! targets; no decision depends on them.

use crate::check::Status;
use crate::journal::{ChangeStats, Round, Weakening};
use crate::loop_state::LoopState;
use loopkeeper_task::PlanItem;
use loopkeeper_text::tr;

use super::flaky;

/// Maximum number of named items: an agent that ticks a whole plan at once did not do all of it.
const MAX_NAMED: usize = 20;

/// The results of an iteration.
pub(super) struct IterationWork<'a> {
    pub(super) changes: &'a ChangeStats,
    pub(super) weakened: &'a [Weakening],
    pub(super) plan: &'a [PlanItem],
}

/// The milestones of an iteration as text, criteria first. None while something is weakened: passes do not count then.
pub(super) fn name_milestones(
    state: &LoopState,
    round: Option<&Round>,
    done: &IterationWork<'_>,
) -> Vec<String> {
    if !done.weakened.is_empty() {
        return Vec::new();
    }
    let passes = |id: &_| round.and_then(|it| it.result(id)).is_some_and(|it| it.status == Status::Pass);
    let criteria = state.criteria.pinned.iter().map(|it| &it.criterion);
    let turned = criteria.filter(|it| passes(&it.id) && !state.criteria.passing_before.contains(&it.id));
    // A single pass of a flaky check is no evidence, nor is one that the clean room refuted.
    let turned = turned.filter(|it| !flaky::is_flaky(state, &it.id) && !state.is_refuted(it));
    let was_open = |it: &&PlanItem| it.done && state.plan.iter().any(|old| old.id == it.id && !old.done);
    let worked = has_work(state, done);
    let ticked = done.plan.iter().filter(|it| worked && was_open(it));
    let passing = turned.map(|it| tr!("now passes: {criterion}", criterion = it.name));
    passing.chain(ticked.map(|it| tr!("done: {item}", item = it.title))).take(MAX_NAMED).collect()
}

/// Something changed besides the documents that contain the boxes.
fn has_work(state: &LoopState, done: &IterationWork<'_>) -> bool {
    let is_document =
        |path: &String| *path == state.spec.task.0 || done.plan.iter().any(|it| it.place.file == *path);
    let ChangeStats { count, files, committed, .. } = done.changes;
    let unnamed = *count > files.len() as u64;
    unnamed || files.iter().any(|it| !is_document(it)) || (*committed && files.is_empty())
}
