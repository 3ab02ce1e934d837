//! Limits the number of diagnostics per document: editors show no more, and all are sent after every keystroke.

use std::collections::{HashMap, HashSet};

use crate::editor::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::tr;

/// The number that VS Code shows per file.
const MAX_PER_DOCUMENT: usize = 1000;

/// Decides which diagnostics need a message: one above the limit is only counted.
#[derive(Default)]
pub(super) struct MessageBudget<'a> {
    used: HashMap<(&'a str, Severity), usize>,
}

impl<'a> MessageBudget<'a> {
    /// Whether the limit may keep this one. Expects those of a document and a severity by their position.
    pub(super) fn has_room(&mut self, place: &'a DocumentRange, severity: Severity) -> bool {
        let used = self.used.entry((place.file.as_str(), severity)).or_default();
        *used += 1;
        *used <= MAX_PER_DOCUMENT
    }
}

/// Keeps the most severe diagnostics of each document, in order; the last one contains the number of omitted ones.
/// Expects the diagnostics of a document to be adjacent.
pub(in crate::editor) fn limit(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if all.len() <= MAX_PER_DOCUMENT {
        return all;
    }
    let mut limited = Vec::new();
    let mut rest = all.into_iter().peekable();
    while let Some(first) = rest.next() {
        let file = first.place.file.clone();
        let mut document = vec![first];
        while let Some(next) = rest.next_if(|it| it.place.file == file) {
            document.push(next);
        }
        limited.append(&mut most_severe(document));
    }
    limited
}

fn most_severe(document: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let left_out = document.len().saturating_sub(MAX_PER_DOCUMENT - 1);
    if left_out < 2 {
        return document;
    }
    let mut by_severity: Vec<usize> = (0..document.len()).collect();
    by_severity.sort_by_key(|it| document.get(*it).map(|it| it.severity));
    let kept: HashSet<usize> = by_severity.into_iter().take(MAX_PER_DOCUMENT - 1).collect();
    let mut shown = Vec::with_capacity(MAX_PER_DOCUMENT);
    let mut first_left_out = None;
    for (index, diagnostic) in document.into_iter().enumerate() {
        if kept.contains(&index) {
            shown.push(diagnostic);
        } else {
            first_left_out.get_or_insert(diagnostic.place);
        }
    }
    shown.extend(first_left_out.map(|it| note(&it, left_out)));
    shown
}

fn note(first: &DocumentRange, left_out: usize) -> Diagnostic {
    let message = tr!("document: {left_out} more diagnostics from this line on are not shown", left_out);
    Diagnostic::new(first, Severity::Information, DiagnosticCode::Limited, message)
}

#[cfg(test)]
mod tests {
    use super::{MAX_PER_DOCUMENT, limit};
    use crate::editor::fixture::World;
    use crate::editor::{Diagnostic, DiagnosticCode, Severity, diagnostics};
    use loopkeeper_text::DocumentRange;

    #[test]
    fn every_kept_diagnostic_has_its_message() {
        let items = |line: &str| (0..1_200).map(|it| line.replace('N', &it.to_string())).collect::<String>();
        let front = items("  - in front N\n");
        let body = items("- near N: `exist fileN`\n- unverified N\n- properly done N\n");
        let text = format!("---\ncriteria:\n{front}---\n# T\n\n## Done when\n\n{body}");
        let all = World::of(&[("PROMPT.md", &text)]).with_view(diagnostics);
        assert_eq!(all.len(), MAX_PER_DOCUMENT);
        assert_eq!(all.iter().find(|it| it.message.is_empty()), None);
        let hints = World::of(&[("PROMPT.md", &text.replace("exist ", "exists "))]).with_view(diagnostics);
        assert_eq!(hints.len(), MAX_PER_DOCUMENT);
        assert_eq!(hints.iter().find(|it| it.message.is_empty()), None);
        assert!(hints.is_sorted_by_key(|it| it.place.range.start));
    }

    fn at(file: &str, line: usize, severity: Severity) -> Diagnostic {
        let place = DocumentRange { file: file.to_owned(), range: line..line };
        Diagnostic::new(&place, severity, DiagnosticCode::Failing, String::new())
    }

    fn hints(file: &str, amount: usize) -> impl Iterator<Item = Diagnostic> {
        (0..amount).map(move |it| at(file, it, Severity::Hint))
    }

    #[test]
    fn a_document_at_the_limit_keeps_all_of_them() {
        let all: Vec<_> = hints("a", MAX_PER_DOCUMENT).chain(hints("b", 3)).collect();
        assert_eq!(limit(all.clone()), all);
    }

    #[test]
    fn the_most_severe_are_kept_and_the_others_counted() {
        let severe = at("a", 9_000, Severity::Error);
        let all = hints("a", 5_000).chain([severe.clone()]).chain(hints("b", 2));
        let limited = limit(all.collect());
        assert_eq!(limited.len(), MAX_PER_DOCUMENT + 2);
        let (a, b) = limited.split_at(MAX_PER_DOCUMENT);
        assert_eq!(b, hints("b", 2).collect::<Vec<_>>());
        let expected: Vec<_> = hints("a", MAX_PER_DOCUMENT - 2).chain([severe]).collect();
        assert_eq!(a[..MAX_PER_DOCUMENT - 1], expected);
        let note = &a[MAX_PER_DOCUMENT - 1];
        assert_eq!(
            (note.code, note.place.range.start, note.message.as_str()),
            (
                DiagnosticCode::Limited,
                MAX_PER_DOCUMENT - 2,
                "document: 4002 more diagnostics from this line on are not shown"
            )
        );
    }
}
