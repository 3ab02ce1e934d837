//! Predicates about a task that several views share, so that they agree.

use std::ops::Range;

use super::{LatestResult, TaskView};
use crate::criteria::tally_of_task;
use crate::{DisplayPhase, DisplayState, LoopStatus};
use loopkeeper_core::check::{CriteriaTally, Status};
use loopkeeper_core::journal::OutcomeKind;
use loopkeeper_lint::TaskLints;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_task::{TaskDocument, front_matter_end};
use loopkeeper_text::DocumentRange;

impl<'a> TaskView<'a> {
    pub(super) fn task_lints(&self) -> &'a TaskLints {
        self.lints.get_or_compute(self.task, self.documents)
    }

    /// The loop, unless it has ended.
    pub(super) fn open_loop(&self) -> Option<&'a LoopStatus> {
        self.status.filter(|it| it.state != DisplayState::Done && it.phase != DisplayPhase::Damaged)
    }

    /// The strays, once its loop is over.
    pub(super) fn removable_strays(&self) -> &'a [String] {
        if self.open_loop().is_some() { &[] } else { self.strays }
    }

    pub(super) fn is_working(&self) -> bool {
        self.open_loop().is_some_and(|it| it.state == DisplayState::Working)
    }

    pub(super) fn latest_result(&self, id: &CriterionId) -> Option<LatestResult<'a>> {
        self.results.get(id).copied()
    }

    /// The counts of the criteria: those of the open loop, otherwise those of the documents with their latest results.
    pub(super) fn tally(&self) -> CriteriaTally {
        self.open_loop().map_or_else(
            || tally_of_task(&self.task.criteria, |id| self.latest_result(id).map(|it| it.result)),
            |it| CriteriaTally::of(it.criteria.items.iter().map(|it| (it.required, it.status))),
        )
    }

    /// Whether any result belongs to another tree than the current one.
    pub(super) fn any_stale(&self) -> bool {
        self.task.criteria.iter().filter_map(|it| self.latest_result(&it.id)).any(|it| it.stale)
    }

    /// Whether there is anything to report besides the documents themselves.
    pub(super) fn has_results(&self) -> bool {
        self.status.is_some() || self.task.criteria.iter().any(|it| self.results.contains_key(&it.id))
    }

    /// Whether all criteria pass since the last loop ended, which makes its outcome irrelevant.
    pub(super) fn is_fixed_since(&self) -> bool {
        self.open_loop().is_none() && !self.any_stale() && self.tally().holds()
    }

    pub(super) fn is_trusted(&self, criterion: &Criterion) -> bool {
        self.trust.editor && !self.trust.criteria.contains(&criterion.id)
    }

    pub(super) fn outcome(&self) -> Option<OutcomeKind> {
        self.status?.outcome.as_ref().map(|it| it.kind)
    }

    pub(super) fn document(&self, file: &str) -> Option<&'a TaskDocument> {
        self.documents.iter().find(|it| it.path == file)
    }

    /// The first line with content, used for diagnostics and lenses of the whole task.
    pub(super) fn heading(&self) -> Option<DocumentRange> {
        let document = self.documents.first()?;
        let body = front_matter_end(&document.text);
        let text = document.text.get(body..).unwrap_or_default();
        let blank = text.len() - text.trim_start().len();
        let at = if blank == text.len() { body } else { body + blank };
        let range = line_at(&document.text, at);
        Some(DocumentRange { file: document.path.clone(), range })
    }

    /// The first line of a range, for lenses over and hints after lines.
    pub(super) fn first_line(&self, place: &DocumentRange) -> DocumentRange {
        let text = self.document(&place.file).map_or("", |it| it.text.as_str());
        DocumentRange { file: place.file.clone(), range: line_at(text, place.range.start) }
    }
}

/// Whether the status is a failure of the checked work or of the means to check it.
pub(super) fn is_failure(status: Status) -> bool {
    !matches!(status, Status::Pass | Status::Unverified)
}

/// Whether edits of prose fit the document.
pub(super) fn is_markdown(document: &TaskDocument) -> bool {
    document.path.to_lowercase().ends_with(".md")
}

pub(super) fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// The line around `at`, trimmed.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let from = start + line.len() - line.trim_start().len();
    from..from + line.trim().len()
}

#[cfg(test)]
mod tests {
    use super::line_at;

    #[test]
    fn a_line_is_found_from_anywhere_in_it() {
        let check = |text: &str, at: usize, expect: &str| assert_eq!(&text[line_at(text, at)], expect);
        check("", 0, "");
        check("# Goal\nmore", 0, "# Goal");
        check("# Goal\r\nmore", 4, "# Goal");
        check("# Goal\n  - süß  \nx", 9, "- süß");
        check("a\n\nb", 2, "");
        check("a\n", 2, "");
    }
}
