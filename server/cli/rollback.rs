//! `rollback`: the files as they were after an iteration. Asks nothing, because nothing is lost: the tree as it
//! is becomes a snapshot first. The user's index, HEAD and refs stay as they are.

use loopkeeper_core::decide::SnapshotRef;
use loopkeeper_core::journal::SnapshotWhen;
use loopkeeper_core::sanitize;

use super::exit::Exit;
use super::failure::{Answer, Failure};
use super::out::Out;
use super::render::ways_back;
use super::select::{self, Found};
use crate::adapters::state_dir::StateDir;
use crate::front::loops::Seen;
use crate::front::{order, restore};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest`
    #[arg(value_name = "LOOP", required_unless_present = "list")]
    pub(crate) which: Option<String>,
    /// `7` is the tree after iteration 7, `0` the start
    #[arg(value_name = "ITERATION", required_unless_present = "list", allow_negative_numbers = true, value_parser = select::iteration_or_start)]
    pub(crate) iteration: Option<u32>,
    /// Show the iterations you can go back to, and what each of them reached; change nothing
    #[arg(long, conflicts_with_all = ["iteration", "paths"])]
    pub(crate) list: bool,
    /// Only these files or folders, relative to the root
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let Found { store, seen } = Found::by_name(args.which.as_deref())?;
    let Some(iteration) = args.iteration.filter(|_| !args.list) else {
        for line in ways_back::lines(&seen.state) {
            out.line(line);
        }
        return Ok(Exit::Done);
    };
    let when = match iteration {
        0 => "at the start".to_owned(),
        number => format!("after iteration {number}"),
    };
    let paths = restore::named(&seen, iteration, &args.paths)?;
    let what = match paths.as_slice() {
        [] => "The files are as they were".to_owned(),
        [one] => format!("{one} is as it was"),
        several => format!("{} are as they were", several.join(", ")),
    };
    if seen.is_alive() {
        let undone = order::roll_back(&store, seen.dir.id(), iteration, &paths)?.unwrap_or_default();
        out.line(format_args!("{what} {when}."));
        for left in &undone.refused {
            out.line(format_args!("  left as it is: {}: {}", left.path, left.why));
        }
        say_the_way_back(&store, &seen, out)?;
        return Ok(if undone.refused.is_empty() { Exit::Done } else { Exit::Ended });
    }
    let restored = restore::by_ourselves(&store, &seen, iteration, &paths)?;
    let count = |paths: &[String], what: &str| (!paths.is_empty()).then(|| format!("{} {what}", paths.len()));
    let counts: Vec<_> = [count(&restored.written, "put back"), count(&restored.removed, "removed")]
        .into_iter()
        .flatten()
        .collect();
    let counts = if counts.is_empty() { "nothing had to change".to_owned() } else { counts.join(", ") };
    out.line(format_args!("{what} {when}: {counts}."));
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
