//! `diff`: what an iteration changed, as a patch.

use std::io::IsTerminal;

use loopkeeper_core::decide::Loop;
use loopkeeper_core::journal::SnapshotWhen;
use loopkeeper_core::sanitize;

use super::exit::Exit;
use super::failure::{Answer, Failure};
use super::loops;
use super::out::Out;
use super::render::{BAD, GOOD, LOUD, QUIET};
use crate::adapters::snapshots::Store;
use crate::adapters::state_dir::StateDir;

/// More than anybody reads, less than memory holds.
const MOST_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest`
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// The iteration whose changes are shown
    #[arg(value_name = "ITERATION", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iteration: u32,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let state_dir = StateDir::open()?;
    let seen = loops::find(&state_dir, Some(&args.which))?;
    let (before, after) = trees(&seen.state, args.iteration)?;
    let (_, workspace, _) = StateDir::of_loop(seen.dir.path())?;
    let store = Store::open(&workspace.snapshots(), workspace.root())?;
    let patch = store.diff(before, after, MOST_BYTES)?;
    if !std::io::stdout().is_terminal() {
        // A file or `git apply` wants the bytes as they are.
        out.write(&patch);
    } else if patch.is_empty() {
        out.line(format_args!("Iteration {} changed nothing.", args.iteration));
    } else {
        for line in sanitize::text(&patch).lines() {
            out.line(coloured(line));
        }
    }
    Ok(Exit::Done)
}

/// The trees before and after an iteration.
fn trees(state: &Loop, iteration: u32) -> Result<(&str, &str), Failure> {
    let before = state
        .snapshots
        .iter()
        .rev()
        .find(|it| it.iteration == iteration && it.when == SnapshotWhen::Before)
        .map(|it| it.tree.as_str())
        .or_else(|| state.tree_after(iteration.saturating_sub(1)));
    match (before, state.tree_after(iteration)) {
        (Some(before), Some(after)) => Ok((before, after)),
        _ if iteration > state.iteration => {
            let id = &state.spec.loop_id;
            Err(Failure::usage(format_args!("loop {id} has no iteration {iteration}"))
                .hint(format_args!("Its last one is {}.", state.iteration)))
        }
        _ => Err(Failure::ended(format_args!("there is no snapshot after iteration {iteration}"))
            .hint("It is still running, or was cut off.")),
    }
}

fn coloured(line: &str) -> String {
    let style = match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => LOUD,
        Some(b'+') => GOOD,
        Some(b'-') => BAD,
        Some(b'@') => QUIET,
        _ => return line.to_owned(),
    };
    format!("{style}{line}{style:#}")
}
