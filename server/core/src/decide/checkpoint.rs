//! The state that a rollback restores: iterations after that point no longer count, and counters return to their
//! values then. Cost and time already spent are kept.

use std::collections::BTreeSet;

use crate::loop_state::{Checkpoint, LoopMemory, LoopState};

use loopkeeper_task::PlanItem;

/// Stores the state after the last iteration.
pub(super) fn add_checkpoint(state: &mut LoopState) {
    state.rollback.checkpoints.insert(state.iteration, current_checkpoint(state));
}

fn current_checkpoint(state: &LoopState) -> Checkpoint {
    Checkpoint {
        claims: state.streaks.claims,
        turned: state.criteria.turned,
        done: state.plan.iter().filter(|it| it.done).map(|it| it.id.clone()).collect(),
    }
}

/// Plan items that the last iteration completed.
pub(super) fn newly_done(state: &LoopState) -> Vec<&PlanItem> {
    let before = state.rollback.checkpoints.done_before(state.iteration);
    let is_new = |it: &&PlanItem| it.done && before.is_none_or(|before| !before.contains(&it.id));
    state.plan.iter().filter(is_new).collect()
}

/// All files are back at the state after `to`; the iterations are already marked.
pub(super) fn rolled_back(state: &mut LoopState, to: u32, reason: Option<&str>) {
    state.streaks.rollbacks = if reason.is_some() { state.streaks.rollbacks.saturating_add(1) } else { 0 };
    if let Some(row) = state.history.last_mut() {
        row.broke = reason.map(str::to_owned);
    }
    let checkpoint = state.rollback.checkpoints.get(to).unwrap_or_default();
    restore_checkpoint(state, &checkpoint);
}

fn restore_checkpoint(state: &mut LoopState, checkpoint: &Checkpoint) {
    state.streaks.claims = checkpoint.claims;
    state.criteria.turned = checkpoint.turned;
    for item in &mut state.plan {
        item.done = checkpoint.done.contains(&item.id);
    }
    // No round has judged these files yet.
    state.criteria.passing_since = None;
}

pub(super) fn save_memory(state: &LoopState) -> LoopMemory {
    LoopMemory {
        mark: current_checkpoint(state),
        rollbacks: state.streaks.rollbacks,
        rolled_back: state.rollback.rolled_back.clone(),
        broke: state.last_iteration().and_then(|it| it.broke.clone()),
        is_unjudged: state.tree.is_unjudged,
    }
}

/// Marks exactly these iterations as rolled back.
pub(super) fn mark_rolled_back(state: &mut LoopState, numbers: BTreeSet<u32>) {
    state.history.mark_rolled_back(&numbers);
    state.rollback.rolled_back = numbers;
}

pub(super) fn restore_memory(state: &mut LoopState, memory: LoopMemory) {
    state.streaks.rollbacks = memory.rollbacks;
    state.tree.is_unjudged = memory.is_unjudged;
    mark_rolled_back(state, memory.rolled_back);
    if let Some(row) = state.history.last_mut() {
        row.broke = memory.broke;
    }
    restore_checkpoint(state, &memory.mark);
}
