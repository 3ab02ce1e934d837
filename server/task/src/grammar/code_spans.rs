//! The code spans of an item, each with its possible readings and the text after it.

use super::attributes;
use super::expectations::{self, ParsedExpectation as Expectation};
use super::near;
use super::spans::{self, CodeSpanKind};
use crate::item::{InlineContent, InlinePiece, PieceKind};

/// Connectives between two checks: an item that needs one contains two checks.
const CONNECTIVES: &[&str] = &["and", "or", "plus", "then", "和", "与", "及", "且", "或", "以及", "并且"];

/// A code span with its possible reading and the text after it.
pub(super) struct CodeSpan<'a> {
    /// Index of its piece.
    pub(super) piece: usize,
    pub(super) source: &'a InlinePiece<'a>,
    pub(super) span: CodeSpanKind,
    pub(super) expectation: Expectation,
    pub(super) follows: TrailingText,
}

/// The text after a span up to the end of its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TrailingText {
    /// Expectations, attributes and punctuation.
    Nothing,
    /// Other checks, and words such as "and", in addition.
    Checks,
    Prose,
}

pub(super) fn code_spans<'a>(inline: &'a InlineContent<'a>) -> Vec<CodeSpan<'a>> {
    let mut follows = TrailingText::Nothing;
    let mut spans = Vec::new();
    for (index, piece) in inline.pieces.iter().enumerate().rev() {
        match piece.kind {
            PieceKind::Text | PieceKind::Break => follows = follows.max(text_follows(inline, index)),
            PieceKind::Code | PieceKind::TornCode => {
                let span = parse_span(&piece.text);
                let expectation = expectations::parse_expectation(&piece.text);
                let worth = match (&span, &expectation) {
                    (CodeSpanKind::Other, Expectation::Other) => TrailingText::Prose,
                    (CodeSpanKind::Other, _) => TrailingText::Nothing,
                    _ => TrailingText::Checks,
                };
                spans.push(CodeSpan { piece: index, source: piece, span, expectation, follows });
                follows = follows.max(worth);
            }
        }
    }
    spans.reverse();
    if let [only] = spans.as_mut_slice()
        && only.piece == 0
        && only.follows == TrailingText::Nothing
        && let Some(meant) = near::suggest_lone_command(&only.source.text)
    {
        only.span = CodeSpanKind::Near(meant);
    }
    spans
}

/// Classifies a span; one that is no check is compared with what its author may have intended.
fn parse_span(code: &str) -> CodeSpanKind {
    match spans::parse_exactly(code) {
        CodeSpanKind::Other => near::suggest_check(code).map_or(CodeSpanKind::Other, CodeSpanKind::Near),
        found => found,
    }
}

/// Adjacent texts form one text: Markdown splits them wherever it scanned for markup.
fn text_follows(inline: &InlineContent<'_>, index: usize) -> TrailingText {
    let is_text = |piece: &&InlinePiece<'_>| !piece.kind.is_code();
    let (before, after) = inline.pieces.split_at(index);
    let continued = before.iter().next_back().is_some_and(|piece| is_text(&piece));
    if continued {
        // Judged once, at the first piece of the run.
        return TrailingText::Nothing;
    }
    let text: String = after.iter().take_while(is_text).map(|piece| &*piece.text).collect();
    let left = attributes::without_groups(&text);
    let mut words =
        left.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    if words.peek().is_none() {
        TrailingText::Nothing
    } else if words.all(|word| CONNECTIVES.iter().any(|it| it.eq_ignore_ascii_case(word))) {
        TrailingText::Checks
    } else {
        TrailingText::Prose
    }
}
