//! `diff`: the changes of a loop or of one iteration, as a patch and as files to compare. All of them are copies
//! outside the work tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::ext::{ChangedFile, CommandResult, DiffArgs, FileChangeKind};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations::changes;
use loopkeeper_operations::failure::Failure;
use loopkeeper_system::snapshots::{FileChange, SnapshotStore, TreeEntry};
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
            files.push(write_both_sides(&store, &pages, &name, (before, after), &change)?);
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
    (before, after): (&str, &str),
    change: &FileChange,
) -> Result<ChangedFile, Failure> {
    let write_side = |side: &str, bytes: &Option<Vec<u8>>| -> Result<Option<String>, Failure> {
        let Some(bytes) = bytes else { return Ok(None) };
        let Some(below) = relative_path(Path::new(OsStr::from_bytes(&change.path))) else { return Ok(None) };
        let page = pages.write_page_below(&Path::new(name).join(side).join(below), bytes)?;
        Ok(Some(virtual_documents::uri(&page)))
    };
    let old = read_side(store, before, &change.path, change.old.as_deref())?;
    let new = read_side(store, after, &change.path, change.new.as_deref())?;
    let kind = match (&old, &new) {
        (None, _) => FileChangeKind::Added,
        (_, None) => FileChangeKind::Removed,
        _ => FileChangeKind::Changed,
    };
    Ok(ChangedFile {
        path: change.shown.clone(),
        kind,
        before: write_side("before", &old)?,
        after: write_side("after", &new)?,
    })
}

/// The bytes of a file in a snapshot; for a file of which the snapshot has none, a sentence. `None`: there was no file.
fn read_side(
    store: &SnapshotStore,
    tree: &str,
    path: &[u8],
    id: Option<&str>,
) -> Result<Option<Vec<u8>>, Failure> {
    if let Some(id) = id {
        return Ok(Some(store.bytes(id)?));
    }
    if store.entry_at(tree, path)? != TreeEntry::Unknown {
        return Ok(None);
    }
    let note = tr!("The snapshot does not hold this file: it was too large, or could not be read.");
    Ok(Some(format!("{note}\n").into_bytes()))
}

/// Accepts only a relative path without `..`.
fn relative_path(path: &Path) -> Option<&Path> {
    path.components().all(|it| matches!(it, Component::Normal(_))).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use loopkeeper_system::snapshots::SnapshotStore;

    use super::read_side;

    #[test]
    fn a_file_that_is_not_stored_is_no_missing_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "text").unwrap();
        let mut store = SnapshotStore::open(&folder.path().join("state"), &root).unwrap();
        let before = store.take_snapshot().unwrap().tree;
        // Too large to be stored; it takes no room on the disk.
        fs::File::create(root.join("a")).unwrap().set_len(1 << 25).unwrap();
        let after = store.take_snapshot().unwrap().tree;
        let changes = store.files_changed(&before, &after).unwrap();
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        let side = |tree: &str, id: &Option<String>| {
            let bytes = read_side(&store, tree, b"a", id.as_deref()).unwrap();
            bytes.map(|it| String::from_utf8(it).unwrap())
        };
        assert_eq!(side(&before, &change.old).as_deref(), Some("text"));
        assert!(side(&after, &change.new).unwrap().starts_with("The snapshot does not hold this file"));
        assert_eq!(read_side(&store, &before, b"b", None).unwrap(), None);
    }
}
