//! What an iteration got done for good, as far as a loop can see: criteria that turned, items of the plan that were
//! ticked. For people and for ways back; nothing is decided by it.

use crate::check::Status;
use crate::journal::Round;
use crate::task::PlanItem;

use super::state::Loop;

/// An agent that ticks a whole plan at once did not do it all.
const NAMED: usize = 20;

/// In words, criteria first.
pub(super) fn of_iteration(state: &Loop, round: Option<&Round>, plan: &[PlanItem]) -> Vec<String> {
    let passes = |id: &_| round.and_then(|it| it.result(id)).is_some_and(|it| it.status == Status::Pass);
    let turned = state.pinned.iter().map(|it| &it.criterion);
    let turned = turned.filter(|it| passes(&it.id) && !state.passing_before.contains(&it.id));
    let was_open = |it: &&PlanItem| it.done && state.plan.iter().any(|old| old.id == it.id && !old.done);
    let done = plan.iter().filter(was_open);
    let holds = turned.map(|it| format!("{} holds", it.name));
    holds.chain(done.map(|it| format!("{} is done", it.title))).take(NAMED).collect()
}
