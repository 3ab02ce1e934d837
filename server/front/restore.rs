//! A loop's files as they were after an iteration, where no keeper is there to do it. Nothing is lost: the tree
//! as it is becomes a snapshot first.

use loopkeeper_core::decide::{sessions, weakening};
use loopkeeper_core::journal::{Record, SnapshotWhen};

use super::failure::Failure;
use super::loops::Seen;
use crate::adapters::clock;
use crate::adapters::journal_file::JournalFile;
use crate::adapters::snapshots::{Restored, Store};
use crate::adapters::state_dir::StateDir;

/// Nothing of the loop runs: this process stands in for its keeper, under its keeper's locks.
pub(crate) fn by_ourselves(
    store: &StateDir,
    seen: &Seen,
    to: u32,
    paths: Option<&[String]>,
) -> Result<Restored, Failure> {
    let id = seen.dir.id();
    let Some(tree) = seen.state.tree_after(to) else {
        return Err(Failure::usage(format_args!("loop {id} has no snapshot after iteration {to}"))
            .hint(format_args!("Its last iteration is {}; 0 is the start.", seen.state.iteration)));
    };
    let _loop_lock = store.lock_loop(&seen.dir)?;
    let (_, workspace, _) = StateDir::of_loop(seen.dir.path())?;
    let _tree_lock = store.lock_tree(workspace.root(), id)?;
    let mut journal = JournalFile::open(&seen.dir.journal())?.journal;
    let mut snapshots = Store::open(&workspace.snapshots(), workspace.root())?;
    // On record before anything changes: `gc` keeps what a record names.
    let first = snapshots.take()?.tree;
    journal.append(clock::now(), vec![put_aside(seen, &first)])?;
    let restored = snapshots.restore(tree, paths)?;
    let paths = paths.unwrap_or_default().to_vec();
    let left = if paths.is_empty() { sessions::after_rollback(&seen.state, to) } else { None };
    let refused: Vec<String> = restored.refused.iter().map(|it| it.path.clone()).collect();
    let mut records = vec![Record::RolledBack {
        to,
        tree: tree.to_owned(),
        from: restored.before.clone(),
        mended: weakening::mended(&seen.state, tree, &paths, &refused),
        paths,
        reason: None,
    }];
    records.splice(0..0, left);
    if restored.before != first {
        // Somebody was quick in between.
        records.insert(0, put_aside(seen, &restored.before));
    }
    journal.append(clock::now(), records)?;
    Ok(restored)
}

fn put_aside(seen: &Seen, tree: &str) -> Record {
    Record::SnapshotTaken {
        iteration: seen.state.iteration,
        when: SnapshotWhen::BeforeRollback,
        tree: tree.to_owned(),
        head: None,
        not_covered: Vec::new(),
    }
}
