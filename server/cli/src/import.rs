//! `import`: converts another tool's loop to a task. So far one format: the loop of Claude Code's plugin.

use std::path::PathBuf;

use clap::ValueHint;
use loopkeeper_text::sanitize;

use super::exit::Exit;
use super::failure::{self, ExitResult};
use super::out::Ui;
use loopkeeper_operations::foreign;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The state of a loop that Claude Code's plugin runs: .claude/ralph-loop.local.md
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let found = foreign::open(&args.file)?;
    let taken = found.take_over()?;
    let name = taken.document.file_name().unwrap_or_default().to_string_lossy();
    let shown = sanitize::visible(&taken.document.to_string_lossy());
    out.line(format_args!("Wrote {shown}: the loop's prompt, and its promise where it had one."));
    match &taken.trouble {
        None => out.line(format_args!(
            "The loop is cancelled (was at iteration {}): its session can end after this turn.",
            found.state.iteration
        )),
        Some(trouble) => failure::warn(format_args!("the loop still runs in its own session: {trouble}")),
    }
    let limit = found.state.iterations_left().map_or(String::new(), |it| format!(" --max-iterations {it}"));
    out.line(format_args!("Add checks to it below `## Done when`, then start: loopkeeper run {name}{limit}"));
    Ok(Exit::Done)
}
