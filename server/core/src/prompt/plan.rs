//! The section on the plan: its open items, in the order in which they should be done.

use std::fmt::Write as _;

use loopkeeper_task::{DocumentKind, PlanItem, ids, is_story_file, kind_of};

use super::markdown::{code_span, short_line, single_line};

const MAX_OPEN_ITEMS: usize = 5;

/// The section of the prompt.
pub(super) fn write_section(out: &mut String, plan: &[PlanItem]) {
    if plan.is_empty() {
        return;
    }
    let open = open_items(plan);
    let _ = writeln!(out, "## The plan: {} of {} done\n", plan.len() - open.len(), plan.len());
    write_duties(out, plan);
    // If only their places in the document order the items, the agent may choose.
    let ordered = plan.iter().any(|it| it.priority.is_some() || !it.depends_on.is_empty());
    for (at, item) in open.iter().take(MAX_OPEN_ITEMS).enumerate() {
        let waits = waits_for(plan, item);
        let is_next = at == 0 && ordered && item.blocking && waits.is_empty();
        let label = if is_next { "next" } else { "open" };
        let optional = if item.blocking { "" } else { " (optional)" };
        let after = if waits.is_empty() { String::new() } else { format!(", after {}", waits.join(", ")) };
        let _ = writeln!(out, "- {label}: {}{optional}{after}", plan_item(item));
    }
    if open.len() > MAX_OPEN_ITEMS {
        let _ = writeln!(out, "- and {} more", open.len() - MAX_OPEN_ITEMS);
    }
    out.push('\n');
}

/// Tells the agent to tick items, in which file, and what a tick means.
fn write_duties(out: &mut String, plan: &[PlanItem]) {
    let mut files: Vec<&str> =
        plan.iter().map(|it| it.place.file.as_str()).filter(|it| !it.is_empty()).collect();
    files.sort_unstable();
    files.dedup();
    for file in &files {
        let path = code_span(&single_line(file));
        let mut items = plan.iter().filter(|it| it.place.file == *file);
        let written = items.clone().find_map(written_done);
        let of_kind = || kind_of(file).and_then(DocumentKind::done_value);
        let done = written.or_else(of_kind).or_else(|| is_story_file(file).then_some(("passes", "true")));
        let _ = if kind_of(file) == Some(DocumentKind::BeadsIssues) {
            writeln!(
                out,
                "Its issues are in {path}, which Beads writes: once all that an issue asks for holds, close it with \
                 `bd close ID` (`br close ID`), see that the file says so, and edit nothing there by hand. A closed \
                 issue says that it is done; the checks decide whether that is so."
            )
        } else if let Some((field, value)) = done {
            let value = items.find_map(|it| it.done_value.as_deref()).unwrap_or(value);
            writeln!(
                out,
                "Its stories are in {path}, and you keep that file up to date: once all that a story asks for holds, \
                 set its `{field}` to `{value}` there and change nothing else of it. `{field}` says that the story is \
                 done; the checks decide whether that is so."
            )
        } else {
            writeln!(
                out,
                "Its boxes are in {path}, and you keep that file up to date: once what a box asks for is done, tick \
                 it there (`[x]`); in a table, set its status."
            )
        };
    }
    if !files.is_empty() {
        out.push('\n');
    }
}

/// The field that marks a story as done, and its value, if the item's file has another field than usual.
fn written_done(item: &PlanItem) -> Option<(&'static str, &'static str)> {
    match item.done_field.as_deref()? {
        "status" => Some(("status", "\"done\"")),
        "completed" => Some(("completed", "true")),
        _ => Some(("passes", "true")),
    }
}

/// A story with its id, by which its file knows it. Derived ids mean nothing outside loopkeeper.
pub fn plan_item(item: &PlanItem) -> String {
    if is_story_file(&item.place.file) && !ids::is_made(&item.id) && item.id != item.title {
        format!("{}: {}", short_line(&item.id), short_line(&item.title))
    } else {
        short_line(&item.title)
    }
}

/// The open items: blocking ones first, then those without open dependencies, then by priority and position.
pub fn open_items(plan: &[PlanItem]) -> Vec<&PlanItem> {
    let mut open: Vec<&PlanItem> = plan.iter().filter(|it| !it.done).collect();
    open.sort_by_cached_key(|it| {
        (!it.blocking, !waits_for(plan, it).is_empty(), it.priority.is_none(), it.priority)
    });
    open
}

/// The dependencies of an item that are still open. A skipped item blocks no other.
fn waits_for(plan: &[PlanItem], item: &PlanItem) -> Vec<String> {
    let is_open = |id: &&String| plan.iter().any(|it| it.id == **id && !it.done && it.blocking);
    item.depends_on.iter().filter(is_open).map(|it| short_line(it)).collect()
}
