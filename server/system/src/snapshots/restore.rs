//! Restores the work tree to a snapshot. It may overwrite or delete only what the snapshot taken immediately before
//! contains: everything else is left and reported. Every step can be repeated, so an interrupted restore is simply run
//! again.

mod folder;
mod slot;
mod snapshot_ignores;
mod tree_path;

use std::collections::BTreeSet;
use std::path::Path;

use git2::{ObjectType, Oid};
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};
use rustix::io::Errno;

use super::compare::{self, TreeChange};
use super::error::{Result, SnapshotError};
use super::ignores::IgnoreRules;
use super::names;
use super::objects::{ObjectStore, sync_file_system};
use super::tree::{TreeItem, TreeItemKind};
use super::walk::WalkReport;
use slot::{EntryError, EntryResult, SyncMode};
use snapshot_ignores::SnapshotIgnoreRules;
use tree_path::RootHandle;

/// Up to this many written files are synced one by one.
const MAX_SINGLE_SYNCS: usize = 64;

/// Result of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RestoreReport {
    /// Snapshots of the tree before the restore and after it.
    pub before: String,
    pub after: String,
    pub written: Vec<String>,
    pub removed: Vec<String>,
    /// Paths that were left as they are, with the reasons.
    pub refused: Vec<RestoreRefusal>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreRefusal {
    pub path: String,
    /// Half a sentence: `changed since the snapshot`.
    pub why: String,
}

impl RestoreReport {
    /// Records the remaining differences from the target.
    pub(super) fn record_differences(
        &mut self,
        objects: &ObjectStore,
        after: Oid,
        request: &RestoreRequest<'_>,
    ) -> Result<()> {
        for change in compare::diff_trees(objects, request.target, after)? {
            let path = names::display_path(&change.path);
            let known = self.refused.iter().any(|it| is_at_or_below(&path, &it.path));
            if known || !request.scope.holds(&change.path) {
                continue;
            }
            let why = match change.old {
                None => tr!("ignored until now, so no snapshot contains it"),
                Some(_) => tr!("changed in the meantime"),
            };
            self.refused.push(RestoreRefusal { path, why: why.to_owned() });
        }
        Ok(())
    }
}

pub(super) struct RestoreRequest<'a> {
    pub before: Oid,
    pub target: Oid,
    pub scope: RestoreScope<'a>,
}

/// The paths that a restore applies to.
pub(super) enum RestoreScope<'a> {
    All,
    /// Files or folders, in display form.
    Paths(&'a [String]),
    /// These paths, and whatever replaces a folder of the same name.
    Exactly(BTreeSet<Vec<u8>>),
}

impl RestoreScope<'_> {
    pub(super) fn holds(&self, path: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Paths(paths) => names::is_selected(path, paths),
            Self::Exactly(paths) => {
                let ends = path.iter().enumerate().filter(|(_, it)| **it == b'/').map(|(at, _)| at);
                ends.chain([path.len()]).any(|end| path.get(..end).is_some_and(|it| paths.contains(it)))
            }
        }
    }
}

pub(super) fn restore(
    (objects, rules): (&ObjectStore, &mut IgnoreRules),
    root: &Path,
    request: &RestoreRequest<'_>,
    found: &WalkReport,
) -> Result<RestoreReport> {
    let mut run = RestoreRun {
        objects,
        root: RootHandle::open(root)?,
        restored: RestoreReport { before: request.before.to_string(), ..RestoreReport::default() },
        touched: BTreeSet::new(),
        sync: SyncMode::All,
    };
    let mut plan = run.plan(request, &found.work_trees)?;
    SnapshotIgnoreRules::new(objects, rules, root, request.target).exclude_ignored(&mut plan.removals)?;
    let done = run.apply_plan(&plan, found);
    match done {
        Ok(()) => Ok(run.restored),
        Err(source) => {
            Err(SnapshotError::Incomplete { before: run.restored.before, source: Box::new(source) })
        }
    }
}

/// Removals and writes; refused steps are not included.
#[derive(Default)]
struct RestorePlan {
    removals: Vec<PlannedRemoval>,
    writes: Vec<(Vec<u8>, Option<TreeItem>, TreeItem)>,
}

/// A path and its expected entry.
type PlannedRemoval = (Vec<u8>, TreeItem);

struct RestoreRun<'a> {
    objects: &'a ObjectStore,
    root: RootHandle<'a>,
    restored: RestoreReport,
    /// Folders whose entries changed.
    touched: BTreeSet<Vec<u8>>,
    sync: SyncMode,
}

impl RestoreRun<'_> {
    /// Verifies that every byte to be written exists before the first file is changed.
    fn plan(&mut self, request: &RestoreRequest<'_>, work_trees: &[Vec<u8>]) -> Result<RestorePlan> {
        let changes = compare::diff_trees(self.objects, request.before, request.target)?;
        let changes: Vec<TreeChange> =
            changes.into_iter().filter(|it| request.scope.holds(&it.path)).collect();
        let mut kept_folders: Vec<Vec<u8>> = Vec::new();
        for change in &changes {
            if let Some(tree) = change.replaces
                && self.root.holds_more_than(&change.path, tree, self.objects)?
            {
                kept_folders.push(change.path.clone());
            }
        }
        let mut plan = RestorePlan::default();
        for TreeChange { path, old, new, .. } in changes {
            let is_marker = |it: Option<TreeItem>| it.is_some_and(|it| it.kind == TreeItemKind::Marker);
            if work_trees.iter().any(|it| is_below(&path, it)) {
                self.refuse(&path, tr!("it belongs to another work tree of the repository"));
            } else if is_marker(old) || is_marker(new) {
                self.refuse(&path, tr!("its bytes were never stored"));
            } else if kept_folders.contains(&path) {
                self.refuse(&path, tr!("a folder with files that no snapshot contains is in its place"));
            } else if kept_folders.iter().any(|it| is_below(&path, it)) {
                // Removed with its folder, which stays.
            } else if let Some(new) = new {
                self.require_object(new)?;
                plan.writes.push((path, old, new));
            } else if let Some(old) = old {
                plan.removals.push((path, old));
            }
        }
        Ok(plan)
    }

    fn require_object(&self, item: TreeItem) -> Result<()> {
        if self.objects.has(item.id, ObjectType::Blob) {
            return Ok(());
        }
        Err(SnapshotError::damaged(self.objects.dir(), tr!("object {id} is missing", id = item.id)))
    }

    fn apply_plan(&mut self, plan: &RestorePlan, found: &WalkReport) -> Result<()> {
        self.sync = if plan.writes.len() <= MAX_SINGLE_SYNCS { SyncMode::Each } else { SyncMode::All };
        for path in &found.leftovers {
            let is_stored = |bytes: &[u8]| self.is_stored(bytes, plan);
            let done =
                self.root.open_entry(path).and_then(|it| it.map_or(Ok(false), |it| it.discard(is_stored)));
            self.record_step(path, done)?;
        }
        // Deepest first, so that folders are empty when they are removed.
        for (path, old) in plan.removals.iter().rev() {
            let done = self.root.open_entry(path).and_then(|it| it.map_or(Ok(false), |it| it.remove(*old)));
            if self.record_step(path, done)? {
                self.root.remove_empty_parents(path);
                self.restored.removed.push(names::display_path(path));
            }
        }
        for (path, old, new) in &plan.writes {
            let bytes = self.objects.read(new.id, ObjectType::Blob)?;
            let done =
                self.root.open_with_parents(path).and_then(|it| it.put(*old, (*new, &bytes), self.sync));
            if self.record_step(path, done)? {
                self.restored.written.push(names::display_path(path));
            }
        }
        self.make_durable()
    }

    /// Whether nothing is lost with a file of an interrupted restore: the store holds its bytes, or they are the part of
    /// a file that was being written.
    fn is_stored(&self, bytes: &[u8], plan: &RestorePlan) -> bool {
        let is_object =
            Oid::hash_object(ObjectType::Blob, bytes).is_ok_and(|it| self.objects.has(it, ObjectType::Blob));
        let is_part = |item: &TreeItem| {
            self.objects.read(item.id, ObjectType::Blob).is_ok_and(|it| it.starts_with(bytes))
        };
        bytes.is_empty() || is_object || plan.writes.iter().any(|(.., new)| is_part(new))
    }

    /// Whether the step changed anything. An error of one path becomes a refusal; an error that affects all paths ends
    /// the restore.
    fn record_step(&mut self, path: &[u8], done: EntryResult<bool>) -> Result<bool> {
        let problem = match done {
            Ok(done) => {
                if done {
                    self.touched.insert(parent(path).to_vec());
                }
                return Ok(done);
            }
            Err(problem) => problem,
        };
        match problem {
            EntryError::Refused(why) => {
                self.refuse(path, translate(why));
                Ok(false)
            }
            EntryError::Failed(errno) if concerns_everything(errno) => {
                Err(SnapshotError::io(tr_later!("restore"), &self.root.path(path))(errno))
            }
            EntryError::Failed(errno) => {
                self.refuse(path, &std::io::Error::from(errno).to_string());
                Ok(false)
            }
        }
    }

    fn refuse(&mut self, path: &[u8], why: &str) {
        self.restored.refused.push(RestoreRefusal { path: names::display_path(path), why: why.to_owned() });
    }

    fn make_durable(&self) -> Result<()> {
        if self.touched.is_empty() {
            return Ok(());
        }
        if self.sync == SyncMode::All || self.touched.len() > MAX_SINGLE_SYNCS {
            return sync_file_system(self.root.root())
                .map_err(SnapshotError::io(tr_later!("sync"), &self.root.path(b"")));
        }
        for folder in &self.touched {
            self.root.sync(folder).map_err(SnapshotError::io(tr_later!("sync"), &self.root.path(folder)))?;
        }
        Ok(())
    }
}

fn concerns_everything(errno: Errno) -> bool {
    let all = [Errno::NOSPC, Errno::DQUOT, Errno::IO, Errno::ROFS, Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    all.contains(&errno)
}

fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|it| *it == b'/').and_then(|at| path.get(..at)).unwrap_or_default()
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|it| it.starts_with(b"/"))
}
