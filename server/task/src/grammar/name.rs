//! Derives the name of an item: its prose without check, expectations, attributes and trailing punctuation. Also
//! extracts the attributes, because they are part of that prose.

use std::borrow::Cow;

use super::attributes::{self, ItemAttributes};
use crate::criterion::Check;
use crate::item::InlineContent;
use loopkeeper_text::fold::folded;

/// The role of a piece in the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceRole {
    Prose,
    /// Inline code without meaning to the grammar: part of the name, never an attribute.
    Code,
    Check,
    Expectation,
}

/// The item's text, cut at its check and expectations.
pub(super) struct NameParts {
    parts: Vec<(PieceRole, String)>,
}

impl NameParts {
    pub(super) fn from_inline(inline: &InlineContent<'_>, role_of: impl Fn(usize) -> PieceRole) -> Self {
        let mut parts: Vec<(PieceRole, String)> = Vec::new();
        for (index, piece) in inline.pieces.iter().enumerate() {
            let role = if piece.kind.is_code() { role_of(index) } else { PieceRole::Prose };
            match parts.last_mut() {
                Some((PieceRole::Prose, text)) if role == PieceRole::Prose => text.push_str(&piece.text),
                _ => parts.push((role, piece.text.clone().into_owned())),
            }
        }
        Self { parts }
    }

    pub(super) fn name(
        mut self,
        check: Option<&Check>,
        attributes: &mut ItemAttributes,
        report_bad: impl FnMut(String),
    ) -> String {
        self.take_attributes(attributes, report_bad);
        let check_at = self.parts.iter().position(|(role, _)| *role == PieceRole::Check);
        let before = self.prose(..check_at.unwrap_or(self.parts.len()));
        // "Coverage: `$ cov` prints `>= 80`": the text before the colon is sufficient.
        if check_at.is_some() && before.trim_end().ends_with([':', '：']) {
            let name = tidy_prose(&before);
            if !name.is_empty() {
                return name;
            }
        }
        let all = self.prose(..);
        let name = tidy_prose(&all);
        match check.map(check_label) {
            Some(label) if name.is_empty() => label,
            // "`$ cargo test` passes" is no sentence without its subject.
            Some(label) if check_at == Some(0) && continues_after_check(&all) => {
                format!("{label} {name}")
            }
            // A broken item must still be recognisable.
            None if name.is_empty() => {
                tidy_prose(&self.parts.iter().map(|(_, text)| text.as_str()).collect::<String>())
            }
            _ => name,
        }
    }

    /// Attributes are at the end; expectations and the check may come before or after them.
    fn take_attributes(&mut self, attributes: &mut ItemAttributes, mut report_bad: impl FnMut(String)) {
        for (role, text) in self.parts.iter_mut().rev() {
            match role {
                PieceRole::Prose => {}
                PieceRole::Code => return,
                PieceRole::Check | PieceRole::Expectation => continue,
            }
            let trailing = attributes::take_trailing(text, attributes);
            if let Some(reason) = trailing.bad {
                report_bad(reason);
            }
            let has_text = !trailing.rest.trim_end_matches(attributes::is_final).is_empty();
            let kept = trailing.rest.len();
            text.truncate(kept);
            if has_text {
                return;
            }
        }
    }

    fn prose<R>(&self, range: R) -> String
    where
        R: std::slice::SliceIndex<[(PieceRole, String)], Output = [(PieceRole, String)]>,
    {
        let parts = self.parts.get(range).unwrap_or_default();
        let parts_text = parts.iter().map(|(role, text)| match role {
            PieceRole::Prose | PieceRole::Code => text.as_str(),
            PieceRole::Check | PieceRole::Expectation => REMOVED_SPAN,
        });
        parts_text.collect()
    }
}

/// Whether a sentence continues directly after the check at its start.
fn continues_after_check(prose: &str) -> bool {
    prose.strip_prefix(REMOVED_SPAN).is_some_and(|rest| rest.trim_start().starts_with(char::is_alphanumeric))
}

/// Marks the position of a removed span, to distinguish brackets left empty from those in `foo()`.
const REMOVED_SPAN: &str = "\u{1}";

/// One line, without empty remains and surrounding punctuation.
fn tidy_prose(prose: &str) -> String {
    let mut line = without_empty_brackets(prose);
    if line.contains(REMOVED_SPAN) {
        line = line.replace(REMOVED_SPAN, "").into();
    }
    let line = folded(&line);
    let edge = |char: char| char.is_whitespace() || ".,;:…。，；：、-–—".contains(char);
    let line = line.trim_end_matches(edge);
    // Punctuation at the start of `./check.sh`, `.env` and `--help` would otherwise end a sentence.
    let word = line.trim_start_matches(edge);
    let mark = line.get(..line.len() - word.len()).unwrap_or_default();
    let kept = ["--", "-", "."].into_iter().find(|it| *it == mark && !word.is_empty()).unwrap_or_default();
    let name = [kept, word].concat();
    if name.chars().all(|char| "[]{}\"'“”「」《》".contains(char)) { String::new() } else { name }
}

fn without_empty_brackets(prose: &str) -> Cow<'_, str> {
    if !prose.contains(['(', '（']) {
        return prose.into();
    }
    let mut kept = String::new();
    let mut rest = prose;
    while let Some(open) = rest.find(['(', '（']) {
        let (before, group) = rest.split_at(open);
        kept.push_str(before);
        let inner = group.trim_start_matches(['(', '（']);
        let close = inner.find(|char: char| char.is_alphanumeric() || "(（)）".contains(char));
        let emptied = close
            .and_then(|close| inner.split_at_checked(close))
            .filter(|(gap, _)| gap.contains(REMOVED_SPAN));
        if let Some(tail) = emptied.and_then(|(_, tail)| tail.strip_prefix([')', '）'])) {
            rest = tail;
        } else {
            kept.push_str(group.get(..group.len() - inner.len()).unwrap_or_default());
            rest = inner;
        }
    }
    kept.push_str(rest);
    kept.into()
}

/// A readable label for the check of an item that has no other text.
pub(super) fn check_label(check: &Check) -> String {
    match check {
        Check::Command { command, .. } => command.clone(),
        Check::Exists { globs } => format!("exists {}", globs.join(" ")),
        Check::Missing { globs } => format!("missing {}", globs.join(" ")),
        Check::Has { pattern, globs } => format!("has {} {}", pattern.source, globs.join(" ")),
        Check::Lacks { pattern, globs } => format!("lacks {} {}", pattern.source, globs.join(" ")),
        Check::Clean => "clean".to_owned(),
        Check::Get { url, .. } => format!("GET {url}"),
        Check::Judge { .. } => "judge".to_owned(),
    }
}
