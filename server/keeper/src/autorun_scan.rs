//! Finds changed files that programs of the user execute later without being asked: in two snapshots, and in git's own
//! and the home folder, which no snapshot contains.

use loopkeeper_core::autorun::{autorun_trigger, changes_install_scripts, is_package_manifest};
use loopkeeper_core::decide::SnapshotFacts;
use loopkeeper_core::tamper::MAX_BYTES;
use loopkeeper_system::git::executed_files::ExecutedFiles;
use loopkeeper_system::snapshots::SnapshotStore;

use super::loop_context::LoopContext;
use super::run_context::SnapshotFailure;

/// Finds such files of the work tree that changed since the snapshot `before`. A removed file executes nothing.
pub(super) fn find_in_tree(
    store: &SnapshotStore,
    before: &str,
    snapshot: &SnapshotFacts,
) -> Result<Vec<String>, SnapshotFailure> {
    let read = |tree: &str, path: &str| -> Result<String, SnapshotFailure> {
        let bytes = store.file(tree, path, MAX_BYTES)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut found = Vec::new();
    for path in snapshot.changed.iter().filter(|it| autorun_trigger(it).is_some()) {
        let is_there = store.contains_path(&snapshot.tree, path)?;
        if is_there
            && (!is_package_manifest(path)
                || changes_install_scripts(&read(before, path)?, &read(&snapshot.tree, path)?))
        {
            found.push(path.clone());
        }
    }
    Ok(found)
}

/// Finds such files outside of snapshots that changed since this keeper's last one; stores `now` for the next one.
pub(super) fn changed_outside_tree(context: &LoopContext, now: ExecutedFiles) -> Vec<String> {
    let mut known = context.executed_files.borrow_mut();
    let changed = known.as_ref().map(|before| now.changed_since(before)).unwrap_or_default();
    *known = Some(now);
    changed
}
