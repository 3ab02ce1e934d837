//! Reports criteria that are not read because of their form: no list, a list without a heading, a block that hides them.

use std::ops::Range;

use loopkeeper_text::tr;

use super::{DocumentRole, ListContent, MarkdownReader};
use crate::FindingCode;
use crate::grammar::ItemFault;
use crate::item::InlineContent;
use crate::phrases::{HeadingPhrase, opens_usual_section};
use crate::plan::{self, BoxState};
use crate::source::{is_list_marker, lines_of};

impl MarkdownReader<'_> {
    pub(super) fn report_no_criteria(&mut self, name: &str, range: Range<usize>) {
        let fact = tr!("no list items, so nothing is checked. Write one item per criterion");
        self.out.add_finding(FindingCode::NoCriteria, name.trim().trim_end_matches([':', '：']), fact, range);
    }

    pub(super) fn report_missing_colon(&mut self, text: &InlineContent<'_>) {
        let name = text.plain_text();
        let fact = tr!("no heading and no colon, so the list is not read");
        let fault = ItemFault::new(FindingCode::NoCriteria, fact, &text.range)
            .with_hint(tr!("Add a colon"))
            .with_fix(Some(format!("{}:", self.source.slice(&text.range))));
        self.out.add_fault(name.trim(), fault);
    }

    /// The kind of criteria at the current position.
    pub(super) fn phrase(&self) -> Option<HeadingPhrase> {
        match self.content() {
            ListContent::Criteria(phrase) => Some(phrase),
            ListContent::Paths | ListContent::MayChange | ListContent::Prose => None,
        }
    }

    pub(super) fn contains_check(&self, range: &Range<usize>) -> bool {
        self.source.slice(range).contains("`$ ")
    }

    /// Notes a paragraph or table among criteria that contains a check. A section without items is reported as a whole.
    pub(super) fn note_unread(&mut self, range: &Range<usize>) {
        if self.phrase().is_none() || !self.contains_check(range) {
            return;
        }
        match self.sections.last_mut() {
            Some(section) => section.unread.push(range.clone()),
            None => self.report_unread(range.clone()),
        }
    }

    pub(super) fn report_unread(&mut self, range: Range<usize>) {
        let fact = tr!("not run outside of a list. Write it as a list item");
        self.out.add_finding(FindingCode::NotACheck, tr!("check"), fact, range);
    }

    pub(super) fn handle_indented(&mut self, range: Range<usize>) {
        let boxes = plan::indented_boxes(self.source, &range);
        if boxes.is_empty() {
            self.note_unread(&range);
        }
        for (done, text) in boxes {
            match (self.phrase(), self.role) {
                (Some(phrase), _) => {
                    let state = BoxState { ticked: Some(done), is_dropped: false };
                    self.add_criterion_item(&text, phrase, state, false);
                }
                (None, DocumentRole::Plan) => {
                    plan::take_box(&mut self.out, &text, done, self.headings.is_optional());
                }
                (None, DocumentRole::Prompt) => {}
            }
        }
    }

    /// A code block without an end extends to the end of the document.
    pub(super) fn report_unclosed_fence(&mut self, range: &Range<usize>) {
        if !is_closed_fence(self.source.slice(range)) {
            self.report_hidden(tr!("code block"), range);
        }
    }

    pub(super) fn report_unclosed_html(&mut self, range: Range<usize>) {
        let text = self.source.slice(&range);
        if text.starts_with("<!--") && !text.contains("-->") {
            self.report_hidden(tr!("comment"), &range);
        }
    }

    fn report_hidden(&mut self, block: &str, range: &Range<usize>) {
        let is_criteria = self.phrase().is_some();
        let hides = |line: &str| {
            let line = unquoted(line).trim_end();
            is_criteria && is_list_marker(line)
                || self.role == DocumentRole::Plan && plan::box_line(line).is_some()
                || opens_usual_section(line)
        };
        let text = self.source.slice(range);
        if lines_of(text).skip(1).any(hides) {
            let first_line = lines_of(text).next().unwrap_or_default().trim_end();
            let fact = tr!("never closed, so the criteria in it are not read. Close it");
            let place = range.start..range.start + first_line.len();
            self.out.add_finding(FindingCode::Syntax, block, fact, place);
        }
    }
}

fn unquoted(line: &str) -> &str {
    line.trim_start_matches(['>', ' ', '\t'])
}

/// Whether the last line of a fenced code block ends it.
fn is_closed_fence(block: &str) -> bool {
    let mut lines = lines_of(block).map(|line| unquoted(line).trim_end()).filter(|line| !line.is_empty());
    let Some(opening) = lines.next() else { return true };
    let Some(tick) = opening.chars().next() else { return true };
    let length = opening.len() - opening.trim_start_matches(tick).len();
    lines.last().is_some_and(|last| last.len() >= length && last.chars().all(|it| it == tick))
}
