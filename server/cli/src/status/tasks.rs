//! Lists the tasks of the work tree, below its loops.

use crate::failure;
use crate::out::Ui;
use crate::render::{BOLD, DIM};
use loopkeeper_operations::resolved_task::MAX_LISTED;
use loopkeeper_operations::tasks::{self, TaskSummary};
use loopkeeper_text::clauses;
use loopkeeper_text::tr;

/// The tasks of this work tree. Errors become a warning, because the loops are still worth showing.
pub(super) fn list_here() -> Vec<TaskSummary> {
    tasks::list_tasks().unwrap_or_else(|problem| {
        failure::warn(problem.message.fact());
        Vec::new()
    })
}

pub(super) fn list(tasks: &[TaskSummary], out: &mut Ui) {
    if tasks.is_empty() {
        return;
    }
    out.line(format_args!("{BOLD}{}{BOLD:#}", tr!("Tasks here")));
    for task in tasks.iter().take(MAX_LISTED) {
        out.line(format_args!("  {}  {DIM}{}{DIM:#}", task.id, facts(task)));
    }
    if let Some(more) = tasks.len().checked_sub(MAX_LISTED).filter(|it| *it > 0) {
        out.line(format_args!("  {DIM}{}{DIM:#}", tr!("and {more} more", more)));
    }
}

/// `Parse dates, 4 criteria, 1 optional, 2 of 5 items done`
fn facts(task: &TaskSummary) -> String {
    if let Some(problem) = &task.problem {
        return problem.clone();
    }
    let title = Some(task.title.clone()).filter(|it| !it.is_empty());
    let criteria = match task.required + task.optional {
        0 => tr!("no criteria").to_owned(),
        1 => tr!("1 criterion").to_owned(),
        count => tr!("{count} criteria", count),
    };
    let optional = (task.optional > 0).then(|| tr!("{optional} optional", optional = task.optional));
    let plan = task.plan.map(|it| tr!("{done} of {total} items done", done = it.done, total = it.total));
    clauses::join_with_commas(title.into_iter().chain([criteria]).chain(optional).chain(plan))
}
