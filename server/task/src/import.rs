//! A task document made of a text that is none: a requirements document, the text of an issue.

use std::fmt::Write as _;

use super::{TaskDocument, parse_task};

/// What the text asks for, as a task. Its own criteria stay as they are; a text without any gets a list of them: its
/// open boxes, then `checks`, each a name and a command.
pub fn task_document(name: &str, text: &str, checks: &[(String, String)]) -> String {
    let text = text.trim_start_matches('\u{feff}').trim();
    let read = |path: &str| parse_task(&[TaskDocument { path: path.to_owned(), text: text.to_owned() }]);
    let task = read("PROMPT.md");
    let mut document = String::new();
    if task.title.is_empty() {
        let _ = write!(document, "# {name}\n\n");
    }
    let _ = writeln!(document, "{text}");
    if !task.criteria.is_empty() {
        return document;
    }
    document.push_str("\n## Done when\n\n");
    let open: Vec<String> = read("fix_plan.md")
        .plan
        .into_iter()
        .filter(|it| !it.done && it.blocking)
        .map(|it| it.title)
        .collect();
    for title in &open {
        let _ = writeln!(document, "- {title}");
    }
    for (name, command) in checks {
        let _ = writeln!(document, "- {name}: `$ {command}`");
    }
    if open.is_empty() && checks.is_empty() {
        document.push_str("- What is described above is done\n");
    }
    document
}

#[cfg(test)]
mod tests {
    use super::task_document;

    #[test]
    fn a_text_becomes_a_task_with_its_boxes_and_the_checks_of_the_project() {
        let checks = [("All tests pass".to_owned(), "cargo test".to_owned())];
        let check = |text: &str, expect: &str| assert_eq!(task_document("shop", text, &checks), expect);
        check(
            "# Shop\n\n- [ ] Sell\n- [x] Open\n",
            "# Shop\n\n- [ ] Sell\n- [x] Open\n\n## Done when\n\n- Sell\n- All tests pass: `$ cargo test`\n",
        );
        check(
            "It crashes on start.\n",
            "# shop\n\nIt crashes on start.\n\n## Done when\n\n- All tests pass: `$ cargo test`\n",
        );
        let own = "# Shop\n\n## Acceptance criteria\n\n- it sells: `exists sold`\n";
        check(own, own);
        let bare = task_document("shop", "Sell.", &[]);
        assert_eq!(bare, "# shop\n\nSell.\n\n## Done when\n\n- What is described above is done\n");
    }
}
