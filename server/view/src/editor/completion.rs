//! Completion. Keys, tables and values of the configuration are in `settings.rs`; here are the forms of a check inside
//! backticks.

#[cfg(test)]
mod tests;

use std::ops::Range;

/// One completion item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub label: String,
    pub kind: SuggestionKind,
    /// Shown next to the label: a type, a default.
    pub detail: String,
    /// One or two sentences.
    pub documentation: String,
    /// The byte range that it replaces, on one line.
    pub replaces: Range<usize>,
    pub text: String,
    /// The filter text, if it differs from the label.
    pub filter: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuggestionKind {
    Table,
    Key,
    Value,
    Check,
    Expectation,
}

/// Label, inserted text, description.
type SuggestionForm = (&'static str, &'static str, &'static str);

const CHECKS: &[SuggestionForm] = &[
    ("$ command", "$ ", "Run with `sh -c` in the project root; it must exit 0."),
    ("exists glob…", "exists ", "Every glob must match at least one file."),
    ("missing glob…", "missing ", "No glob may match any file."),
    ("has \"text\" glob…", "has ", "A file that the globs match must contain the text or the /regex/."),
    ("lacks \"text\" glob…", "lacks ", "No file that the globs match may contain the text or the /regex/."),
    ("clean", "clean", "No new untracked files may be left behind."),
];

const EXPECTATIONS: &[SuggestionForm] = &[
    ("== number", "== ", "The last number the command prints must be this."),
    ("!= number", "!= ", "The last number the command prints must not be this."),
    (">= number", ">= ", "The last number the command prints must be at least this."),
    ("<= number", "<= ", "The last number the command prints must be at most this."),
    ("> number", "> ", "The last number the command prints must be above this."),
    ("< number", "< ", "The last number the command prints must be below this."),
    ("/regex/", "/", "The output must contain a match."),
    ("!/regex/", "!/", "The output must not contain a match."),
    ("exit code", "exit ", "The command must exit with this code instead of 0."),
];

/// The forms of a check, or of an expectation after one, in the code span around `offset`.
pub fn in_check(text: &str, offset: usize) -> Vec<Suggestion> {
    let Some(span) = span_at(text, offset) else { return Vec::new() };
    let typed = text.get(span.start..offset).unwrap_or_default();
    // Nothing is offered after the first word.
    if typed.contains(' ') || typed.contains('/') {
        return Vec::new();
    }
    let (kind, forms) = if span.behind_check {
        (SuggestionKind::Expectation, EXPECTATIONS)
    } else {
        (SuggestionKind::Check, CHECKS)
    };
    let suggestion = |(label, text, means): &SuggestionForm| Suggestion {
        label: (*label).to_owned(),
        kind,
        detail: String::new(),
        documentation: (*means).to_owned(),
        replaces: span.start..offset,
        text: (*text).to_owned(),
        filter: Some((*text).to_owned()),
    };
    forms.iter().filter(|(_, text, _)| text.starts_with(typed)).map(suggestion).collect()
}

struct CompletionSpan {
    /// Offset after the opening backtick.
    start: usize,
    /// Whether an earlier span of the line is a command.
    behind_check: bool,
}

/// The code span that is open at `offset`, in a list item or in a JSON string.
fn span_at(text: &str, offset: usize) -> Option<CompletionSpan> {
    let before = text.get(..offset)?;
    let line_start = before.rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let line = before.get(line_start..)?;
    if !is_item(line) {
        return None;
    }
    let parts: Vec<&str> = line.split('`').collect();
    // Text, code, text, code …: with an even number of parts the last one is code.
    let (code, earlier) = parts.split_last().filter(|_| parts.len().is_multiple_of(2))?;
    let behind_check = earlier.iter().skip(1).step_by(2).any(|it| it.starts_with("$ "));
    Some(CompletionSpan { start: offset - code.len(), behind_check })
}

fn is_item(line: &str) -> bool {
    let rest = line.trim_start();
    let number = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    let ordered = number.len() < rest.len() && number.starts_with(['.', ')']);
    rest.starts_with(['-', '*', '+', '"', '[']) || ordered
}
