//! Renders the difference of two snapshots as text, and counts its lines. Runs no filter and no external diff.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use git2::{Delta, Diff, DiffDelta, DiffOptions, FileMode, ObjectType, Oid, Patch};
use loopkeeper_core::journal::LineStats;
use loopkeeper_text::{tr, truncate};

use super::compare::{self, TreeChange};
use super::error::{Result, SnapshotError};
use super::names;
use super::objects::ObjectStore;
use super::tree::{TreeItem, TreeItemKind};

/// Larger files are named, not shown.
const MAX_BLOB: i64 = 1024 * 1024;

/// Lines are counted only up to this many files, and up to this many bytes on both sides together: an iteration that
/// unpacked an archive is not worth the time.
const MAX_FILES: usize = 500;
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// A unified patch of at most `limit` bytes; its last line reports what was left out.
pub(super) fn render_patch(objects: &ObjectStore, (a, b): (Oid, Oid), limit: usize) -> Result<String> {
    let mut text = String::new();
    for_each_change(objects, a, b, |delta, patch| {
        if text.len() > limit {
            return Ok(ControlFlow::Break(()));
        }
        match patch {
            Some(mut patch) => text.push_str(&String::from_utf8_lossy(&patch.to_buf()?)),
            None => text.push_str(&marker_line(&delta)),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if text.len() > limit {
        text.truncate(truncate::first_bytes(&text, limit).rfind('\n').map_or(0, |it| it + 1));
        text.push_str(tr!("… further changes are not shown here"));
        text.push('\n');
    }
    Ok(text)
}

/// Line counts of every path that differs, as [`names::display_path`] names it; `None` if it is too much to count.
pub(super) fn count_lines(
    objects: &ObjectStore,
    (a, b): (Oid, Oid),
) -> Result<Option<BTreeMap<String, LineStats>>> {
    let changes = compare::diff_trees(objects, a, b)?;
    if !is_small(objects, &changes) {
        return Ok(None);
    }
    let mut lines: BTreeMap<String, LineStats> = BTreeMap::new();
    for change in changes {
        let counted = count_change(objects, &change)?;
        let here = lines.entry(names::display_path(&change.path)).or_default();
        *here = *here + counted;
    }
    Ok(Some(lines))
}

fn is_small(objects: &ObjectStore, changes: &[TreeChange]) -> bool {
    let Ok(odb) = objects.repo().odb() else { return false };
    let size = |it: TreeItem| odb.read_header(it.id).map_or(0, |(size, _)| size as u64);
    let bytes = changes.iter().flat_map(|it| [it.old, it.new]).flatten().map(size);
    changes.len() <= MAX_FILES && bytes.sum::<u64>() <= MAX_BYTES
}

/// Counts no lines of files that are not stored or not text.
fn count_change(objects: &ObjectStore, change: &TreeChange) -> Result<LineStats> {
    let sides = [change.old, change.new];
    if sides.iter().flatten().any(|it| it.kind == TreeItemKind::Marker) {
        return Ok(LineStats::default());
    }
    let read_side =
        |it: Option<TreeItem>| it.map_or(Ok(Vec::new()), |it| objects.read(it.id, ObjectType::Blob));
    let (old, new) = (read_side(change.old)?, read_side(change.new)?);
    let stats =
        Patch::from_buffers(&old, None, &new, None, Some(&mut options())).and_then(|it| it.line_stats());
    let (_, added, removed) = stats.map_err(|it| SnapshotError::damaged(objects.dir(), it.message()))?;
    Ok(LineStats { added: added as u64, removed: removed as u64 })
}

type GitResult<T> = std::result::Result<T, git2::Error>;

/// Calls `visit` for every changed path; without a patch if the bytes were never stored.
fn for_each_change(
    objects: &ObjectStore,
    a: Oid,
    b: Oid,
    visit: impl FnMut(DiffDelta<'_>, Option<Patch<'_>>) -> GitResult<ControlFlow<()>>,
) -> Result<()> {
    let damaged = |it: git2::Error| SnapshotError::damaged(objects.dir(), it.message());
    let diff = tree_diff(objects, a, b).map_err(damaged)?;
    visit_all(&diff, visit).map_err(damaged)
}

fn tree_diff(objects: &ObjectStore, a: Oid, b: Oid) -> GitResult<Diff<'_>> {
    let repo = objects.repo();
    repo.diff_tree_to_tree(Some(&repo.find_tree(a)?), Some(&repo.find_tree(b)?), Some(&mut options()))
}

fn options() -> DiffOptions {
    let mut options = DiffOptions::new();
    options.max_size(MAX_BLOB).include_typechange(true).context_lines(3);
    options
}

fn visit_all(
    diff: &Diff<'_>,
    mut visit: impl FnMut(DiffDelta<'_>, Option<Patch<'_>>) -> GitResult<ControlFlow<()>>,
) -> GitResult<()> {
    for (index, delta) in diff.deltas().enumerate() {
        let is_marker = [delta.old_file(), delta.new_file()].iter().any(|it| it.mode() == FileMode::Commit);
        let patch = if is_marker { None } else { Patch::from_diff(diff, index)? };
        if visit(delta, patch)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn marker_line(delta: &DiffDelta<'_>) -> String {
    let path = path_of(delta);
    let path = names::display_path(path);
    let line = match delta.status() {
        Delta::Added => tr!("Not stored, appeared: {path}", path),
        Delta::Deleted => tr!("Not stored, disappeared: {path}", path),
        _ => tr!("Not stored, changed: {path}", path),
    };
    line + "\n"
}

fn path_of<'a>(delta: &DiffDelta<'a>) -> &'a [u8] {
    delta.new_file().path_bytes().or(delta.old_file().path_bytes()).unwrap_or_default()
}
