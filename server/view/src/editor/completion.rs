//! Completion. Keys, tables and values of the configuration are in `settings.rs`; here are the forms of a check inside
//! backticks, the commands that the project declares, and its files.

mod files;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::files::PathArgument;
use crate::editor::ProjectFacts;
use crate::sentences;
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};

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
    /// A command of the project.
    Command,
    File,
    Folder,
}

/// Label, inserted text, description.
type SuggestionForm = (&'static str, &'static str, &'static str);

const CHECKS: &[SuggestionForm] = &[
    ("$ command", "$ ", tr_later!("Run with `sh -c` in the project root; it must exit 0.")),
    ("exists glob…", "exists ", tr_later!("Every glob must match at least one file.")),
    ("missing glob…", "missing ", tr_later!("No glob may match any file.")),
    (
        "has \"text\" glob…",
        "has ",
        tr_later!("A file that the globs match must contain the text or the /regex/."),
    ),
    (
        "lacks \"text\" glob…",
        "lacks ",
        tr_later!("No file that the globs match may contain the text or the /regex/."),
    ),
    (
        "GET url",
        "GET http://",
        tr_later!("A server must answer with a status from 200 to 299, or with the one in a second span."),
    ),
    ("clean", "clean", tr_later!("No new untracked files may be left behind.")),
    ("judge", "judge", tr_later!("An agent that looks for a reason against the criterion must find none.")),
];

const EXPECTATIONS: &[SuggestionForm] = &[
    ("== number", "== ", tr_later!("The last number the command prints must be this.")),
    ("!= number", "!= ", tr_later!("The last number the command prints must not be this.")),
    (">= number", ">= ", tr_later!("The last number the command prints must be at least this.")),
    ("<= number", "<= ", tr_later!("The last number the command prints must be at most this.")),
    ("> number", "> ", tr_later!("The last number the command prints must be above this.")),
    ("< number", "< ", tr_later!("The last number the command prints must be below this.")),
    (">= baseline", ">= baseline", tr_later!("The number must be at least that of the start.")),
    ("<= baseline", "<= baseline", tr_later!("The number must be at most that of the start.")),
    ("> baseline", "> baseline", tr_later!("The number must be above that of the start.")),
    ("< baseline", "< baseline", tr_later!("The number must be below that of the start.")),
    ("== baseline", "== baseline", tr_later!("The number must be that of the start.")),
    ("/regex/", "/", tr_later!("The output must contain a match.")),
    ("!/regex/", "!/", tr_later!("The output must not contain a match.")),
    ("exit code", "exit ", tr_later!("The command must exit with this code instead of 0.")),
];

/// Attributes of an item with a check.
const ATTRIBUTES: &[SuggestionForm] = &[
    ("(optional)", "(optional)", tr_later!("The loop can complete without it.")),
    ("(timeout 10m)", "(timeout 10m)", tr_later!("The check fails if it takes longer.")),
    ("(stage 2)", "(stage 2)", tr_later!("It is due when all of stage 1 holds.")),
    ("(group name)", "(group ", tr_later!("It is a part of the group with this name.")),
];

/// Attributes of an item that need a command before them.
const NUMBER_ATTRIBUTES: &[SuggestionForm] = &[
    ("(rising)", "(rising)", tr_later!("The number must rise above that of the start, and never fall.")),
    ("(not falling)", "(not falling)", tr_later!("The number must not fall below the best one so far.")),
];

/// Whether `offset` is in a code span of an item, or in an attribute after a check.
pub fn is_in_check(text: &str, offset: usize) -> bool {
    span_at(text, offset).is_some() || attribute_at(text, offset).is_some()
}

/// The possible continuations of the code span around `offset`: the forms of a check or of an expectation after one,
/// the project's commands, paths and globs of its files. The most likely come first.
pub fn in_check(text: &str, offset: usize, project: ProjectFacts<'_>) -> Vec<Suggestion> {
    let Some(span) = span_at(text, offset) else {
        let attribute = attribute_at(text, offset);
        return attribute.map(|it| it.suggestions(text, offset)).unwrap_or_default();
    };
    let typed = text.get(span.start..offset).unwrap_or_default();
    if span.behind_check {
        return span.forms((SuggestionKind::Expectation, EXPECTATIONS), typed);
    }
    if let Some(argument) = PathArgument::of(typed, span.is_json) {
        return argument.suggestions(span.start, project.files);
    }
    let mut all = span.forms((SuggestionKind::Check, CHECKS), typed);
    all.extend(span.commands(typed, project));
    all
}

struct CompletionSpan {
    /// Offset after the opening backtick.
    start: usize,
    /// Whether an earlier span of the line is a command.
    behind_check: bool,
    /// Whether the span is in a JSON string, in which quotes are escaped.
    is_json: bool,
}

impl CompletionSpan {
    /// Only the first word of a check has a form.
    fn forms(&self, (kind, forms): (SuggestionKind, &[SuggestionForm]), typed: &str) -> Vec<Suggestion> {
        let suggestion = |(label, text, means): &SuggestionForm| Suggestion {
            label: (*label).to_owned(),
            kind,
            detail: String::new(),
            documentation: translate(means).to_owned(),
            replaces: self.start..self.start + typed.len(),
            text: (*text).to_owned(),
            filter: Some((*text).to_owned()),
        };
        let continues = |text: &str| text != typed && text.starts_with(typed);
        forms.iter().filter(|(_, text, _)| continues(text)).map(suggestion).collect()
    }

    /// The commands that begin with the typed text, with or without the `$`.
    fn commands(&self, typed: &str, project: ProjectFacts<'_>) -> Vec<Suggestion> {
        let mut all = Vec::new();
        for declared in project.commands.iter().filter(|it| it.is_writable()) {
            let written = format!("$ {}", declared.command);
            let filters = [written.as_str(), declared.command.as_str()];
            let Some(filter) = filters.into_iter().find(|it| it.starts_with(typed)) else { continue };
            all.push(Suggestion {
                kind: SuggestionKind::Command,
                detail: tr!("from {file}", file = declared.file),
                documentation: sentences::sentence(&declared.criterion),
                replaces: self.start..self.start + typed.len(),
                filter: Some(filter.to_owned()),
                text: if self.is_json { json_escaped(&written) } else { written.clone() },
                label: written,
            });
        }
        all
    }
}

/// An attribute that is being typed after a check.
struct AttributeStart {
    /// Offset of the opening parenthesis.
    start: usize,
    has_command: bool,
}

impl AttributeStart {
    fn suggestions(&self, text: &str, offset: usize) -> Vec<Suggestion> {
        let span = CompletionSpan { start: self.start, behind_check: true, is_json: false };
        let typed = text.get(self.start..offset).unwrap_or_default();
        let of_number = if self.has_command { NUMBER_ATTRIBUTES } else { &[] };
        let mut all = span.forms((SuggestionKind::Expectation, of_number), typed);
        all.extend(span.forms((SuggestionKind::Expectation, ATTRIBUTES), typed));
        // Editors close a parenthesis as it is opened.
        if text.get(offset..).is_some_and(|it| it.starts_with(')')) {
            for it in &mut all {
                it.replaces.end += 1;
            }
        }
        all
    }
}

/// The parenthesis that is open at `offset`, outside code and after a check of the same item.
fn attribute_at(text: &str, offset: usize) -> Option<AttributeStart> {
    let line = line_before(text, offset)?;
    let parts: Vec<&str> = line.split('`').collect();
    let (last, earlier) = parts.split_last().filter(|_| !parts.len().is_multiple_of(2))?;
    let spans = || earlier.iter().skip(1).step_by(2);
    let has_command = spans().any(|it| it.starts_with("$ "));
    let has_check = spans().any(|it| CHECKS.iter().any(|(_, text, _)| it.starts_with(text)));
    let open = last.rfind('(').filter(|at| !last.get(*at..).is_some_and(|it| it.contains(')')))?;
    let start = offset - last.len() + open;
    (is_item(line) && has_check).then_some(AttributeStart { start, has_command })
}

/// The part of the line that ends at `offset`.
fn line_before(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(..offset)?;
    before.get(before.rfind(['\n', '\r']).map_or(0, |it| it + 1)..)
}

/// Escapes a text for a string in a JSON document.
fn json_escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The code span that is open at `offset`, in a list item or in a JSON string.
fn span_at(text: &str, offset: usize) -> Option<CompletionSpan> {
    let line = line_before(text, offset)?;
    if !is_item(line) {
        return None;
    }
    let parts: Vec<&str> = line.split('`').collect();
    // Text, code, text, code …: with an even number of parts the last one is code.
    let (code, earlier) = parts.split_last().filter(|_| parts.len().is_multiple_of(2))?;
    let behind_check = earlier.iter().skip(1).step_by(2).any(|it| it.starts_with("$ "));
    let is_json = line.trim_start().starts_with(['"', '[']) && line.contains('"');
    Some(CompletionSpan { start: offset - code.len(), behind_check, is_json })
}

fn is_item(line: &str) -> bool {
    let rest = line.trim_start();
    let number = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    let ordered = number.len() < rest.len() && number.starts_with(['.', ')']);
    rest.starts_with(['-', '*', '+', '"', '[']) || ordered
}
