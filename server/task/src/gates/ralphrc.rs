//! Reads the `.ralphrc` of another tool: shell assignments, of which those with plain values are used.

use std::borrow::Cow;

use loopkeeper_text::shell_default::only_default;
use loopkeeper_text::tr;

use super::add_command;
use crate::FindingCode;
use crate::outline::TaskOutline;

/// The titles in `OPTIONAL_SECTIONS` of a `.ralphrc`.
pub(crate) fn optional_sections(text: &str) -> Option<Vec<String>> {
    let (_, titles, _) = plain_values(text).into_iter().rfind(|it| it.0 == "OPTIONAL_SECTIONS")?;
    Some(titles.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect())
}

/// Keys of a `.ralphrc`, each with its value and the offset of the value. Shell code is left out.
fn plain_values(text: &str) -> Vec<(&str, &str, usize)> {
    assigned_values(text).into_iter().filter(|(_, value, _)| !contains_code(value)).collect()
}

fn contains_code(value: &str) -> bool {
    value.contains(['`', '\n']) || value.contains("$(")
}

fn assigned_values(text: &str) -> Vec<(&str, &str, usize)> {
    let mut at = 0;
    let mut values = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((key, value)) = line.trim_start_matches('\u{feff}').split_once('=') else { continue };
        let key = key.trim().trim_start_matches("export ").trim();
        let inner = unquoted_value(value.trim());
        let inner = only_default(inner).unwrap_or(inner);
        if !inner.is_empty() {
            // Both are parts of one text: a search could find the same word in the key or in a comment.
            let offset = inner.as_ptr().addr() - line.as_ptr().addr();
            values.push((key, inner, start + offset));
        }
    }
    values
}

/// Removes the quotes around a value and the comment after it; quotes inside are part of the value.
pub(super) fn unquoted_value(written: &str) -> &str {
    let is_comment = |it: &str| it.trim().is_empty() || it.trim_start().starts_with('#');
    let Some(quote) = written.chars().next().filter(|it| ['"', '\''].contains(it)) else {
        return written.split_once(" #").map_or(written, |(value, _)| value.trim_end());
    };
    let inner = written.get(1..).unwrap_or_default();
    let ends = inner.match_indices(quote).map(|(at, _)| inner.split_at(at));
    let mut closed = ends.filter(|(value, _)| quote == '\'' || !value.ends_with('\\'));
    closed.find(|(_, rest)| is_comment(rest.get(1..).unwrap_or_default())).map_or(written, |(value, _)| value)
}

/// `TEST_COMMAND="npm test"`, `QUALITY_GATES="a;b"`. They are optional unless `QUALITY_GATE_MODE` makes them block.
pub(super) fn add_commands(text: &str, out: &mut TaskOutline) {
    let values = plain_values(text);
    // As in a shell, the last one counts.
    let of = |key: &str| values.iter().rfind(|it| it.0 == key);
    let mode = of("QUALITY_GATE_MODE").map_or("warn", |it| it.1);
    let timeout =
        of("QUALITY_GATE_TIMEOUT").and_then(|it| it.1.parse::<u64>().ok()).map(|it| it.saturating_mul(1000));
    report_code(text, mode != "warn", out);
    let before = out.criteria.len();
    if let Some((_, command, at)) = of("TEST_COMMAND") {
        let range = *at..at + command.len();
        add_command(out, "The tests pass", &without_escapes(text, *at, command), range, timeout);
    }
    if let Some((_, commands, at)) = of("QUALITY_GATES") {
        let mut offset = *at;
        for command in commands.split(';') {
            let blank = command.len() - command.trim_start().len();
            let trimmed = command.trim();
            let start = offset + blank;
            let shown = without_escapes(text, *at, trimmed);
            add_command(out, &shown, &shown, start..start + trimmed.len(), timeout);
            offset += command.len() + 1;
        }
    }
    for draft in out.criteria.iter_mut().skip(before) {
        draft.criterion.required = mode != "warn";
    }
}

/// Reports commands with a substitution, which the other tool evaluates when it reads the file.
fn report_code(text: &str, is_required: bool, out: &mut TaskOutline) {
    let values = assigned_values(text);
    for key in ["TEST_COMMAND", "QUALITY_GATES"] {
        let Some((_, value, at)) = values.iter().rfind(|it| it.0 == key && contains_code(it.1)) else {
            continue;
        };
        let code = if is_required { FindingCode::Syntax } else { FindingCode::BadValue };
        let fact = tr!("shell code in the value is not evaluated. Write the command");
        out.add_finding(code, key, fact, *at..at + value.len());
    }
}

/// The value as a shell reads it: in double quotes a backslash escapes quotes, dollars, backticks and itself.
fn without_escapes<'a>(text: &str, at: usize, value: &'a str) -> Cow<'a, str> {
    let is_quoted = at.checked_sub(1).and_then(|it| text.as_bytes().get(it)) == Some(&b'"');
    if !is_quoted || !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut unescaped = String::with_capacity(value.len());
    let mut chars = value.chars().peekable();
    while let Some(char) = chars.next() {
        let escaped = chars.next_if(|it| char == '\\' && "\"\\$`".contains(*it));
        unescaped.push(escaped.unwrap_or(char));
    }
    Cow::Owned(unescaped)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{commands, document, owned};
    use crate::{FindingCode, parse_task};

    #[test]
    fn the_commands_of_a_ralphrc_are_criteria() {
        let rc = "# x\nTEST_COMMAND=\"npm test\"\nQUALITY_GATES=\"npm run lint; npx tsc\"\nQUALITY_GATE_MODE=block\n";
        assert_eq!(
            commands(".ralph/.ralphrc", rc),
            [
                owned("The tests pass", "npm test", "npm test"),
                owned("npm run lint", "npm run lint", "npm run lint"),
                owned("npx tsc", "npx tsc", "npx tsc")
            ]
        );
        let defaults = "TEST_COMMAND=\"${TEST_COMMAND:-npm test}\"\n";
        assert_eq!(commands(".ralph/.ralphrc", defaults), [owned("The tests pass", "npm test", "npm test")]);
        let quoted = "\u{feff}TEST_COMMAND=\"old\"\nTEST_COMMAND=\"test -f 'a b'\" # run\r\nQUALITY_GATES='grep \"x y\"' # lint\n";
        assert_eq!(
            commands(".ralph/.ralphrc", quoted),
            [
                owned("The tests pass", "test -f 'a b'", "test -f 'a b'"),
                owned("grep \"x y\"", "grep \"x y\"", "grep \"x y\"")
            ]
        );
        let escaped = "TEST_COMMAND=\"sh -c \\\"a \\\\ b\\\"\"\nQUALITY_GATES='sh \\\"x'\n";
        assert_eq!(
            commands(".ralph/.ralphrc", escaped),
            [
                owned("The tests pass", "sh -c \"a \\ b\"", "sh -c \\\"a \\\\ b\\\""),
                owned("sh \\\"x", "sh \\\"x", "sh \\\"x")
            ]
        );
        let repeated = document(".ralphrc", "export TEST_COMMAND=\"${TEST_COMMAND:-t}\"\n");
        assert_eq!(
            parse_task(&[repeated]).criteria[0].place.range,
            37..38,
            "the value, not a letter of the key"
        );
    }

    #[test]
    fn commands_with_shell_code_are_reported() {
        let found = |rc: &str| {
            let task = parse_task(&[document("PROMPT.md", "# T\n"), document(".ralphrc", rc)]);
            let finding = task.findings.into_iter().next().expect(rc);
            (finding.code, rc[finding.place.range].to_owned())
        };
        let text = "TEST_COMMAND=\"make -j$(nproc)\"\n";
        assert_eq!(found(text), (FindingCode::BadValue, "make -j$(nproc)".to_owned()));
        let blocking = "QUALITY_GATE_MODE=block\nQUALITY_GATES='a; b `c`'\n";
        assert_eq!(found(blocking), (FindingCode::Syntax, "a; b `c`".to_owned()));
    }
}
