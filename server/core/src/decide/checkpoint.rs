//! The state that a rollback restores: iterations after that point no longer count, and counters return to their
//! values then. Cost and time already spent are kept.

use std::collections::BTreeSet;

use loopkeeper_task::PlanItem;

use super::state::LoopState;

/// The state at the end of one iteration; of iteration 0 the state at the start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint {
    claims: u32,
    turned: bool,
    /// Plan items done.
    done: BTreeSet<String>,
}

/// Stores the state after the last iteration.
pub(super) fn add_checkpoint(state: &mut LoopState) {
    state.marks.insert(state.iteration, present_mark(state));
}

fn present_mark(state: &LoopState) -> Checkpoint {
    Checkpoint {
        claims: state.claims,
        turned: state.turned,
        done: state.plan.iter().filter(|it| it.done).map(|it| it.id.clone()).collect(),
    }
}

/// Plan items that the last iteration completed.
pub(super) fn newly_done(state: &LoopState) -> Vec<&PlanItem> {
    let before = state.marks.range(..state.iteration).next_back().map(|(_, it)| &it.done);
    let is_new = |it: &&PlanItem| it.done && before.is_none_or(|before| !before.contains(&it.id));
    state.plan.iter().filter(is_new).collect()
}

/// All files are back at the state after `to`; the iterations are already marked.
pub(super) fn rolled_back(state: &mut LoopState, to: u32, reason: Option<&str>) {
    state.rollbacks = if reason.is_some() { state.rollbacks.saturating_add(1) } else { 0 };
    if let Some(row) = state.history.last_mut() {
        row.broke = reason.map(str::to_owned);
    }
    let mark = state.marks.get(&to).cloned().unwrap_or_default();
    take_up(state, &mark);
}

fn take_up(state: &mut LoopState, mark: &Checkpoint) {
    state.claims = mark.claims;
    state.turned = mark.turned;
    for item in &mut state.plan {
        item.done = mark.done.contains(&item.id);
    }
    // No round has judged these files yet.
    state.passing_since = None;
}

/// State that a rollback discards, kept for an undo.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LoopMemory {
    mark: Checkpoint,
    rollbacks: u32,
    taken_back: BTreeSet<u32>,
    /// What the last iteration broke, if the loop itself rolled it back.
    broke: Option<String>,
    is_unjudged: bool,
}

pub(super) fn save_memory(state: &LoopState) -> LoopMemory {
    LoopMemory {
        mark: present_mark(state),
        rollbacks: state.rollbacks,
        taken_back: state.history.iter().filter(|it| it.taken_back).map(|it| it.number).collect(),
        broke: state.last_iteration().and_then(|it| it.broke.clone()),
        is_unjudged: state.is_unjudged,
    }
}

pub(super) fn restore_memory(state: &mut LoopState, memory: LoopMemory) {
    state.rollbacks = memory.rollbacks;
    state.is_unjudged = memory.is_unjudged;
    for row in &mut state.history {
        row.taken_back = memory.taken_back.contains(&row.number);
    }
    if let Some(row) = state.history.last_mut() {
        row.broke = memory.broke;
    }
    take_up(state, &memory.mark);
}
