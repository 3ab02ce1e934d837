//! `rollback`: restores the files as they were after an iteration, and undoes that. Nothing is lost: the current tree
//! is snapshotted first. If the user changed files since the last snapshot, it asks. The user's index, HEAD and refs
//! are not changed.

use std::fmt::Write as _;

use loopkeeper_text::clauses;
use loopkeeper_text::{tr, words};

use super::ask;
use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use super::render::restore_points;
use super::select::{self, SelectedLoop};
use loopkeeper_operations::control_client::RollbackResult;
use loopkeeper_operations::restore::{self, RestoreChanges, RestoreSelection};

const MAX_NAMED: usize = 10;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest` (of this work tree)
    #[arg(value_name = "LOOP", required_unless_present_any = ["list", "undo", "strays"])]
    pub(crate) which: Option<String>,
    /// `7` is the tree after iteration 7, `0` the start
    #[arg(value_name = "ITERATION", required_unless_present_any = ["list", "undo", "strays"], allow_negative_numbers = true, value_parser = select::iteration_or_start)]
    pub(crate) iteration: Option<u32>,
    /// Show the iterations you can go back to, and what each of them reached; change nothing
    #[arg(long, conflicts_with_all = ["iteration", "paths", "undo"])]
    pub(crate) list: bool,
    /// Undo the last rollback: restore every file as it was right before it; a second --undo repeats the rollback
    #[arg(long, conflicts_with_all = ["iteration", "paths"])]
    pub(crate) undo: bool,
    /// Remove the files that the loop added and that nothing imports, references or tests; `--undo` brings them back
    #[arg(long, conflicts_with_all = ["iteration", "paths", "list", "undo"])]
    pub(crate) strays: bool,
    /// Overwrite files that changed since the last snapshot without asking
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Only these files or folders, relative to the root
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let found = SelectedLoop::by_name(args.which.as_deref())?;
    if !args.list {
        found.loop_view.refuse_damage()?;
    }
    let target = if args.undo {
        RestoreSelection::BeforeRollback
    } else if args.strays {
        let Some(target) = select_strays(&found)? else {
            out.line(tr!("Loop {id} left no unreferenced file.", id = found.id()));
            return Ok(Exit::Done);
        };
        target
    } else if let Some(number) = args.iteration.filter(|_| !args.list) {
        let paths = restore::resolve_paths(&found.loop_view, number, &args.paths)?;
        RestoreSelection::Iteration { number, paths }
    } else {
        for line in restore_points::lines(&found.loop_view.state) {
            out.line(line);
        }
        // The others may be in the part that cannot be read.
        return found.loop_view.refuse_damage().map(|()| Exit::Done);
    };
    if !args.anyway && !is_agreed(&found, &target)? {
        out.line(tr!("Nothing was changed."));
        return Ok(Exit::Ended);
    }
    let done = restore::restore(&found.store, &found.loop_view, &target)?.unwrap_or_default();
    out.line(tr!(
        "{restored}: {counts}.",
        restored = restored_sentence(&found, &target),
        counts = counts(&done)
    ));
    for left in &done.refused {
        out.line("  ".to_owned() + &tr!("left as it is: {path}: {why}", path = left.path, why = left.why));
    }
    if done.written + done.removed > 0 {
        let way_back = format!("loopkeeper rollback {} --undo", found.id());
        out.line(match target {
            RestoreSelection::Iteration { .. } => tr!("To undo it: `{way_back}`", way_back),
            RestoreSelection::BeforeRollback => tr!("To roll back again: `{way_back}`", way_back),
        });
    }
    Ok(if done.refused.is_empty() { Exit::Done } else { Exit::Ended })
}

/// The strays that are still there, as of the start, when they did not exist.
fn select_strays(found: &SelectedLoop) -> Result<Option<RestoreSelection>, Failure> {
    let paths = restore::present_strays(&found.loop_view.dir, &found.loop_view.state);
    if paths.is_empty() {
        return Ok(None);
    }
    let paths = restore::resolve_paths(&found.loop_view, 0, &paths)?;
    Ok(Some(RestoreSelection::Iteration { number: 0, paths }))
}

/// Whether the files may be overwritten. Asks only if the user changed some of them since the last snapshot.
fn is_agreed(found: &SelectedLoop, target: &RestoreSelection) -> Result<bool, Failure> {
    if found.loop_view.is_alive() && !found.loop_view.state.is_paused_between_iterations() {
        // The keeper refuses with a reason.
        return Ok(true);
    }
    let change = restore::preview(&found.loop_view, target)?;
    if change.edited.is_empty() {
        return Ok(true);
    }
    let n_files = words::counted(change.edited.len() as u64, "file");
    if !ask::is_interactive() {
        let named = clauses::list(change.edited.iter().take(MAX_NAMED));
        let more = change.edited.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { tr!(" and {more} more", more) } else { String::new() };
        let what = tr!(
            "{files} in {folder} changed since the last snapshot of loop {id}: {named}{more}",
            files = n_files,
            folder = found.loop_view.folder(),
            id = found.id(),
            named,
            more
        );
        return Err(Failure::conflict(what)
            .hint(tr!("`--anyway` continues; the current files are kept, and `--undo` restores them.")));
    }
    let id = found.id();
    let mut question = plan_sentence(found, &change, target) + "\n";
    let _ = writeln!(question, "{}", tr!("These changed since the loop's last snapshot:"));
    for path in change.edited.iter().take(MAX_NAMED) {
        let line = if change.removed.contains(path) {
            tr!("{path} is removed", path)
        } else {
            tr!("{path} is overwritten", path)
        };
        let _ = writeln!(question, "  {line}");
    }
    if let Some(more @ 1..) = change.edited.len().checked_sub(MAX_NAMED) {
        let _ = writeln!(question, "  {}", tr!("and {more} more", more));
    }
    let _ =
        writeln!(question, "{}", tr!("They are kept: `loopkeeper rollback {id} --undo` restores them.", id));
    question.push_str(if *target == RestoreSelection::BeforeRollback {
        tr!("Undo the rollback?")
    } else {
        tr!("Roll back?")
    });
    Ok(ask::confirm(&question)?)
}

/// `Rolling back loop 20261120-abcdef in /home/me/project to iteration 2 writes 3 files and removes 1 file.`
fn plan_sentence(found: &SelectedLoop, change: &RestoreChanges, target: &RestoreSelection) -> String {
    let (id, folder) = (found.id(), found.loop_view.folder());
    let files = |paths: &[String]| words::counted(paths.len() as u64, "file");
    let changes = match (change.written.as_slice(), change.removed.as_slice()) {
        ([], []) => String::new(),
        (written, []) => tr!("writes {files}", files = files(written)),
        ([], removed) => tr!("removes {files}", files = files(removed)),
        (written, removed) => {
            tr!("writes {written} and removes {removed}", written = files(written), removed = files(removed))
        }
    };
    match target {
        RestoreSelection::Iteration { number: 0, .. } => {
            tr!("Rolling back loop {id} in {folder} to the start {changes}.", id, folder, changes)
        }
        RestoreSelection::Iteration { number, .. } => tr!(
            "Rolling back loop {id} in {folder} to iteration {number} {changes}.",
            id,
            folder,
            number,
            changes
        ),
        RestoreSelection::BeforeRollback => {
            tr!("Undoing the rollback of loop {id} in {folder} {changes}.", id, folder, changes)
        }
    }
}

/// `Restored the files of iteration 2`, with the folder if it is not the current one.
fn restored_sentence(found: &SelectedLoop, target: &RestoreSelection) -> String {
    let what = match target {
        RestoreSelection::BeforeRollback => tr!("Restored the files from before the rollback").to_owned(),
        RestoreSelection::Iteration { number: 0, paths } if paths.is_empty() => {
            tr!("Restored the files as of the start of the loop").to_owned()
        }
        RestoreSelection::Iteration { number: 0, paths } => {
            tr!("Restored {files} as of the start of the loop", files = clauses::list(paths))
        }
        RestoreSelection::Iteration { number, paths } if paths.is_empty() => {
            tr!("Restored the files as of iteration {number}", number)
        }
        RestoreSelection::Iteration { number, paths } => {
            tr!("Restored {files} as of iteration {number}", files = clauses::list(paths), number)
        }
    };
    match found.other_folder() {
        Some(folder) => tr!("{restored} in {folder}", restored = what, folder),
        None => what,
    }
}

fn counts(done: &RollbackResult) -> String {
    let files = |count: usize| words::counted(count as u64, "file");
    match (done.written, done.removed) {
        (0, 0) => tr!("no change was needed").to_owned(),
        (written, 0) => tr!("{files} written", files = files(written)),
        (0, removed) => tr!("{files} removed", files = files(removed)),
        (written, removed) => {
            tr!("{written} written, {removed} removed", written = files(written), removed = files(removed))
        }
    }
}
