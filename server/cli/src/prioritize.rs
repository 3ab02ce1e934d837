//! `prioritize`: moves a plan item before or after others. With `skip`, this is how a user changes a plan.

use std::fmt::Write as _;

use clap::ValueHint;
use loopkeeper_task::Task;
use loopkeeper_task::edit::{self, PlanEdit, PlanEditError, PlanEditOutcome};
use loopkeeper_text::{sanitize, tr, words};

use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::{loops, plan_edit};

#[derive(Debug, clap::Args)]
pub(crate) struct ItemArg {
    /// A task document
    #[arg(value_name = "TASK", value_hint = ValueHint::FilePath)]
    pub(crate) task: String,
    /// A plan item: its id, its title, or a part of the title that no other open item has
    #[arg(value_name = "ITEM")]
    pub(crate) item: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) item: ItemArg,
    /// Places earlier among the open items; -1 is one later
    #[arg(value_name = "BY", allow_negative_numbers = true)]
    pub(crate) by: i32,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    change(&args.item, PlanEdit::Raise(args.by), out)?;
    Ok(Exit::Done)
}

pub(crate) fn change(which: &ItemArg, edit: PlanEdit, out: &mut Ui) -> Result<(), Failure> {
    plan_edit::ensure_user(edit)?;
    let work = ResolvedTask::find(Some(&which.task), &[])?;
    let item = edit::find_item(&work.task, &which.item).map_err(|it| with_items(it, &work.task))?;
    let change = plan_edit::change(&work.documents, &item.id, edit)?;
    plan_edit::write((&work.root, &work.id), &change, &work.documents)?;
    let (title, file) = (sanitize::line(&item.title), sanitize::line(&change.file));
    match change.done {
        PlanEditOutcome::Skipped => {
            out.line(tr!("{file}: \"{title}\" is skipped; loops no longer wait for it.", file, title));
        }
        PlanEditOutcome::Resumed => out.line(tr!("{file}: \"{title}\" is no longer skipped.", file, title)),
        PlanEditOutcome::Moved(by) => {
            let places = words::counted(u64::from(by.unsigned_abs()), "place");
            out.line(if by > 0 {
                tr!("{file}: \"{title}\" moved {places} earlier.", file, title, places)
            } else {
                tr!("{file}: \"{title}\" moved {places} later.", file, title, places)
            });
        }
    }
    if let Some(loop_view) = loops::find_running(&work.root, &work.id) {
        out.line(tr!("The running loop reads this change {when}.", when = loop_view.next_boundary()));
    }
    Ok(())
}

/// Adds the plan items that can be named instead.
fn with_items(refused: PlanEditError, task: &Task) -> Failure {
    const MAX_LISTED: usize = 20;
    let PlanEditError::Unknown(what) = refused else { return refused.into() };
    let mut what = sanitize::line(what.fact());
    for item in task.plan.iter().filter(|it| !it.done).take(MAX_LISTED) {
        let _ = write!(what, "\n  {}  {}", sanitize::line(&item.id), sanitize::line(&item.title));
    }
    let hint = match task.plan.iter().filter(|it| !it.done).count() {
        0 => tr!("The plan of this task has no open item."),
        1..=MAX_LISTED => tr!("Name one of these, by its id or its title."),
        _ => tr!("Name one by its id or its title; these are the first open ones."),
    };
    Failure::usage(what).hint(hint)
}
