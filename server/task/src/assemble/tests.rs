//! Whole tasks.

mod any_text;
mod identity;
mod languages;
mod other_tools;

use super::{TaskDocument, parse_inline_task, parse_task};
use crate::criterion::{Check, Criterion};
use crate::{FindingCode, Task};

fn documents(files: &[(&str, &str)]) -> Vec<TaskDocument> {
    let document =
        |&(path, text): &(&str, &str)| TaskDocument { path: path.to_owned(), text: text.to_owned() };
    files.iter().map(document).collect()
}

fn task(path: &str, text: &str) -> Task {
    parse_task(&documents(&[(path, text)]))
}

fn names(criteria: &[Criterion]) -> Vec<&str> {
    criteria.iter().map(|criterion| criterion.name.as_str()).collect()
}

#[test]
fn a_plain_task_is_read_whole() {
    let text = "# Fix the parser\n\nDo it.\n\n## Done when\n\n- Tests pass: `$ cargo test` (timeout 5m)\n- Docs are good\n\n\
                Output <promise>DONE</promise> when done.\n";
    let task = task("PROMPT.md", text);
    assert_eq!(task.title, "Fix the parser");
    assert_eq!(task.prompt, text);
    assert_eq!(task.promise.as_deref(), Some("DONE"));
    assert_eq!(names(&task.criteria), ["Tests pass", "Docs are good"]);
    let first = &task.criteria[0];
    assert_eq!(first.check, Some(Check::Command { command: "cargo test".to_owned(), expect: Vec::new() }));
    assert_eq!((first.required, first.timeout_ms), (true, Some(300_000)));
    assert_eq!(task.criteria[1].check, None);
    assert_eq!(&text[first.place.range.clone()], "Tests pass: `$ cargo test` (timeout 5m)");
    assert_eq!(task.findings, []);
}

#[test]
fn plans_are_read_after_their_prompt() {
    let task = parse_task(&documents(&[
        ("a/PROMPT.md", "# Title\n\n## Done when\n\n- A: `$ a`\n"),
        (
            "a/prd.json",
            r#"{"project": "P", "userStories": [{"id": "S", "title": "Story", "acceptanceCriteria": ["B: `$ b`"]}]}"#,
        ),
        (
            "a/fix_plan.md",
            "# Plan\n\n- [ ] C: `$ c`\n- [x] D\n\n## Later\n\n- [ ] E\n\nPrint <promise>P</promise>\n",
        ),
    ]));
    assert_eq!(task.title, "Title");
    assert_eq!(names(&task.criteria), ["A", "B", "C"]);
    let items: Vec<Option<&str>> =
        task.criteria.iter().map(|criterion| criterion.plan_item.as_deref()).collect();
    assert_eq!(items, [None, Some("S"), Some(task.plan[1].id.as_str())]);
    let plan: Vec<(&str, bool, bool)> =
        task.plan.iter().map(|item| (item.title.as_str(), item.done, item.blocking)).collect();
    assert_eq!(plan, [("Story", false, true), ("C", false, true), ("D", true, true), ("E", false, false)]);
    let files: Vec<&str> = task.plan.iter().map(|item| item.place.file.as_str()).collect();
    assert_eq!(files, ["a/prd.json", "a/fix_plan.md", "a/fix_plan.md", "a/fix_plan.md"]);
    assert_eq!(task.promise.as_deref(), Some("P"));
}

#[test]
fn a_plan_alone_is_prompt_and_plan() {
    let text = r#"{"name": "Shop", "userStories": [{"id": "S", "title": "Story", "passes": true}]}"#;
    let story = task("prd.json", text);
    assert_eq!((story.title.as_str(), story.prompt.as_str(), story.plan.len()), ("Shop", text, 1));
    assert_eq!(task("plans/shop.json", text).plan.len(), 1);
    let plan = task("docs/IMPLEMENTATION_PLAN.md", "# Plan\n\n- [ ] a\n");
    assert_eq!((plan.title.as_str(), plan.plan.len(), plan.findings.len()), ("Plan", 1, 0));
}

#[test]
fn an_inline_task_has_its_criteria() {
    let criteria = ["Tests: `$ cargo test`", "Docs are good", "cargo test `", " "].map(str::to_owned);
    let task = parse_inline_task("Fix it", &criteria);
    assert_eq!(names(&task.criteria), ["Tests", "Docs are good", "cargo test `"]);
    assert_eq!(task.prompt, "Fix it");
    let found: Vec<(FindingCode, &str)> =
        task.findings.iter().map(|finding| (finding.code, finding.place.file.as_str())).collect();
    assert_eq!(found, [(FindingCode::BadCheck, "--criterion"), (FindingCode::BadValue, "--criterion")]);
    // A prompt can contain its own criteria.
    let task = parse_inline_task("Fix it.\nDone when:\n- a: `$ x`\n", &["b".to_owned()]);
    assert_eq!(names(&task.criteria), ["a", "b"]);
}

#[test]
fn an_empty_task_is_reported() {
    let check = |path: &str, text: &str, expect: &str| {
        let task = task(path, text);
        let messages: Vec<&str> = task.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, [expect], "for {path} {text:?}");
    };
    let nothing = "task: no criteria, so nothing is checked. Add a list under \"Done when\".";
    check("PROMPT.md", "# Do it\n", nothing);
    check("fix_plan.md", "# Plan\n\n- no box\n", nothing);
    let empty = "story file: `userStories` is empty, so there is nothing to do. Add one.";
    check("prd.json", "{\"userStories\": []}", empty);
    check("PROMPT.md", "", "document: empty. Describe what should be done.");
    check("PROMPT.md", "\u{feff} \r\n", "document: empty. Describe what should be done.");
    check("PROMPT.md", "\u{1}\0\u{2}", "document: a NUL byte, so this is not a text file.");
    assert_eq!(parse_inline_task("Do it", &[]).findings[0].message, nothing);
    assert_eq!(parse_inline_task("", &[]).findings[0].code, FindingCode::Syntax);
}

#[test]
fn an_empty_plan_beside_a_prompt_is_not_an_error() {
    let check = |plan: &str, count: usize| {
        let prompt = TaskDocument {
            path: "PROMPT.md".to_owned(),
            text: "# T\n\n## Done when\n\n- a: `exists a`\n".to_owned(),
        };
        let plan = TaskDocument { path: plan.to_owned(), text: "\n".to_owned() };
        assert_eq!(parse_task(&[prompt, plan.clone()]).findings.len(), count, "{}", plan.path);
        assert_ne!(parse_task(&[plan]).findings.len(), 0);
    };
    check("fix_plan.md", 0);
    check("@fix_plan.md", 0);
    check("IMPLEMENTATION_PLAN.md", 0);
    check(".ralph/ralph-tasks.md", 0);
    check("prd.json", 1);
}

/// Applying an offered fix must produce the intended text.
#[test]
fn offered_fixes_remove_their_finding() {
    let check = |text: &str, names: &[&str], checks: usize| {
        let mut text = text.to_owned();
        for _ in 0..4 {
            let Some(finding) =
                task("PROMPT.md", &text).findings.into_iter().find(|finding| finding.fix.is_some())
            else {
                break;
            };
            text.replace_range(finding.place.range, &finding.fix.unwrap());
        }
        let task = task("PROMPT.md", &text);
        assert_eq!(task.findings, [], "in {text}");
        assert_eq!(self::names(&task.criteria), names, "in {text}");
        assert_eq!(
            task.criteria.iter().filter(|criterion| criterion.check.is_some()).count(),
            checks,
            "in {text}"
        );
    };
    check("## Done when\n\n- Tests: `cargo test`\n", &["Tests"], 1);
    check("## Done when\n\n- Lint: `` npx eslint `ls` ``.\n", &["Lint"], 1);
    check("## Done when\n\n- $ cargo test\n", &["cargo test"], 1);
    check("## Validation commands\n\n- cargo test\n", &["cargo test"], 1);
    check("x\nDone when: - a: `cargo test` - b\n\nMore\n", &["a", "b"], 1);
    check("**Done when:** - a: `$ x` - b\n", &["a", "b"], 1);
    check("**Success criteria**\n\n- a: `$ x`\n", &["a"], 1);
    check("Done when:\n- a\n\nPrint <<promise>>X<</promise>>\n", &["a"], 0);
}
