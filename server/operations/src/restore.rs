//! Restores a loop's files to the state after an iteration, and undoes that. Nothing is lost: a snapshot of the current
//! tree is taken first. Done by the loop's keeper; without a keeper, by this process.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use loopkeeper_core::decide::{LoopState, sessions, undo, weakening};
use loopkeeper_core::journal::{Record, RestrictedCommand, SnapshotWhen};
use loopkeeper_text::tr;

use super::authority;
use super::control_client::{self, RollbackResult, UnrestoredPath};
use super::failure::{Failure, FailureKind};
use super::loops::LoopView;
use loopkeeper_system::clock;
use loopkeeper_system::journal_file::JournalFile;
use loopkeeper_system::snapshots::{RestorePreview, SnapshotStore};
use loopkeeper_system::state_dir::lock::TreeHolder;
use loopkeeper_system::state_dir::workspace::LoopDir;
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
    fn find(loop_view: &LoopView, target: &RestoreSelection) -> Result<Self, Failure> {
        match target {
            RestoreSelection::Iteration { number, paths } => Ok(Self {
                to: *number,
                tree: tree_after(loop_view, *number)?.to_owned(),
                paths: paths.clone(),
                since: None,
                undoes: None,
            }),
            RestoreSelection::BeforeRollback => {
                let last = undo::undoable_rollback(&loop_view.state)
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

    fn selected_paths(&self) -> Option<&[String]> {
        (!self.paths.is_empty()).then_some(self.paths.as_slice())
    }
}

/// What [`restore`] would change now. Takes a snapshot.
pub fn preview(loop_view: &LoopView, target: &RestoreSelection) -> Result<RestoreChanges, Failure> {
    let source = RestoreSource::find(loop_view, target)?;
    let mut snapshots = store_of(loop_view)?;
    let RestorePreview { before, written, removed, replaced } = match &source.since {
        Some(since) => snapshots.restore_since_preview(&source.tree, since)?,
        None => snapshots.restore_preview(&source.tree, source.selected_paths())?,
    };
    let state = &loop_view.state;
    let edited = if snapshots.contains_snapshot(&state.tree.last) {
        let since: BTreeSet<String> =
            snapshots.changed_paths(&state.tree.last, &before)?.into_iter().collect();
        let is_edited = |it: &String| since.contains(it) && !state.tree.artefacts.contains(it);
        replaced.into_iter().filter(is_edited).collect()
    } else {
        // Which of them were edited is unknown.
        replaced
    };
    Ok(RestoreChanges { written, removed, edited })
}

/// Restores the files. `None`: done by a keeper older than this program, which does not report its changes.
pub fn restore(
    store: &StateDir,
    loop_view: &LoopView,
    target: &RestoreSelection,
) -> Result<Option<RollbackResult>, Failure> {
    if !loop_view.is_alive() {
        authority::ensure_user(store, RestrictedCommand::Rollback)?;
        return rollback_offline(store, loop_view, &RestoreSource::find(loop_view, target)?).map(Some);
    }
    match target {
        RestoreSelection::Iteration { number, paths } => {
            control_client::roll_back(store, loop_view.dir.id(), *number, paths)
        }
        RestoreSelection::BeforeRollback => control_client::undo_rollback(store, loop_view.dir.id()),
    }
}

/// Rolls back a loop without a keeper: this process replaces the keeper and holds its locks.
fn rollback_offline(
    store: &StateDir,
    loop_view: &LoopView,
    source: &RestoreSource,
) -> Result<RollbackResult, Failure> {
    let _loop_lock = store.lock_loop(&loop_view.dir)?;
    let (_, workspace, _) = StateDir::of_loop(loop_view.dir.path())?;
    let _tree_lock =
        store.lock_tree(workspace.root(), &TreeHolder::Loop { id: loop_view.dir.id().to_owned() })?;
    let mut last_seq = 0;
    let (mut journal, _) = JournalFile::open_with(&loop_view.dir.journal(), |it| last_seq = it.seq)?;
    if last_seq != loop_view.state.position.seq {
        return Err(Failure::conflict(tr!(
            "loop {id} was changed by another command",
            id = loop_view.dir.id()
        ))
        .hint(tr!("Try again.")));
    }
    let mut snapshots = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
    // Recorded before anything changes: `gc` keeps snapshots that a record names.
    let first = snapshots.take_snapshot()?.tree;
    journal.append(clock::now(), vec![snapshot_record(loop_view, &first, source.undoes)])?;
    let restored = match &source.since {
        Some(since) => snapshots.restore_since(&source.tree, since)?,
        None => snapshots.restore(&source.tree, source.selected_paths())?,
    };
    let session_record =
        if source.paths.is_empty() { sessions::after_rollback(&loop_view.state, source.to) } else { None };
    let refused: Vec<String> = restored.refused.iter().map(|it| it.path.clone()).collect();
    let mut records = vec![Record::RolledBack {
        to: source.to,
        tree: source.tree.clone(),
        from: restored.before.clone(),
        restored: weakening::restored_files(&loop_view.state, &source.tree, &source.paths, &refused),
        paths: source.paths.clone(),
        reason: None,
        after: Some(restored.after).filter(|it| *it != source.tree),
        undoes: source.undoes,
    }];
    records.splice(0..0, session_record);
    if restored.before != first {
        // The tree changed in between.
        records.insert(0, snapshot_record(loop_view, &restored.before, source.undoes));
    }
    journal.append(clock::now(), records)?;
    let refused = restored.refused.into_iter().map(|it| UnrestoredPath { path: it.path, why: it.why });
    Ok(RollbackResult {
        written: restored.written.len(),
        removed: restored.removed.len(),
        refused: refused.collect(),
    })
}

fn store_of(loop_view: &LoopView) -> Result<SnapshotStore, Failure> {
    let (_, workspace, _) = StateDir::of_loop(loop_view.dir.path())?;
    workspace.root().canonicalize().map_err(StateError::no_tree(workspace.root()))?;
    Ok(SnapshotStore::open(&workspace.snapshots(), workspace.root())?)
}

fn tree_after(loop_view: &LoopView, to: u32) -> Result<&str, Failure> {
    loop_view.state.tree_after(to).ok_or_else(|| {
        Failure::usage(tr!("loop {id} has no snapshot after iteration {to}", id = loop_view.dir.id(), to))
            .hint(tr!(
                "Its last iteration is {iteration}; 0 is the start.",
                iteration = loop_view.state.iteration
            ))
    })
}

/// The files that the loop added and that nothing refers to, as far as they are still there.
pub fn present_strays(dir: &LoopDir, state: &LoopState) -> Vec<String> {
    let root = dir.root();
    let found = state.strays().into_iter();
    found.filter(|it| root.join(it).symlink_metadata().is_ok()).map(str::to_owned).collect()
}

/// The typed paths, as snapshots name them; none for the whole tree. A path that matches nothing must not pass for one
/// whose bytes are already right.
pub fn resolve_paths(loop_view: &LoopView, to: u32, typed: &[String]) -> Result<Vec<String>, Failure> {
    let meant = tr!("Paths are relative to the root of the work tree.");
    let tree = tree_after(loop_view, to)?;
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    let (root, snapshots) = (loop_view.dir.root(), store_of(loop_view)?);
    let mut paths = Vec::new();
    for typed in typed {
        let Some(path) = normalize_path(root, typed) else {
            let root = root.display();
            return Err(
                Failure::usage(tr!("{typed} is outside the work tree {root}", typed, root)).hint(meant)
            );
        };
        if path.is_empty() {
            return Ok(Vec::new());
        }
        // A name with an escape differs from the name on disk.
        let exists_now = path.contains('\\') || root.join(&path).symlink_metadata().is_ok();
        if !exists_now && !snapshots.contains_path(tree, &path)? {
            return Err(Failure::usage(tr!("there is no {path}, now or in that snapshot", path)).hint(meant));
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

fn snapshot_record(loop_view: &LoopView, tree: &str, undoes: Option<u64>) -> Record {
    Record::SnapshotTaken {
        iteration: loop_view.state.iteration,
        when: SnapshotWhen::BeforeRollback,
        tree: tree.to_owned(),
        head: None,
        not_covered: Vec::new(),
        undoes,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use loopkeeper_core::journal::Record;
    use loopkeeper_system::clock;
    use loopkeeper_system::journal_file::JournalFile;
    use loopkeeper_system::state_dir::StateDir;

    use super::{RestoreSelection, normalize_path, restore};
    use crate::failure::FailureKind;
    use crate::loops::LoopView;

    const JOURNAL: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/journals/a-plan-one-box-at-a-time.jsonl");

    #[test]
    fn a_loop_that_changed_since_it_was_read_is_not_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir(&root).unwrap();
        let store = StateDir::at(&folder.path().join("state")).unwrap();
        let dir = store.workspace(&root).unwrap().new_loop(&store, clock::now()).unwrap();
        fs::copy(JOURNAL, dir.journal()).unwrap();
        let view = LoopView::read(&store, dir.clone()).unwrap().unwrap();
        let mut journal = JournalFile::open(&dir.journal()).unwrap().journal;
        journal.append(clock::now(), vec![Record::Resumed {}]).unwrap();
        drop(journal);
        let target = RestoreSelection::Iteration { number: 0, paths: Vec::new() };
        let refused = restore(&store, &view, &target).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Conflict, "{refused}");
        assert!(refused.message.fact().contains("was changed by another command"), "{refused}");
    }

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
