//! Whole tasks, and what must hold for any text.

use super::{Document, inline, read};
use crate::task::{Check, FindingCode, Task};

fn task(path: &str, text: &str) -> Task {
    read(&[Document { path: path.to_owned(), text: text.to_owned() }])
}

#[test]
fn a_plain_task_is_read_whole() {
    let text = "# Fix the parser\n\nDo it.\n\n## Done when\n\n- Tests pass: `$ cargo test`\n- Docs are good\n\n\
                Output <promise>DONE</promise> when done.\n";
    let task = task("PROMPT.md", text);
    assert_eq!(task.title, "Fix the parser");
    assert_eq!(task.prompt, text);
    assert_eq!(task.promise.as_deref(), Some("DONE"));
    let names: Vec<&str> = task.criteria.iter().map(|criterion| criterion.name.as_str()).collect();
    assert_eq!(names, ["Tests pass", "Docs are good"]);
    assert_eq!(
        task.criteria[0].check,
        Some(Check::Command { command: "cargo test".to_owned(), expect: Vec::new() })
    );
    assert_eq!(task.criteria[1].check, None);
    assert_eq!(&text[task.criteria[0].place.range.clone()], "Tests pass: `$ cargo test`");
    assert_eq!(task.findings, []);
}

#[test]
fn a_typed_task_has_its_criteria() {
    let task =
        inline("Fix it", &["Tests: `$ cargo test`".to_owned(), "cargo test".to_owned(), " ".to_owned()]);
    assert_eq!(task.criteria.len(), 2);
    let codes: Vec<FindingCode> = task.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [FindingCode::BadValue]);
}
