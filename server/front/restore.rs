//! A loop's files as they were after an iteration, where no keeper is there to do it. Nothing is lost: the tree
//! as it is becomes a snapshot first.

use std::path::{Component, Path};

use loopkeeper_core::decide::{sessions, weakening};
use loopkeeper_core::journal::{Record, SnapshotWhen};

use super::failure::Failure;
use super::loops::Seen;
use crate::adapters::clock;
use crate::adapters::journal_file::JournalFile;
use crate::adapters::snapshots::{Restored, Store};
use crate::adapters::state_dir::{StateDir, StateError};

/// Nothing of the loop runs: this process stands in for its keeper, under its keeper's locks.
pub(crate) fn by_ourselves(
    store: &StateDir,
    seen: &Seen,
    to: u32,
    paths: &[String],
) -> Result<Restored, Failure> {
    let id = seen.dir.id();
    let tree = tree_after(seen, to)?;
    let _loop_lock = store.lock_loop(&seen.dir)?;
    let (_, workspace, _) = StateDir::of_loop(seen.dir.path())?;
    let _tree_lock = store.lock_tree(workspace.root(), id)?;
    let mut journal = JournalFile::open(&seen.dir.journal())?.journal;
    let mut snapshots = Store::open(&workspace.snapshots(), workspace.root())?;
    // On record before anything changes: `gc` keeps what a record names.
    let first = snapshots.take()?.tree;
    journal.append(clock::now(), vec![put_aside(seen, &first)])?;
    let restored = snapshots.restore(tree, (!paths.is_empty()).then_some(paths))?;
    let paths = paths.to_vec();
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

fn tree_after(seen: &Seen, to: u32) -> Result<&str, Failure> {
    seen.state.tree_after(to).ok_or_else(|| {
        Failure::usage(format_args!("loop {} has no snapshot after iteration {to}", seen.dir.id()))
            .hint(format_args!("Its last iteration is {}; 0 is the start.", seen.state.iteration))
    })
}

/// The paths that somebody named, as snapshots name them; none for the whole tree. A name that stands for nothing
/// must not pass for one whose bytes are right already.
pub(crate) fn named(seen: &Seen, to: u32, typed: &[String]) -> Result<Vec<String>, Failure> {
    const MEANT: &str = "Paths are meant from the root of the work tree.";
    let tree = tree_after(seen, to)?;
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    let (_, workspace, _) = StateDir::of_loop(seen.dir.path())?;
    workspace.root().canonicalize().map_err(StateError::no_tree(workspace.root()))?;
    let snapshots = Store::open(&workspace.snapshots(), workspace.root())?;
    let mut paths = Vec::new();
    for typed in typed {
        let Some(path) = below(workspace.root(), typed) else {
            let root = workspace.root().display();
            return Err(Failure::usage(format_args!("{typed} lies outside the work tree {root}")).hint(MEANT));
        };
        if path.is_empty() {
            return Ok(Vec::new());
        }
        // A name with an escape in it is not what stands on disk.
        let is_now = path.contains('\\') || workspace.root().join(&path).symlink_metadata().is_ok();
        if !is_now && !snapshots.holds(tree, &path)? {
            return Err(
                Failure::usage(format_args!("there is no {path}, now or in that snapshot")).hint(MEANT)
            );
        }
        paths.push(path);
    }
    Ok(paths)
}

/// `./a//b/../c` as `a/c`; `None` for what leads out of the root.
fn below(root: &Path, typed: &str) -> Option<String> {
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

fn put_aside(seen: &Seen, tree: &str) -> Record {
    Record::SnapshotTaken {
        iteration: seen.state.iteration,
        when: SnapshotWhen::BeforeRollback,
        tree: tree.to_owned(),
        head: None,
        not_covered: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::below;

    #[test]
    fn a_typed_path_is_meant_from_the_root_and_stays_below_it() {
        let check = |typed: &str, expect: Option<&str>| {
            assert_eq!(below(Path::new("/tree"), typed).as_deref(), expect, "{typed}");
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
