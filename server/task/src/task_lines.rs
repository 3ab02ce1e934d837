//! Reads task lists of other tools with one JSON object per line: tasks of a run, and issues of Beads. Each becomes a
//! plan item with the range of its title.

use std::collections::HashSet;

use jsonc_parser::ast::{Object, Value};
use loopkeeper_text::fold::folded;
use loopkeeper_text::tr;
use loopkeeper_text::truncate::shortened;

use super::kind::{DocumentKind, kind_of};
use super::outline::{NAME_CHARS, TaskOutline};
use super::{FindingCode, PlanItem, ids, prd};

/// Issues that are no work: containers of others, messages, and records of the tool itself.
const NO_WORK: [&str; 9] =
    ["epic", "message", "merge-request", "molecule", "gate", "agent", "role", "convoy", "event"];

/// `.ralph/agent/tasks.jsonl` and `.beads/issues.jsonl`: one task a line, with `title`, `status`, `priority`, and
/// `blocked_by` or `dependencies`.
pub(super) fn parse_lines(file: &str, text: &str) -> TaskOutline {
    let mut out = TaskOutline::new(file);
    let is_beads = kind_of(file) == Some(DocumentKind::BeadsIssues);
    let mut at = 0;
    let mut blocked = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim().trim_start_matches('\u{feff}');
        if trimmed.is_empty() {
            continue;
        }
        let from = start + line.trim_end().len() - trimmed.len();
        let parsed = prd::parse_json(trimmed).ok();
        let Some(task) = parsed.as_ref().and_then(|it| it.value.as_ref()?.as_object()) else {
            out.add_finding(
                FindingCode::BadValue,
                tr!("task list"),
                tr!("no task in this line"),
                from..from + trimmed.len(),
            );
            continue;
        };
        if is_beads && !is_work(task) {
            continue;
        }
        if let Some(item) = item_of_line(task, from, &out) {
            blocked.push(blockers_of(task));
            out.plan.push(item);
        }
    }
    let known: HashSet<String> = out.plan.iter().map(|it| it.id.clone()).collect();
    for (item, needs) in out.plan.iter_mut().zip(blocked) {
        // Tasks of an earlier run may be gone.
        item.depends_on = needs.into_iter().filter(|it| known.contains(it)).collect();
    }
    out
}

fn is_work(issue: &Object<'_>) -> bool {
    let is_no_work = issue.get_string("issue_type").is_some_and(|it| NO_WORK.contains(&&*it.value));
    let is_gone = issue.get_string("status").is_some_and(|it| ["tombstone", "pinned"].contains(&&*it.value));
    !is_no_work && !is_gone
}

/// The ids of the tasks that must be done before. Only dependencies that block count: not parents, not related issues.
fn blockers_of(task: &Object<'_>) -> Vec<String> {
    let list = |name: &str| task.get_array(name).map_or(&[][..], |it| it.elements.as_slice());
    let named = list("blocked_by").iter().filter_map(|it| Some(it.as_string_lit()?.value.to_string()));
    let blocking = list("dependencies").iter().filter_map(|it| {
        let dependency = it.as_object()?;
        let blocks = dependency.get_string("type").is_none_or(|it| it.value == "blocks");
        blocks.then(|| Some(dependency.get_string("depends_on_id")?.value.to_string()))?
    });
    named.chain(blocking).collect()
}

fn item_of_line(task: &Object<'_>, from: usize, out: &TaskOutline) -> Option<PlanItem> {
    let title = task.get_string("title").or_else(|| task.get_string("id"))?;
    let status = task.get_string("status").map_or("", |it| &*it.value);
    let inner = title.range.start + 1..title.range.end - 1;
    let range = if inner.len() == title.value.len() { inner } else { title.range.start..title.range.end };
    let priority = task.get_number("priority").and_then(|it| it.value.parse::<f64>().ok());
    let id = task.get("id").map(|it| &it.value);
    let is_skipped =
        matches!(task.get("skipped").map(|it| &it.value), Some(Value::BooleanLit(it)) if it.value);
    Some(PlanItem {
        id: match id {
            Some(Value::StringLit(id)) => id.value.to_string(),
            _ => ids::base_id(None, &[], &title.value),
        },
        title: shortened(&folded(&title.value), NAME_CHARS).into_owned(),
        done: prd::is_done_word(status),
        blocking: !is_skipped && !prd::is_postponed_word(status),
        place: out.place(range.start + from..range.end + from),
        priority: priority.map(|it| (it * 1_000.0).round() as i64),
        depends_on: Vec::new(),
        done_field: None,
        done_value: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{FindingCode, TaskDocument, parse_task};

    #[test]
    fn tasks_of_a_run_are_the_plan_of_the_prompt_beside_them() {
        let text = "{\"id\":\"t-1\",\"title\":\"Sell \\u00e9\",\"status\":\"open\",\"priority\":2,\"blocked_by\":[\"t-2\",\"gone\"]}\n\n  {\"id\":\"t-2\",\"title\":\"Count\",\"status\":\"closed\"}\r\nnone\n";
        let document = |path: &str, text: &str| TaskDocument { path: path.to_owned(), text: text.to_owned() };
        let task =
            parse_task(&[document("PROMPT.md", "# Shop\n"), document(".ralph/agent/tasks.jsonl", text)]);
        let items: Vec<_> = task
            .plan
            .iter()
            .map(|it| (it.done, it.depends_on.join(","), &text[it.place.range.clone()]))
            .collect();
        assert_eq!(items, [(false, "t-2".to_owned(), "\"Sell \\u00e9\""), (true, String::new(), "Count")]);
        let found: Vec<_> = task.findings.iter().map(|it| (it.code, &text[it.place.range.clone()])).collect();
        assert_eq!(found, [(FindingCode::BadValue, "none")]);
    }

    #[test]
    fn issues_of_beads_are_the_plan_of_the_prompt() {
        let text = "\u{feff}{\"id\":\"bd-1\",\"title\":\"Shop\",\"status\":\"open\",\"issue_type\":\"epic\"}\r\n{\"id\":\"bd-1.1\",\"title\":\"Séll\",\"status\":\"in_progress\",\"priority\":1,\"issue_type\":\"task\",\"dependencies\":[{\"issue_id\":\"bd-1.1\",\"depends_on_id\":\"bd-1\",\"type\":\"parent-child\"},{\"issue_id\":\"bd-1.1\",\"depends_on_id\":\"bd-1.2\",\"type\":\"blocks\"}]}\r\n{\"id\":\"bd-1.2\",\"title\":\"Open\",\"status\":\"closed\",\"issue_type\":\"feature\"}\n{\"id\":\"bd-2\",\"title\":\"Grow\",\"status\":\"deferred\"}\n{\"id\":\"bd-3\",\"title\":\"Gone\",\"status\":\"tombstone\"}\n";
        let document = |path: &str, text: &str| TaskDocument { path: path.to_owned(), text: text.to_owned() };
        let task = parse_task(&[document("PROMPT.md", "# Shop\n"), document(".beads/issues.jsonl", text)]);
        let items: Vec<_> = task
            .plan
            .iter()
            .map(|it| {
                (it.id.as_str(), it.done, it.blocking, it.depends_on.join(","), &text[it.place.range.clone()])
            })
            .collect();
        assert_eq!(
            items,
            [
                ("bd-1.1", false, true, "bd-1.2".to_owned(), "Séll"),
                ("bd-1.2", true, true, String::new(), "Open"),
                ("bd-2", false, false, String::new(), "Grow"),
            ]
        );
        assert_eq!(task.findings, []);
    }
}
