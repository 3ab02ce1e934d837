//! The difference of two snapshots as text for people, and its size. Runs no filter and no external diff.

use git2::{Delta, Diff, DiffDelta, DiffOptions, FileMode, Oid, Patch};

use super::error::{Result, SnapshotError};
use super::names;
use super::objects::Objects;

/// Larger files are named, not shown.
const MAX_BLOB: i64 = 1024 * 1024;

/// How much changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangeSize {
    pub files: u64,
    pub insertions: u64,
    pub deletions: u64,
}

/// A unified patch of at most `limit` bytes; what was left out is said in its last line.
pub(super) fn text(objects: &Objects, (a, b): (Oid, Oid), limit: usize) -> Result<String> {
    let mut text = String::new();
    each(objects, a, b, |delta, patch| {
        if text.len() >= limit {
            return Ok(Step::Stop);
        }
        match patch {
            Some(mut patch) => text.push_str(&String::from_utf8_lossy(&patch.to_buf()?)),
            None => text.push_str(&not_stored(&delta)),
        }
        Ok(Step::Next)
    })?;
    if text.len() > limit {
        let mut end = limit;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(text.get(..end).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1));
        text.push_str("… more changes than are shown here\n");
    }
    Ok(text)
}

pub(super) fn size(objects: &Objects, (a, b): (Oid, Oid)) -> Result<ChangeSize> {
    let mut size = ChangeSize::default();
    each(objects, a, b, |_, patch| {
        size.files += 1;
        if let Some(patch) = patch {
            let (_, insertions, deletions) = patch.line_stats()?;
            size.insertions += insertions as u64;
            size.deletions += deletions as u64;
        }
        Ok(Step::Next)
    })?;
    Ok(size)
}

enum Step {
    Next,
    Stop,
}

type Visit<'a> = dyn FnMut(DiffDelta<'_>, Option<Patch<'_>>) -> std::result::Result<Step, git2::Error> + 'a;

/// Every changed path; without a patch where the bytes were never stored.
fn each(
    objects: &Objects,
    a: Oid,
    b: Oid,
    mut visit: impl FnMut(DiffDelta<'_>, Option<Patch<'_>>) -> std::result::Result<Step, git2::Error>,
) -> Result<()> {
    let damaged = |it: git2::Error| SnapshotError::damaged(objects.dir(), it.message());
    let diff = between(objects, a, b).map_err(damaged)?;
    visit_all(&diff, &mut visit).map_err(damaged)
}

fn between(objects: &Objects, a: Oid, b: Oid) -> std::result::Result<Diff<'_>, git2::Error> {
    let repo = objects.repo();
    let mut options = DiffOptions::new();
    options.max_size(MAX_BLOB).include_typechange(true).context_lines(3);
    repo.diff_tree_to_tree(Some(&repo.find_tree(a)?), Some(&repo.find_tree(b)?), Some(&mut options))
}

fn visit_all(diff: &Diff<'_>, visit: &mut Visit<'_>) -> std::result::Result<(), git2::Error> {
    for (index, delta) in diff.deltas().enumerate() {
        let is_marker = [delta.old_file(), delta.new_file()].iter().any(|it| it.mode() == FileMode::Commit);
        let patch = if is_marker { None } else { Patch::from_diff(diff, index)? };
        if let Step::Stop = visit(delta, patch)? {
            break;
        }
    }
    Ok(())
}

fn not_stored(delta: &DiffDelta<'_>) -> String {
    let path = delta.new_file().path_bytes().or(delta.old_file().path_bytes()).unwrap_or_default();
    let what = match delta.status() {
        Delta::Added => "appeared",
        Delta::Deleted => "disappeared",
        _ => "changed",
    };
    format!("Not stored, {what}: {}\n", names::shown(path))
}
