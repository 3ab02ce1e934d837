//! Restores a loop's files to the state after an iteration, and undoes that. Nothing is lost: a snapshot of the current
//! tree is taken first. Done by the loop's keeper; without a keeper, by this process.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use loopkeeper_core::decide::{sessions, undo, weakening};
use loopkeeper_core::journal::{GuardedOrder, Record, SnapshotWhen};

use super::authority;
use super::control_client::{self, RollbackResult, UnrestoredPath};
use super::failure::{Failure, FailureKind};
use super::loops::LoopView;
use loopkeeper_system::clock;
use loopkeeper_system::journal_file::JournalFile;
use loopkeeper_system::snapshots::{RestorePreview, SnapshotStore};
use loopkeeper_system::state_dir::lock::TreeHolder;
use loopkeeper_system::state_dir::{StateDir, StateError};

/// The state to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreSelection {
    /// The state after an iteration; only these paths, or all.
    Iteration { number: u32, paths: Vec<String> },
    /// The state before the last rollback.
    BeforeRollback,
}

/// The same in terms of snapshots.
struct RestoreSource {
    to: u32,
    tree: String,
    paths: Vec<String>,
    /// Only paths that differ from this snapshot.
    since: Option<String>,
    undoes: Option<u64>,
}

/// What a restore would change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RestoreChanges {
    pub written: Vec<String>,
    pub removed: Vec<String>,
    /// The subset whose current bytes differ from the loop's last snapshot: most likely the user's work.
    pub edited: Vec<String>,
}

impl RestoreSource {
    fn find(seen: &LoopView, target: &RestoreSelection) -> Result<Self, Failure> {
        match target {
            RestoreSelection::Iteration { number, paths } => Ok(Self {
                to: *number,
                tree: tree_after(seen, *number)?.to_owned(),
                paths: paths.clone(),
                since: None,
                undoes: None,
            }),
            RestoreSelection::BeforeRollback => {
                let last = undo::undoable_rollback(&seen.state)
                    .map_err(|it| Failure::from_message(FailureKind::Conflict, it))?;
                Ok(Self {
                    to: last.position_before,
                    tree: last.from.clone(),
                    paths: last.paths.clone(),
                    since: last.after.clone(),
                    undoes: Some(last.seq),
                })
            }
        }
    }

    fn selected(&self) -> Option<&[String]> {
        (!self.paths.is_empty()).then_some(self.paths.as_slice())
    }
}

/// What [`restore`] would change now. Takes a snapshot.
pub fn preview(seen: &LoopView, target: &RestoreSelection) -> Result<RestoreChanges, Failure> {
    let way = RestoreSource::find(seen, target)?;
    let mut snapshots = store_of(seen)?;
    let RestorePreview { before, written, removed, replaced } = match &way.since {
        Some(since) => snapshots.restore_since_preview(&way.tree, since)?,
        None => snapshots.restore_preview(&way.tree, way.selected())?,
    };
    let state = &seen.state;
    let edited = if snapshots.contains_snapshot(&state.tree.last) {
        let since: BTreeSet<String> =
            snapshots.changed_paths(&state.tree.last, &before)?.into_iter().collect();
        let is_edited = |it: &String| since.contains(it) && !state.tree.artefacts.contains(it);
        replaced.into_iter().filter(is_edited).collect()
    } else {
        // It is unknown which.
        replaced
    };
    Ok(RestoreChanges { written, removed, edited })
}

/// Restores the files. `None`: done by a keeper older than this program, which does not report its changes.
pub fn restore(
    store: &StateDir,
    seen: &LoopView,
    target: &RestoreSelection,
) -> Result<Option<RollbackResult>, Failure> {
    if !seen.is_alive() {
        authority::ensure_user(store, GuardedOrder::Rollback)?;
        return rollback_offline(store, seen, &RestoreSource::find(seen, target)?).map(Some);
    }
    match target {
        RestoreSelection::Iteration { number, paths } => {
            control_client::roll_back(store, seen.dir.id(), *number, paths)
        }
        RestoreSelection::BeforeRollback => control_client::undo_rollback(store, seen.dir.id()),
    }
}

/// Rolls back a loop without a keeper: this process replaces the keeper and holds its locks.
fn rollback_offline(
    store: &StateDir,
    seen: &LoopView,
    way: &RestoreSource,
) -> Result<RollbackResult, Failure> {
    let _loop_lock = store.lock_loop(&seen.dir)?;
    let (_, workspace, _) = StateDir::of_loop(seen.dir.path())?;
    let _tree_lock = store.lock_tree(workspace.root(), &TreeHolder::Loop { id: seen.dir.id().to_owned() })?;
    let (mut journal, _) = JournalFile::open_with(&seen.dir.journal(), |_| ())?;
    let mut snapshots = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
    // Recorded before anything changes: `gc` keeps snapshots that a record names.
    let first = snapshots.take_snapshot()?.tree;
    journal.append(clock::now(), vec![put_aside(seen, &first, way.undoes)])?;
    let restored = match &way.since {
        Some(since) => snapshots.restore_since(&way.tree, since)?,
        None => snapshots.restore(&way.tree, way.selected())?,
    };
    let left = if way.paths.is_empty() { sessions::after_rollback(&seen.state, way.to) } else { None };
    let refused: Vec<String> = restored.refused.iter().map(|it| it.path.clone()).collect();
    let mut records = vec![Record::RolledBack {
        to: way.to,
        tree: way.tree.clone(),
        from: restored.before.clone(),
        mended: weakening::restored_files(&seen.state, &way.tree, &way.paths, &refused),
        paths: way.paths.clone(),
        reason: None,
        after: Some(restored.after).filter(|it| *it != way.tree),
        undoes: way.undoes,
    }];
    records.splice(0..0, left);
    if restored.before != first {
        // The tree changed in between.
        records.insert(0, put_aside(seen, &restored.before, way.undoes));
    }
    journal.append(clock::now(), records)?;
    let refused = restored.refused.into_iter().map(|it| UnrestoredPath { path: it.path, why: it.why });
    Ok(RollbackResult {
        written: restored.written.len(),
        removed: restored.removed.len(),
        refused: refused.collect(),
    })
}

fn store_of(seen: &LoopView) -> Result<SnapshotStore, Failure> {
    let (_, workspace, _) = StateDir::of_loop(seen.dir.path())?;
    workspace.root().canonicalize().map_err(StateError::no_tree(workspace.root()))?;
    Ok(SnapshotStore::open(&workspace.snapshots(), workspace.root())?)
}

fn tree_after(seen: &LoopView, to: u32) -> Result<&str, Failure> {
    seen.state.tree_after(to).ok_or_else(|| {
        Failure::usage(format_args!("loop {} has no snapshot after iteration {to}", seen.dir.id()))
            .hint(format_args!("Its last iteration is {}; 0 is the start.", seen.state.iteration))
    })
}

/// The typed paths, as snapshots name them; none for the whole tree. A path that matches nothing must not pass for one
/// whose bytes are already right.
pub fn resolve_paths(seen: &LoopView, to: u32, typed: &[String]) -> Result<Vec<String>, Failure> {
    const MEANT: &str = "Paths are meant from the root of the work tree.";
    let tree = tree_after(seen, to)?;
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    let (root, snapshots) = (seen.dir.root(), store_of(seen)?);
    let mut paths = Vec::new();
    for typed in typed {
        let Some(path) = normalize_path(root, typed) else {
            let root = root.display();
            return Err(Failure::usage(format_args!("{typed} lies outside the work tree {root}")).hint(MEANT));
        };
        if path.is_empty() {
            return Ok(Vec::new());
        }
        // A name with an escape differs from the name on disk.
        let is_now = path.contains('\\') || root.join(&path).symlink_metadata().is_ok();
        if !is_now && !snapshots.contains_path(tree, &path)? {
            return Err(
                Failure::usage(format_args!("there is no {path}, now or in that snapshot")).hint(MEANT)
            );
        }
        paths.push(path);
    }
    Ok(paths)
}

/// `./a//b/../c` becomes `a/c`; `None` for a path that leads out of the root.
fn normalize_path(root: &Path, typed: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let relative = Path::new(typed).strip_prefix(root).unwrap_or(Path::new(typed));
    for part in relative.components() {
        match part {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => drop(names.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names.join("/"))
}

fn put_aside(seen: &LoopView, tree: &str, undoes: Option<u64>) -> Record {
    Record::SnapshotTaken {
        iteration: seen.state.iteration,
        when: SnapshotWhen::BeforeRollback,
        tree: tree.to_owned(),
        head: None,
        not_covered: Vec::new(),
        undoes,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::normalize_path;

    #[test]
    fn a_typed_path_is_meant_from_the_root_and_stays_below_it() {
        let check = |typed: &str, expect: Option<&str>| {
            assert_eq!(normalize_path(Path::new("/tree"), typed).as_deref(), expect, "{typed}");
        };
        check("src/a.rs", Some("src/a.rs"));
        check("./src//a.rs", Some("src/a.rs"));
        check("src/", Some("src"));
        check("src/../docs", Some("docs"));
        check("/tree/src", Some("src"));
        check(".", Some(""));
        check("..", None);
        check("src/../../etc", None);
        check("/etc", None);
        check("/treetop", None);
    }
}
