//! Selects the pair of snapshots whose difference is what an iteration, or a whole loop, changed.

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::SnapshotWhen;
use loopkeeper_text::tr;

use super::failure::Failure;

/// The trees before and after `iteration`; without one, those of the whole loop.
pub fn tree_range(state: &LoopState, iteration: Option<u32>) -> Result<(&str, &str), Failure> {
    iteration.map_or_else(|| of_loop(state), |number| of_iteration(state, number))
}

/// The range from the start to the newest iteration that was not rolled back. Nothing has changed before that iteration
/// ends.
fn of_loop(state: &LoopState) -> Result<(&str, &str), Failure> {
    let Some(start) = state.tree_after(0) else {
        return Err(Failure::ended(tr!("there is no snapshot of the start"))
            .hint(tr!("The loop has not begun, or it ended before its first snapshot.")));
    };
    let mut kept = state.history.kept_outlines().rev();
    let newest = kept.find_map(|it| state.tree_after(it.figures.number));
    Ok((start, newest.unwrap_or(start)))
}

fn of_iteration(state: &LoopState, iteration: u32) -> Result<(&str, &str), Failure> {
    let before = state
        .tree
        .snapshots
        .iter()
        .rev()
        .find(|it| it.iteration == iteration && it.when == SnapshotWhen::Before)
        .map(|it| it.tree)
        .or_else(|| state.tree_after(iteration.saturating_sub(1)));
    match (before, state.tree_after(iteration)) {
        (Some(before), Some(after)) => Ok((before, after)),
        _ if iteration > state.iteration => {
            let id = &state.spec.loop_id;
            Err(Failure::usage(tr!("loop {id} has no iteration {iteration}", id, iteration))
                .hint(tr!("Its last one is {iteration}.", iteration = state.iteration)))
        }
        _ => Err(Failure::ended(tr!("there is no snapshot after iteration {iteration}", iteration))
            .hint(tr!("It is still running, or was interrupted."))),
    }
}
