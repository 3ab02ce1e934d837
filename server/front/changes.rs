//! What an iteration changed: the two trees it lies between.

use loopkeeper_core::decide::Loop;
use loopkeeper_core::journal::SnapshotWhen;

use super::failure::Failure;

/// The trees before and after an iteration.
pub(crate) fn trees(state: &Loop, iteration: u32) -> Result<(&str, &str), Failure> {
    let before = state
        .snapshots
        .iter()
        .rev()
        .find(|it| it.iteration == iteration && it.when == SnapshotWhen::Before)
        .map(|it| it.tree.as_str())
        .or_else(|| state.tree_after(iteration.saturating_sub(1)));
    match (before, state.tree_after(iteration)) {
        (Some(before), Some(after)) => Ok((before, after)),
        _ if iteration > state.iteration => {
            let id = &state.spec.loop_id;
            Err(Failure::usage(format_args!("loop {id} has no iteration {iteration}"))
                .hint(format_args!("Its last one is {}.", state.iteration)))
        }
        _ => Err(Failure::ended(format_args!("there is no snapshot after iteration {iteration}"))
            .hint("It is still running, or was cut off.")),
    }
}
