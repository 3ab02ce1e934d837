//! Finds placeholders that other tools fill in before an agent reads a prompt: `{{STORY_ID}}`, `{{ commands.tests }}`.
//! Braces that are merely mentioned (in code, or of a templating language) do not count.

use std::ops::Range;

use super::Task;
use super::kind::{DocumentKind, kind_of};
use super::source::lines_of;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// The name without its braces.
    pub name: &'a str,
    /// Range including the braces.
    pub range: Range<usize>,
    pub in_fence: bool,
}

/// Names for the next story of the plan.
pub const STORY_ID: [&str; 4] = ["STORY_ID", "TASK_ID", "taskId", "storyId"];
pub const STORY_TITLE: [&str; 4] = ["STORY_TITLE", "TASK_TITLE", "taskTitle", "storyTitle"];
pub const STORY_BLOCK: [&str; 2] = ["STORY_BLOCK", "STORY"];
pub const PLAN_PATH: [&str; 3] = ["PRD_PATH", "PLAN_PATH", "prdPath"];
pub const ITERATION: [&str; 3] = ["ITERATION", "iteration", "ralph.iteration"];
pub const MAX_ITERATIONS: &str = "ralph.max_iterations";
pub const CHECKS: [&str; 1] = ["QUALITY_GATES"];
/// Prefix of names from the front matter's `commands`.
pub const COMMANDS: &str = "commands.";

/// Prefix of names of checks, for their output.
pub const CHECK_OUTPUTS: &str = "checks.";
/// Prefix of names of contexts, likewise.
pub const CONTEXTS: &str = "contexts.";
/// Arguments of another tool's command line: empty here.
const ARGUMENTS: &str = "args.";
const NAME: &str = "ralph.name";

/// First parts of names with a dot; others belong to templating languages.
const NAMESPACES: [&str; 10] =
    ["commands", "contexts", "checks", "instructions", "args", "ralph", "task", "story", "prd", "plan"];

/// Everything in double braces on one line, in order: code and fences count as well.
pub(super) fn find_all(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in lines_of(text) {
        for (range, name) in braces(line) {
            found.push(Placeholder { name, range: at + range.start..at + range.end, in_fence: false });
        }
        at += line.len();
    }
    found
}

/// Pairs of double braces in a line, each with the name between them.
fn braces(line: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let open = from + line.get(from..)?.find("{{")?;
        let inside = open + 2;
        let close = inside + line.get(inside..)?.find("}}")?;
        from = close + 2;
        Some((open..from, line.get(inside..close)?.trim()))
    })
}

/// All placeholders, in order. A document without `{{` costs one search.
pub fn find_placeholders(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    if !text.contains("{{") {
        return found;
    }
    let mut at = 0;
    let mut fence: Option<&str> = None;
    for line in lines_of(text) {
        let start = at;
        at += line.len();
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|it| trimmed.starts_with(it));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => find_in_line(line, start, fence.is_some(), &mut found),
        }
    }
    found
}

fn find_in_line<'a>(line: &'a str, start: usize, in_fence: bool, found: &mut Vec<Placeholder<'a>>) {
    let (mut from, mut backticks) = (0, 0);
    for (range, name) in braces(line) {
        let before = line.get(from..range.start).unwrap_or_default();
        backticks += before.matches('`').count();
        let in_span = backticks % 2 == 1;
        let of_commands = command_name(name).is_some();
        if is_name(name) && !before.ends_with('$') && (of_commands || !in_fence && !in_span) {
            found.push(Placeholder { name, range: start + range.start..start + range.end, in_fence });
        }
        backticks += name.matches('`').count();
        from = range.end;
    }
}

fn is_name(name: &str) -> bool {
    let is_word = |it: &str| {
        it.starts_with(|char: char| char.is_ascii_alphabetic())
            && it.chars().all(|char| char.is_ascii_alphanumeric() || "_-".contains(char))
    };
    if let Some((scope, rest)) = name.split_once('.') {
        return NAMESPACES.contains(&scope) && is_word(rest);
    }
    let is_loud = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    is_word(name) && (name.len() > 1 && name.chars().all(is_loud) || known_names().any(|it| it == name))
}

fn known_names() -> impl Iterator<Item = &'static str> {
    let story = STORY_ID.into_iter().chain(STORY_TITLE).chain(STORY_BLOCK).chain(PLAN_PATH);
    story.chain(ITERATION).chain(CHECKS)
}

/// The name of the criterion whose output a placeholder stands for.
pub fn command_name(name: &str) -> Option<&str> {
    [COMMANDS, CHECK_OUTPUTS, CONTEXTS].into_iter().find_map(|it| name.strip_prefix(it))
}

/// Whether a file is a context, whose name can be that of a check too.
pub fn is_context(file: &str) -> bool {
    kind_of(file) == Some(DocumentKind::ContextFolder)
}

/// Whether a prompt of this task has a value for the placeholder.
pub(super) fn is_filled(name: &str, task: &Task) -> bool {
    if let Some(command) = command_name(name) {
        return task.criteria.iter().any(|it| it.name == command);
    }
    if ITERATION.contains(&name) || [MAX_ITERATIONS, NAME].contains(&name) || name.starts_with(ARGUMENTS) {
        return true;
    }
    if CHECKS.contains(&name) {
        return task.criteria.iter().any(|it| it.check.is_some());
    }
    !task.plan.is_empty() && known_names().any(|it| it == name)
}

#[cfg(test)]
mod tests {
    use super::find_placeholders;
    use crate::{FindingCode, TaskDocument, parse_task};

    #[test]
    fn only_what_other_tools_fill_in_is_a_placeholder() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<&str> = find_placeholders(text).into_iter().map(|it| it.name).collect();
            assert_eq!(found, expect, "{text}");
            assert!(find_placeholders(text).iter().all(|it| text[it.range.clone()].starts_with("{{")));
        };
        check("Work on {{STORY_ID}}: {{ STORY_TITLE }}.", &["STORY_ID", "STORY_TITLE"]);
        check("{{taskId}} {{ commands.tests }} {{ args.dir }}", &["taskId", "commands.tests", "args.dir"]);
        check("{{FOO_BAR}}", &["FOO_BAR"]);
        check("Replace `{{NAME}}` in the templates", &[]);
        check("${{ secrets.TOKEN }} ${{TOKEN}} {{ user.name }} {{ .Name }} {{name}} {{#if x}}", &[]);
        check("```\n{{STORY_ID}}\n{{ commands.tests }}\n```\n{{STORY_ID}}", &["commands.tests", "STORY_ID"]);
        check("{{STORY_ID", &[]);
        check("{{}} {{ }}", &[]);
    }

    #[test]
    fn unfilled_placeholders_prevent_a_start() {
        let check = |text: &str, plan: Option<&str>, expect: &[&str]| {
            let mut documents =
                vec![TaskDocument { path: "PROMPT_build.md".to_owned(), text: text.to_owned() }];
            let plan = plan.map(|it| TaskDocument { path: "prd.json".to_owned(), text: it.to_owned() });
            documents.extend(plan);
            let task = parse_task(&documents);
            let found = task.findings.iter().filter(|it| it.code == FindingCode::Template);
            let messages: Vec<&str> = found.map(|it| it.message.as_str()).collect();
            assert_eq!(messages, expect, "{text}");
        };
        let plan = r#"{"userStories":[{"id":"US-1","title":"A","passes":false}]}"#;
        let unknown = "task: `{{STORY_ID}}` is never replaced. Write its value.";
        check("Do {{STORY_ID}}.", None, &[unknown]);
        check("Do {{STORY_ID}}, read {{PRD_PATH}}.", Some(plan), &[]);
        check("Do {{RUN_ID}}.", Some(plan), &["task: `{{RUN_ID}}` is never replaced. Write its value."]);
        let checked = "---\ncommands:\n  - name: tests\n    run: make test\n---\n{{ checks.tests }}";
        check(checked, None, &[]);
        check("---\ncommands:\n  - name: tests\n    run: make test\n---\n{{ commands.tests }}", None, &[]);
        check(
            "{{ commands.tests }}",
            None,
            &["task: `{{commands.tests}}` is never replaced. Write its value."],
        );
    }
}
