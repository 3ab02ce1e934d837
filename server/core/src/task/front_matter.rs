//! Front matter of a prompt document: `test_command` and `criteria`, where users of other tools write them. Every
//! other key is the document's own business; no YAML beyond lines of keys and lists.

use std::ops::Range;

use super::grammar::Mode;
use super::item::{Inline, Origin as Bytes};
use super::outline::{Origin, Outline};
use super::prd;
use super::source::front_matter_end;

pub(super) fn read(text: &str, out: &mut Outline) {
    let end = front_matter_end(text);
    let mut at = 0;
    let mut listing = false;
    for line in text.get(..end).unwrap_or_default().split_inclusive('\n') {
        let range = at..at + line.trim_end().len();
        at += line.len();
        let line = line.trim_end();
        if let Some(value) = value_of(line, "test_command") {
            command(out, value, &range);
        } else if let Some(value) = value_of(line, "criteria") {
            listing = value.is_empty();
            inline_list(value).for_each(|it| criterion(out, it, &range));
        } else if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| listing) {
            criterion(out, item, &range);
        } else if !line.is_empty() && !line.starts_with([' ', '#']) {
            listing = false;
        }
    }
}

fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.trim_start().strip_prefix(':').map(str::trim)
}

/// `[one, "two"]`, or one value alone.
fn inline_list(value: &str) -> impl Iterator<Item = &str> {
    let inner = value.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let parts: Vec<&str> = inner.map_or_else(|| vec![value], |it| it.split(',').collect());
    parts.into_iter().map(str::trim).filter(|it| !it.is_empty())
}

fn criterion(out: &mut Outline, value: &str, line: &Range<usize>) {
    if unquoted(value).starts_with("$ ") {
        return command(out, value, line);
    }
    let text = unquoted(value);
    if !text.is_empty() {
        out.add_criterion(
            &Inline::of_plain(&text, &Bytes::Whole(line.clone())),
            Mode::Criterion,
            Origin::default(),
        );
    }
}

fn command(out: &mut Outline, value: &str, line: &Range<usize>) {
    let text = unquoted(value);
    if !text.is_empty() {
        let inline = Inline::of_plain(&text, &Bytes::Whole(line.clone()));
        out.add_item(prd::command_item(&text, &inline), line.clone(), Origin::default());
    }
}

/// A value as YAML reads it: quotes taken off, a comment behind a bare one left out.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    if let Some(inner) = value.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        return inner.replace("\\\"", "\"").replace("\\\\", "\\");
    }
    if let Some(inner) = value.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    value.split(" #").next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{Check, Document, read};

    #[track_caller]
    fn check(front: &str, expect: &[(&str, Option<&str>)]) {
        let text = format!("---\n{front}\n---\n# Title\n\nDo it.\n");
        let task = read(&[Document { path: "PROMPT.md".to_owned(), text }]);
        let found: Vec<(String, Option<String>)> = task
            .criteria
            .iter()
            .map(|it| {
                let command = it.check.as_ref().map(|check| match check {
                    Check::Command { command, .. } => command.clone(),
                    other => format!("{other:?}"),
                });
                (it.name.clone(), command)
            })
            .collect();
        let expect: Vec<(String, Option<String>)> =
            expect.iter().map(|(name, check)| ((*name).to_owned(), check.map(str::to_owned))).collect();
        assert_eq!(found, expect, "{front}");
    }

    #[test]
    fn what_other_tools_write() {
        check("test_command: npm test", &[("npm test", Some("npm test"))]);
        check(
            "task: x\ntest_command: \"cargo test -- --quiet\"  ",
            &[("cargo test -- --quiet", Some("cargo test -- --quiet"))],
        );
        check("test_command: 'make test' ", &[("make test", Some("make test"))]);
        check("test_command: make test # all of them", &[("make test", Some("make test"))]);
        check("test_command:", &[]);
        check("title: test_command: x", &[]);
        check(
            "criteria:\n  - \"All pass: `$ npm test`\"\n  - It reads well\n  - $ make lint\nagent: mine\nlist:\n  - no criterion",
            &[("All pass", Some("npm test")), ("It reads well", None), ("make lint", Some("make lint"))],
        );
        check("criteria: [\"One: `$ a`\", two]", &[("One", Some("a")), ("two", None)]);
    }
}
