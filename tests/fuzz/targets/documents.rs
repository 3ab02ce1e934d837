//! Task documents and queues: every range lies in its document, on boundaries of characters.

use loopkeeper_fuzz::Fuzzer;
use loopkeeper_task::queue::parse_queue;
use loopkeeper_task::{TaskDocument, parse_task};
use loopkeeper_text::DocumentRange;

const WORDS: &[&str] = &[
    "- ",
    "* ",
    "1. ",
    "    ",
    "\n\n",
    "`",
    "```\n",
    "~~~\n",
    "$ ",
    "`$ make`",
    "`exists a`",
    "`has \"x\" y`",
    "`lacks /(/ z`",
    "judge ",
    "GET http://localhost:1/",
    "`>= 3`",
    "(optional)",
    "(timeout 10m)",
    "(stage 2)",
    "- [ ] ",
    "- [x] ",
    "[a](b.md)",
    "(after a)",
    "# ",
    "## Done when\n",
    "Completion criteria:\n",
    "> ",
    "<!--",
    "-->",
    "<b>",
    "|---|",
    "---\n",
    "agent: x\n",
    "**",
    "_",
    "&amp;",
    "![",
    "](",
    "<promise>",
    "</promise>",
    "OBJECTIVE:",
    "CONTEXT:\n",
    "{\"userStories\":[",
    "\"acceptanceCriteria\":[",
    "]}",
    "//",
    "/*",
    "[[",
    "\t",
    "tasks:\n",
    "\n  - title: ",
    "\n    subtasks:\n      - ",
    "status: done",
    "deps: [",
    "{\"features\":[",
    "\"status\":\"todo\"",
    "\"dependencies\":[",
    "### Task 1: ",
    "| Task | Status |\n|---|---|\n",
];

/// One name for each reader of documents.
const PATHS: [&str; 17] = [
    "PROMPT.md",
    "fix_plan.md",
    "prd.json",
    "feature_list.json",
    "tasks.yaml",
    ".ralph/tasks.yml",
    ".ralph/tasks.json",
    ".ralph/agent/tasks.jsonl",
    ".beads/issues.jsonl",
    "PRD.md",
    "docs/plans/a.md",
    "ralph.yml",
    ".ralph/ralph-loop.state.json",
    ".ralphrc",
    ".ralph/config.jsonc",
    ".ralph.toml",
    ".ralphify/checks/a/CHECK.md",
];

fn fuzzer() -> Fuzzer {
    Fuzzer::new("documents", WORDS, &["grades", "lint"])
}

fn read_as(path: &str, text: &str) {
    let document = TaskDocument { path: path.to_owned(), text: text.to_owned() };
    let task = parse_task(std::slice::from_ref(&document));
    let is_sound = |it: &DocumentRange| it.file != path || text.get(it.range.clone()).is_some();
    assert!(task.criteria.iter().all(|it| is_sound(&it.place)));
    assert!(task.plan.iter().all(|it| is_sound(&it.place)));
    assert!(task.findings.iter().all(|it| is_sound(&it.place)));
    assert!(task.context.iter().all(|it| is_sound(&it.place)));
    assert!(task.settings.iter().all(|it| is_sound(&it.place)));
    let ids: std::collections::BTreeSet<_> = task.criteria.iter().map(|it| &it.id).collect();
    assert_eq!(ids.len(), task.criteria.len(), "ids are unique");
}

fn read_queue(text: &str) {
    let queue = parse_queue("QUEUE.md", text);
    assert!(queue.entries.iter().all(|it| text.get(it.place.range.clone()).is_some()));
    assert!(queue.findings.iter().all(|it| text.get(it.place.range.clone()).is_some()));
    assert!(queue.order().len() <= queue.entries.len());
}

fn read(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for path in PATHS {
        read_as(path, &text);
    }
    read_queue(&text);
}

#[test]
fn any_text_is_read() {
    fuzzer().run(read);
}

#[test]
fn the_time_is_linear_for_markdown() {
    fuzzer().run_growing(|input| read_as("PROMPT.md", &String::from_utf8_lossy(input)));
}

#[test]
fn the_time_is_linear_for_plans() {
    fuzzer().run_growing(|input| read_as("fix_plan.md", &String::from_utf8_lossy(input)));
}

#[test]
fn the_time_is_linear_for_stories() {
    fuzzer().run_growing(|input| read_as("prd.json", &String::from_utf8_lossy(input)));
}

#[test]
fn the_time_is_linear_for_tasks_in_yaml() {
    fuzzer().run_growing(|input| read_as("tasks.yaml", &String::from_utf8_lossy(input)));
}

#[test]
fn the_time_is_linear_for_issues() {
    fuzzer().run_growing(|input| read_as(".beads/issues.jsonl", &String::from_utf8_lossy(input)));
}

#[test]
fn the_time_is_linear_for_queues() {
    fuzzer().run_growing(|input| read_queue(&String::from_utf8_lossy(input)));
}
