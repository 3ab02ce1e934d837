//! Converts a text to a task document: a requirements document, the text of an issue, the log of a failed run.

mod ci_log;
mod issue;

use std::fmt::Write as _;

use loopkeeper_text::language;

use super::{TaskDocument, parse_task};

/// What the text asks for, as a task. Its own criteria stay as they are; a text without any gets a list of them: its
/// open boxes, or what an issue expects, then `checks`, each a name and a command. A log of continuous integration gets
/// the command that failed.
pub fn task_document(name: &str, text: &str, checks: &[(String, String)]) -> String {
    if ci_log::is_log(text) {
        return ci_log::document(text, checks);
    }
    let text = issue::with_title(text.trim_start_matches('\u{feff}').trim());
    let text = text.trim();
    let read = |path: &str| parse_task(&[TaskDocument { path: path.to_owned(), text: text.to_owned() }]);
    let task = read("PROMPT.md");
    let mut document = String::new();
    if task.title.is_empty() {
        let _ = write!(document, "# {name}\n\n");
    }
    let _ = writeln!(document, "{text}");
    if !task.criteria.is_empty() {
        // Otherwise nothing that it asks for could be verified.
        if task.criteria.iter().all(|it| it.check.is_none()) && !checks.is_empty() {
            let _ = write!(document, "\n## {}\n\n", heading(text));
            write_checks(&mut document, checks);
        }
        return document;
    }
    let _ = write!(document, "\n## {}\n\n", heading(text));
    let open: Vec<String> = read("fix_plan.md")
        .plan
        .into_iter()
        .filter(|it| !it.done && it.blocking)
        .map(|it| it.title)
        .collect();
    for title in &open {
        let _ = writeln!(document, "- {title}");
    }
    let (is_fault, expected) = issue::expectations(text);
    if is_fault {
        document.push_str("- A test reproduces the fault, and passes now\n");
    }
    let mut required = Vec::new();
    if open.is_empty() && expected.is_empty() {
        required = issue::requirements(text);
        required.extend(issue::scenarios(text));
    }
    for item in expected.iter().chain(&required) {
        let _ = writeln!(document, "- {item}");
    }
    write_checks(&mut document, checks);
    if open.is_empty() && checks.is_empty() && required.is_empty() && !is_fault {
        document.push_str("- What is described above is done\n");
    }
    document
}

/// The heading of the criteria, in the language of the text.
fn heading(text: &str) -> &'static str {
    if language::is_chinese(text) { "完成标准" } else { "Done when" }
}

fn write_checks(document: &mut String, checks: &[(String, String)]) {
    let is_chinese = language::is_chinese(document);
    for (name, command) in checks {
        let name = language::chinese().get(name).filter(|_| is_chinese).unwrap_or(name);
        let _ = writeln!(document, "- {name}: `$ {command}`");
    }
}

/// Converts a log to a task, also one that [`task_document`] would not recognise as a log.
pub fn log_document(text: &str, checks: &[(String, String)]) -> String {
    ci_log::document(text, checks)
}

/// A name for the file of a task document, from its title: `cart-loses-items`.
pub fn file_stem(document: &str) -> String {
    const MAX_WORDS: usize = 6;
    const MAX_CHARS: usize = 60;
    const STOP_WORDS: [&str; 14] =
        ["a", "an", "the", "and", "or", "of", "to", "in", "on", "for", "with", "by", "from", "at"];
    let title = document.lines().find_map(|it| it.strip_prefix("# ")).unwrap_or_default().to_lowercase();
    let words = title.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let mut words: Vec<&str> = words.take(MAX_WORDS).collect();
    // A name does not end in the middle of a phrase.
    while words.len() > 1 && words.last().is_some_and(|it| STOP_WORDS.contains(it)) {
        words.pop();
    }
    let stem = words.join("-");
    let stem: String = stem.chars().take(MAX_CHARS).collect();
    match stem.trim_end_matches('-') {
        "" => "imported".to_owned(),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{file_stem, task_document};

    #[test]
    fn an_issue_becomes_a_task_with_what_it_expects() {
        let issue = "title:\tCart loses items\nstate:\tOPEN\n--\n### Steps to reproduce\n\n1. Add two\n\n### Expected behavior\n\nBoth items stay.\n";
        let task = task_document("issue", issue, &[("All tests pass".to_owned(), "npm test".to_owned())]);
        assert!(task.starts_with("# Cart loses items\n\n### Steps"), "{task}");
        let ends = "## Done when\n\n- A test reproduces the fault, and passes now\n- Both items stay.\n- All tests pass: `$ npm test`\n";
        assert!(task.ends_with(ends), "{task}");
        assert_eq!(file_stem(&task), "cart-loses-items");
        assert_eq!(
            file_stem("# Subtract two numbers and refuse a negative\n"),
            "subtract-two-numbers-and-refuse"
        );
        assert_eq!(file_stem("# The\n"), "the");
        let long_word = "a".repeat(59);
        assert_eq!(file_stem(&format!("# {long_word} next\n")), long_word);
        assert_eq!(
            (file_stem("# 购物车 丢失!\n"), file_stem("x")),
            ("购物车-丢失".to_owned(), "imported".to_owned())
        );
    }

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
        let prose = "# Shop\n\n## Acceptance criteria\n\n- it sells\n";
        check(prose, &format!("{prose}\n## Done when\n\n- All tests pass: `$ cargo test`\n"));
        check(
            "# Shop\n\n## Requirements\n\n- Sell things\n",
            "# Shop\n\n## Requirements\n\n- Sell things\n\n## Done when\n\n- Sell things\n- All tests pass: `$ cargo test`\n",
        );
        let tests = [("All tests pass".to_owned(), "make".to_owned())];
        let chinese = task_document("shop", "# 商店\n\n卖东西。\n", &tests);
        assert_eq!(chinese, "# 商店\n\n卖东西。\n\n## 完成标准\n\n- 测试全部通过: `$ make`\n");
        let bare = task_document("shop", "Sell.", &[]);
        assert_eq!(bare, "# shop\n\nSell.\n\n## Done when\n\n- What is described above is done\n");
    }
}
