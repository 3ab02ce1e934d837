//! `diff`: shows the changes of a loop or of one iteration, as a patch.

use std::io::IsTerminal;

use loopkeeper_text::{sanitize, tr};

use super::exit::Exit;
use super::failure::{self, ExitResult};
use super::out::Ui;
use super::render::{BOLD, DIM, FAILURE, SUCCESS};
use super::select::{self, LoopArg};
use loopkeeper_operations::{changes, loops};
use loopkeeper_system::snapshots::SnapshotStore;
use loopkeeper_system::state_dir::StateDir;

/// Larger than any patch a user reads, small enough for memory.
const MAX_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// The iteration whose changes are shown; without it, the changes of the whole loop
    #[arg(value_name = "ITERATION", allow_negative_numbers = true, value_parser = select::iteration)]
    pub(crate) iteration: Option<u32>,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let state_dir = StateDir::open()?;
    let loop_view = loops::find(&state_dir, args.which.name.as_deref(), failure::warn)?;
    let range = changes::tree_range(&loop_view.state, args.iteration);
    // What is missing may be in the part that cannot be read.
    let (before, after) = range.or_else(|missing| loop_view.refuse_damage().and(Err(missing)))?;
    let (_, workspace, _) = StateDir::of_loop(loop_view.dir.path())?;
    let store = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
    let patch = store.diff(before, after, MAX_BYTES)?;
    if patch.is_empty() {
        // On stderr, because what reads the patch expects an empty one.
        failure::note(match args.iteration {
            None => tr!("The loop changed no file").to_owned(),
            Some(iteration) => tr!("Iteration {iteration} changed no file", iteration),
        });
    } else if std::io::stdout().is_terminal() {
        for line in sanitize::text(&patch).lines() {
            out.line(coloured(line));
        }
    } else {
        // A file or `git apply` needs the unmodified bytes.
        out.write(&patch);
    }
    Ok(Exit::Done)
}

fn coloured(line: &str) -> String {
    let style = match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => BOLD,
        Some(b'+') => SUCCESS,
        Some(b'-') => FAILURE,
        Some(b'@') => DIM,
        _ => return line.to_owned(),
    };
    format!("{style}{line}{style:#}")
}
