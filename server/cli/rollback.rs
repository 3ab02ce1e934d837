//! `rollback`: the files as they were after an iteration. Asks nothing, because nothing is lost: the tree as it
//! is becomes a snapshot first. The user's index, HEAD and refs stay as they are.

use loopkeeper_core::decide::SnapshotRef;
use loopkeeper_core::journal::{Record, SnapshotWhen};
use loopkeeper_core::sanitize;
use serde_json::json;

use super::exit::Exit;
use super::failure::{Answer, Failure};
use super::loops::Seen;
use super::out::Out;
use super::{loops, order};
use crate::adapters::clock;
use crate::adapters::journal_file::JournalFile;
use crate::adapters::snapshots::{Restored, Store};
use crate::adapters::state_dir::StateDir;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest`
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// `7` is the tree after iteration 7, `0` the start
    #[arg(value_name = "ITERATION")]
    pub(crate) iteration: u32,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let store = StateDir::open()?;
    let seen = loops::find(&store, Some(&args.which))?;
    let when = match args.iteration {
        0 => "at the start".to_owned(),
        number => format!("after iteration {number}"),
    };
    if seen.is_alive() {
        order::send(&store, seen.dir.id(), json!({"do": "rollback", "iteration": args.iteration}))?;
        out.line(format_args!("The files are as they were {when}."));
        say_the_way_back(&store, &seen, out)?;
        return Ok(Exit::Done);
    }
    let restored = restore(&store, &seen, args.iteration)?;
    let count = |paths: &[String], what: &str| (!paths.is_empty()).then(|| format!("{} {what}", paths.len()));
    let counts: Vec<_> = [count(&restored.written, "put back"), count(&restored.removed, "removed")]
        .into_iter()
        .flatten()
        .collect();
    let counts = if counts.is_empty() { "nothing had to change".to_owned() } else { counts.join(", ") };
    out.line(format_args!("The files are as they were {when}: {counts}."));
    for refused in &restored.refused {
        out.line(format_args!("  left as it is: {}: {}", refused.path, refused.why));
    }
    if !(restored.written.is_empty() && restored.removed.is_empty()) {
        say_the_way_back(&store, &seen, out)?;
    }
    Ok(if restored.refused.is_empty() { Exit::Done } else { Exit::Ended })
}

/// What was put aside can be the only copy of somebody's work.
fn say_the_way_back(store: &StateDir, seen: &Seen, out: &mut Out) -> Result<(), Failure> {
    let Some(now) = Seen::read(store, seen.dir.clone())? else { return Ok(()) };
    let mut kept = now.state.snapshots.iter().rev().filter(|it| it.when == SnapshotWhen::BeforeRollback);
    if let Some(SnapshotRef { tree, .. }) = kept.next() {
        let (_, workspace, _) = StateDir::of_loop(seen.dir.path())?;
        let root = sanitize::visible(&workspace.root().to_string_lossy());
        let snapshots = workspace.snapshots();
        out.line(format_args!("What was there before is kept. To have it back, in {root}:"));
        out.line(format_args!("  git --git-dir='{}' archive {tree} | tar x", snapshots.display()));
    }
    Ok(())
}

/// Nothing of the loop runs: this process stands in for its keeper, under its keeper's locks.
fn restore(store: &StateDir, seen: &Seen, to: u32) -> Result<Restored, Failure> {
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
    let restored = snapshots.restore(tree, None)?;
    let mut records = vec![Record::RolledBack { to, tree: tree.to_owned(), from: restored.before.clone() }];
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
