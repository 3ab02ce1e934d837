//! `import`: converts a loop of Claude Code's plugin, or a text such as a requirements document, an issue or the log of
//! a failed run, to a task. Shows the task before it writes it.

use std::io::{self, Read};
use std::path::PathBuf;

use clap::ValueHint;
use loopkeeper_text::{sanitize, tr};

use super::ask;
use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use loopkeeper_operations::current_tree::current_folder;
use loopkeeper_operations::foreign::ImportResult;
use loopkeeper_operations::import::{ImportSource, ImportedText};

/// Maximum size of standard input.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A text (.md, .txt) that describes the work, the log of a failed run (.log), the state of a loop of
    /// Claude Code's plugin (.claude/ralph-loop.local.md), or `-` for a text on standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Show the task and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let source = if args.file.as_os_str() == "-" { read_stdin()? } else { ImportSource::open(&args.file)? };
    out.write(&source.document()?);
    if args.dry_run {
        return Ok(Exit::Done);
    }
    if ask::is_interactive() && !ask::confirm(tr!("Write this task?"))? {
        failure::note(tr!("Nothing was written."));
        return Ok(Exit::Done);
    }
    let taken = source.write()?;
    let shown = sanitize::visible(&taken.document.to_string_lossy());
    match &source {
        ImportSource::PluginLoop(_) => {
            out.line(tr!("Wrote {shown}: the loop's prompt, and its promise where it had one.", shown));
        }
        ImportSource::Text(_) => out.line(tr!("Wrote {shown}", shown)),
    }
    show_next(&source, &taken, out);
    Ok(Exit::Done)
}

/// The text on standard input, which a command such as `gh run view --log-failed` prints.
fn read_stdin() -> Result<ImportSource, Failure> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes)?;
    let folder = current_folder()?;
    ImportedText::of(&folder, None, &String::from_utf8_lossy(&bytes)).map(ImportSource::Text)
}

fn show_next(source: &ImportSource, taken: &ImportResult, out: &mut Ui) {
    let name = taken.document.file_name().unwrap_or_default().to_string_lossy();
    let name = sanitize::visible(&name);
    let found = match source {
        ImportSource::PluginLoop(found) => found,
        ImportSource::Text(text) if text.lacks_checks() => {
            return out.line(tr!(
                "Add a check to each item of `## Done when`, then start: loopkeeper run {name}",
                name
            ));
        }
        ImportSource::Text(_) => return out.line(tr!("Start it: loopkeeper run {name}", name)),
    };
    match &taken.problem {
        None => out.line(tr!(
            "The loop is cancelled (was at iteration {iteration}): its session can end after this turn.",
            iteration = found.state.iteration
        )),
        Some(problem) => failure::warn(tr!("the loop still runs in its own session: {problem}", problem)),
    }
    let limit = found.state.iterations_left().map_or(String::new(), |it| format!(" --max-iterations {it}"));
    out.line(tr!(
        "Add checks to it below `## Done when`, then start: loopkeeper run {name}{limit}",
        name,
        limit
    ));
}
