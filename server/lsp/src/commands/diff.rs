//! `diff`: what a loop or one of its iterations changed, as a patch and as files to compare. All of them are copies
//! outside the work tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::ext::{ChangeKind, ChangedFile, CommandResult, DiffArgs};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations::changes;
use loopkeeper_operations::failure::Failure;
use loopkeeper_system::snapshots::{FileChange, SnapshotStore};
use loopkeeper_system::state_dir::StateDir;

const MAX_PATCH_BYTES: usize = 16 << 20;
/// Files above this number are in the patch but not written for comparison.
const MAX_FILES: usize = 500;

pub(super) async fn diff(shared: &Arc<ServerState>, args: DiffArgs) -> CommandOutcome {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    let done: CommandResult = run_blocking(move || {
        let state_dir = StateDir::open().map_err(Failure::from)?;
        let loop_view = target::find_loop(&state_dir, &roots, &args.loop_id)?;
        if args.iteration == Some(0) {
            return Err(CommandRefusal::bad_argument(tr!(
                "iteration 0 is the start of the loop and has no changes"
            )));
        }
        let (before, after) = changes::tree_range(&loop_view.state, args.iteration)?;
        let (_, workspace, _) = StateDir::of_loop(loop_view.dir.path()).map_err(Failure::from)?;
        let store = SnapshotStore::open(&workspace.snapshots(), workspace.root()).map_err(Failure::from)?;
        let pages = VirtualDocuments::of(workspace.root())?;
        let id = loop_view.dir.id();
        let name = args.iteration.map_or_else(|| id.to_owned(), |it| format!("{id}-{it:04}"));
        let patch = store.diff(before, after, MAX_PATCH_BYTES).map_err(Failure::from)?;
        let patch = pages.write_page(&format!("{name}.diff"), sanitize::text(&patch).as_bytes())?;
        let mut files = Vec::new();
        for change in store.files_changed(before, after).map_err(Failure::from)?.into_iter().take(MAX_FILES) {
            files.push(write_both_sides(&store, &pages, &name, &change)?);
        }
        Ok(CommandResult {
            loop_id: Some(id.to_owned()),
            patch: Some(virtual_documents::uri(&patch)),
            files: Some(files),
            ..CommandResult::default()
        })
    })
    .await?;
    // Our own clients show the files side by side.
    if let Some(patch) = done.patch.as_ref().filter(|_| !shared.session().has_extensions()) {
        virtual_documents::open_page(shared, patch);
    }
    Ok(done)
}

/// Writes the file as it was before and after the change, for comparison.
fn write_both_sides(
    store: &SnapshotStore,
    pages: &VirtualDocuments,
    name: &str,
    change: &FileChange,
) -> Result<ChangedFile, Failure> {
    let write_side = |side: &str, id: &Option<String>| -> Result<Option<String>, Failure> {
        let Some(id) = id else { return Ok(None) };
        let Some(below) = relative_path(Path::new(OsStr::from_bytes(&change.path))) else { return Ok(None) };
        let bytes = store.bytes(id)?;
        let page = pages.write_page_below(&Path::new(name).join(side).join(below), &bytes)?;
        Ok(Some(virtual_documents::uri(&page)))
    };
    let kind = match (&change.old, &change.new) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    Ok(ChangedFile {
        path: change.shown.clone(),
        kind,
        before: write_side("before", &change.old)?,
        after: write_side("after", &change.new)?,
    })
}

/// Accepts only a relative path without `..`.
fn relative_path(path: &Path) -> Option<&Path> {
    path.components().all(|it| matches!(it, Component::Normal(_))).then_some(path)
}
