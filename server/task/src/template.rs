//! Detects template text that `init` and the set-ups of other tools write as a placeholder. A task that still contains
//! it does not describe any work.

use std::ops::Range;

use super::source::lines_of;

/// The heading of the task that `init` writes.
pub const TITLE: &str = "# Say in one line what should be done";

/// The text below it.
pub const DESCRIPTION: &str = "\
Describe here what should be different when the work is done: what you want, where it belongs, what must stay as
it is. The agent is given this whole file at the start of every iteration and remembers nothing else.";

/// Placeholders in the templates of other tools.
const PLACEHOLDERS: [&str; 4] =
    ["[YOUR PROJECT NAME]", "[YOUR PROJECT TYPE]", "[Your project name]", "[project-specific goal]"];

/// The first line that is still unedited.
pub(super) fn find_unedited_line(text: &str) -> Option<Range<usize>> {
    let placeholders: Vec<&str> = PLACEHOLDERS.into_iter().filter(|it| text.contains(it)).collect();
    let ours: Vec<&str> = TITLE.lines().chain(DESCRIPTION.lines()).collect();
    let mut at = 0;
    for line in lines_of(text) {
        let start = at;
        at += line.len();
        let trimmed = line.trim_start_matches('\u{feff}').trim();
        let is_ours = !trimmed.is_empty() && ours.contains(&trimmed);
        if is_ours || placeholders.iter().any(|it| trimmed.contains(it)) {
            let from = start + line.find(trimmed).unwrap_or_default();
            return Some(from..from + trimmed.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{DESCRIPTION, TITLE};
    use crate::{FindingCode, TaskDocument, parse_task};

    #[test]
    fn an_unedited_template_is_recognised() {
        let check = |text: &str, expect: Option<&str>| {
            let task = parse_task(&[TaskDocument { path: "PROMPT.md".to_owned(), text: text.to_owned() }]);
            let found = task.findings.iter().find(|it| it.code == FindingCode::Template);
            let place = found.map(|it| text.get(it.place.range.clone()).unwrap());
            assert_eq!(place, expect, "{text}");
            assert!(found.is_none_or(|it| it.code.blocks_start()));
        };
        let criteria = "## Done when\n\n- All tests pass: `$ cargo test`\n";
        check(&format!("{TITLE}\n\n{DESCRIPTION}\n\n{criteria}"), Some(TITLE));
        let first = DESCRIPTION.lines().next();
        check(&format!("# Mine\r\n\r\n{DESCRIPTION}\r\n\r\n{criteria}"), first);
        check(&format!("\u{feff}{TITLE}\n\nDo it.\n\n{criteria}"), Some(TITLE));
        check(&format!("  {TITLE}  \n\nDo it.\n\n{criteria}"), Some(TITLE));
        check(
            &format!("# Mine\n\nDo it.\n\n{}\n\n{criteria}", DESCRIPTION.lines().nth(1).unwrap()),
            DESCRIPTION.lines().nth(1),
        );
        check(&format!("# Say in one line what should be done better\n\nDo it.\n\n{criteria}"), None);
        check(
            "You are Ralph, working on a [YOUR PROJECT NAME] project.\n",
            Some("You are Ralph, working on a [YOUR PROJECT NAME] project."),
        );
        check("", None);
    }
}
