//! `log`: prints the events of a loop, one line per record; `--json` prints the journal itself.

use std::io::IsTerminal as _;
use std::path::Path;

use loopkeeper_core::decide::LoopState;
use loopkeeper_text::message::hint_line;
use loopkeeper_text::{sanitize, tr};

use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::{BatchedLines, Ui};
use super::render::entry::{self, DetailLevel, EntryFormatter};
use super::render::{DIM, Glyphs};
use super::select::{self, LoopArg};
use loopkeeper_operations::local_time::LocalZone;
use loopkeeper_operations::loops::{self, LoopView};
use loopkeeper_system::journal_file::{self, JournalError};
use loopkeeper_system::state_dir::StateDir;

/// Records that are printed without `--all`: those of about 150 iterations.
const MAX_RECORDS: u64 = 1_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// Show the agent's sessions: when each began, and why it ended
    #[arg(long, conflicts_with = "json")]
    pub(crate) sessions: bool,
    /// Print the agent's prompt in this iteration
    #[arg(long, value_name = "ITERATION", value_parser = select::iteration, conflicts_with_all = ["json", "sessions"])]
    pub(crate) prompt: Option<u32>,
    /// Print the agent's output in this iteration
    #[arg(long, value_name = "ITERATION", value_parser = select::iteration, conflicts_with_all = ["json", "sessions", "prompt"])]
    pub(crate) output: Option<u32>,
    /// Print every record of a long loop, not only the last 1000
    #[arg(long, conflicts_with_all = ["json", "sessions", "prompt", "output"])]
    pub(crate) all: bool,
    /// Print the journal's records as they are, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let loop_view = loops::find(&StateDir::open()?, args.which.name.as_deref(), failure::warn)?;
    let journal = loop_view.dir.journal();
    if args.json {
        let mut lines = BatchedLines::new(out);
        journal_file::each_line(&journal, |line| lines.add(&String::from_utf8_lossy(line)))?;
        lines.flush();
        // What reads the records must not take a part for the whole.
        return loop_view.refuse_damage().map(|()| Exit::Done);
    }
    if let Some(iteration) = args.prompt {
        return print_prompt(&loop_view, iteration, out);
    }
    if let Some(iteration) = args.output {
        return print_output(&loop_view, iteration, out);
    }
    if args.sessions {
        print_sessions(&loop_view.state, out);
        return Ok(Exit::Done);
    }
    // After damage only a complete reading finds what is left.
    if args.all || loop_view.damage.is_some() {
        print_all(&journal, out)?;
    } else {
        print_recent(&loop_view, out)?;
    }
    if let Some(damage) = &loop_view.damage {
        out.line(tr!("From here on {fact}; none of it was changed.", fact = damage.fact()));
        if let Some(hint) = damage.hint() {
            out.line(hint_line(hint));
        }
    }
    Ok(Exit::Done)
}

fn print_all(journal: &Path, out: &mut Ui) -> Result<(), JournalError> {
    let mut formatter = EntryFormatter::new(LocalZone::local(), Glyphs::of_environment());
    let mut lines = BatchedLines::new(out);
    journal_file::each_record(journal, |entry, _| {
        for line in formatter.format_entry(&entry, DetailLevel::Everything) {
            lines.add(&line);
        }
    })?;
    lines.flush();
    Ok(())
}

/// The last records: those of ten thousand iterations take long to print and to read.
fn print_recent(loop_view: &LoopView, out: &mut Ui) -> Result<(), JournalError> {
    let mut formatter = EntryFormatter::new(LocalZone::local(), Glyphs::of_environment());
    let mut printed = Vec::new();
    let earlier = journal_file::each_recent(
        &loop_view.dir.journal(),
        MAX_RECORDS,
        EntryFormatter::depends_on_type,
        |entry, is_recent| {
            let lines = formatter.format_entry(&entry, DetailLevel::Everything);
            printed.extend(lines.into_iter().filter(|_| is_recent));
        },
    )?;
    if earlier > 0 {
        let id = loop_view.dir.id();
        out.line(tr!("{earlier} earlier records: `loopkeeper log {id} --all` prints them", earlier, id));
    }
    let mut lines = BatchedLines::new(out);
    for line in &printed {
        lines.add(line);
    }
    lines.flush();
    Ok(())
}

/// The stored prompt of one iteration.
fn print_prompt(loop_view: &LoopView, iteration: u32, out: &mut Ui) -> ExitResult {
    let path = loop_view.dir.prompts().join(format!("{iteration:04}.md"));
    let text = std::fs::read(&path).map_err(|_| {
        not_stored_error(
            loop_view,
            tr!("loop {id} has no prompt of iteration {iteration}", id = loop_view.dir.id(), iteration),
        )
    })?;
    print_text(&text, out);
    Ok(Exit::Done)
}

/// The agent's output in one iteration: the beginning, and also the end where the middle was dropped.
fn print_output(loop_view: &LoopView, iteration: u32, out: &mut Ui) -> ExitResult {
    let path = loop_view.dir.output().join(format!("{iteration:04}.out"));
    let mut text = std::fs::read(&path).map_err(|_| {
        not_stored_error(
            loop_view,
            tr!("loop {id} has no output of iteration {iteration}", id = loop_view.dir.id(), iteration),
        )
    })?;
    text.extend(std::fs::read(path.with_extension("tail")).unwrap_or_default());
    print_text(&text, out);
    Ok(Exit::Done)
}

fn not_stored_error(loop_view: &LoopView, fact: String) -> Failure {
    let refusal = Failure::usage(fact);
    match loop_view.state.iteration {
        0 => refusal.hint(tr!("It has not started an iteration; `loopkeeper log` shows what happened.")),
        last => refusal.hint(tr!("Its iterations are 1 to {last}.", last)),
    }
}

/// Removes control sequences on a terminal, because they could move its cursor.
fn print_text(text: &[u8], out: &mut Ui) {
    let text = String::from_utf8_lossy(text);
    if std::io::stdout().is_terminal() {
        out.write(&sanitize::text(&text));
    } else {
        out.write(&text);
    }
}

/// The last session changes, as recorded in the loop's state.
fn print_sessions(state: &LoopState, out: &mut Ui) {
    let zone = LocalZone::local();
    if !state.spec.settings.session.resume {
        out.line(tr!("Every iteration of this loop starts a fresh session."));
    }
    for change in &state.session.changes {
        let number = if change.iteration > 0 { format!("#{}", change.iteration) } else { String::new() };
        let when = zone.short(change.at.wall, state.time.last_at.wall);
        let what = entry::session(change.from.as_deref(), change.to.as_deref(), change.reason);
        out.line(format_args!("{DIM}{when}{DIM:#} {number:>4}  {what}"));
    }
}
