//! `rollback`: the files as they were after an iteration. Asks nothing, because nothing is lost: the tree as it is
//! becomes a snapshot first.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Done, blocking, target};
use crate::adapters::state_dir::StateDir;
use crate::front::failure::Failure;
use crate::front::{order, restore};
use crate::lsp::ext::{CommandResult, RefusedPath, RollbackArgs};
use crate::lsp::shared::Shared;

pub(super) async fn rollback(shared: &Arc<Shared>, args: RollbackArgs) -> Done {
    let roots: Vec<PathBuf> = shared.lookout().picture().roots.clone();
    blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let seen = target::seen(&store, &roots, &args.loop_id)?;
        let loop_id = Some(seen.dir.id().to_owned());
        let paths = restore::named(&seen, args.iteration, &args.paths)?;
        if seen.is_alive() {
            let undone = order::roll_back(&store, seen.dir.id(), args.iteration, &paths)?;
            let done = CommandResult { loop_id, ..CommandResult::default() };
            let Some(undone) = undone else { return Ok(done) };
            let refused = undone.refused.into_iter().map(|it| RefusedPath { path: it.path, why: it.why });
            return Ok(CommandResult {
                written: Some(undone.written),
                removed: Some(undone.removed),
                refused: Some(refused.collect()),
                ..done
            });
        }
        let restored = restore::by_ourselves(&store, &seen, args.iteration, &paths)?;
        let refused =
            restored.refused.iter().map(|it| RefusedPath { path: it.path.clone(), why: it.why.clone() });
        Ok(CommandResult {
            loop_id,
            written: Some(restored.written.len()),
            removed: Some(restored.removed.len()),
            refused: Some(refused.collect()),
            ..CommandResult::default()
        })
    })
    .await
}
