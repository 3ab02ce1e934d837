//! `rollback` restores the files as they were after an iteration; `undoRollback` as they were before the last rollback.
//! Neither asks for confirmation, because nothing is lost: the current tree is snapshotted first. With `preview` they return what would
//! change, for clients that ask the user themselves.

use std::path::PathBuf;
use std::sync::Arc;

use super::{CommandOutcome, run_blocking, target};
use crate::ext::{CommandResult, RefusedPath, RollbackArgs, UndoRollbackArgs};
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::restore::{self, RestoreSelection};
use loopkeeper_system::state_dir::StateDir;

const MAX_EDITED: usize = 50;

pub(super) async fn rollback(shared: &Arc<ServerState>, args: RollbackArgs) -> CommandOutcome {
    let RollbackArgs { loop_id, iteration, paths, preview } = args;
    restore_files(shared, loop_id, Some((iteration, paths)), preview).await
}

pub(super) async fn undo(shared: &Arc<ServerState>, args: UndoRollbackArgs) -> CommandOutcome {
    restore_files(shared, args.loop_id, None, args.preview).await
}

async fn restore_files(
    shared: &Arc<ServerState>,
    loop_id: String,
    to: Option<(u32, Vec<String>)>,
    preview: Option<bool>,
) -> CommandOutcome {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let loop_view = target::find_loop(&store, &roots, &loop_id)?;
        let target = match to {
            Some((number, typed)) => RestoreSelection::Iteration {
                number,
                paths: restore::resolve_paths(&loop_view, number, &typed)?,
            },
            None => RestoreSelection::BeforeRollback,
        };
        let done = CommandResult { loop_id: Some(loop_view.dir.id().to_owned()), ..CommandResult::default() };
        if preview == Some(true) {
            let mut change = restore::preview(&loop_view, &target)?;
            change.edited.truncate(MAX_EDITED);
            return Ok(CommandResult {
                written: Some(change.written.len()),
                removed: Some(change.removed.len()),
                refused: Some(Vec::new()),
                edited: Some(change.edited),
                ..done
            });
        }
        let Some(restored) = restore::restore(&store, &loop_view, &target)? else { return Ok(done) };
        let refused = restored.refused.into_iter().map(|it| RefusedPath { path: it.path, why: it.why });
        Ok(CommandResult {
            written: Some(restored.written),
            removed: Some(restored.removed),
            refused: Some(refused.collect()),
            ..done
        })
    })
    .await
}
