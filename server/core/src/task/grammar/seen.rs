//! The code spans of an item, what each may be, and what stands behind it.

use super::attributes;
use super::expectations::{self, Reading as Expectation};
use super::spans::{self, Span};
use crate::task::item::{Inline, Piece, PieceKind};

/// Words that join two checks: an item that needs one has two checks.
const CONNECTIVES: &[&str] = &["and", "or", "plus", "then", "和", "与", "及", "且", "或", "以及", "并且"];

/// A code span with what could be read into it and what follows it.
pub(super) struct Seen<'a> {
    /// Index of its piece.
    pub(super) piece: usize,
    pub(super) source: &'a Piece<'a>,
    pub(super) span: Span,
    pub(super) expectation: Expectation,
    pub(super) follows: Follows,
}

/// What stands behind a span up to the end of its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Follows {
    /// Expectations, attributes and punctuation.
    Nothing,
    /// Besides, other checks and words such as "and".
    Checks,
    Prose,
}

pub(super) fn seen<'a>(inline: &'a Inline<'a>) -> Vec<Seen<'a>> {
    let mut follows = Follows::Nothing;
    let mut spans = Vec::new();
    for (index, piece) in inline.pieces.iter().enumerate().rev() {
        match piece.kind {
            PieceKind::Text | PieceKind::Break => follows = follows.max(text_follows(inline, index)),
            PieceKind::Code | PieceKind::TornCode => {
                let span = spans::read(&piece.text);
                let expectation = expectations::read(&piece.text);
                let worth = match (&span, &expectation) {
                    (Span::Other, Expectation::Other) => Follows::Prose,
                    (Span::Other, _) => Follows::Nothing,
                    _ => Follows::Checks,
                };
                spans.push(Seen { piece: index, source: piece, span, expectation, follows });
                follows = follows.max(worth);
            }
        }
    }
    spans.reverse();
    spans
}

/// Adjacent texts are one text: Markdown splits them wherever it looked for markup.
fn text_follows(inline: &Inline<'_>, index: usize) -> Follows {
    let is_text = |piece: &&Piece<'_>| !piece.kind.is_code();
    let (before, after) = inline.pieces.split_at(index);
    let continued = before.iter().next_back().is_some_and(|piece| is_text(&piece));
    if continued {
        // Judged once, at the first piece of the run.
        return Follows::Nothing;
    }
    let text: String = after.iter().take_while(is_text).map(|piece| &*piece.text).collect();
    let left = attributes::without_groups(&text);
    let mut words =
        left.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    if words.peek().is_none() {
        Follows::Nothing
    } else if words.all(|word| CONNECTIVES.contains(&word.to_lowercase().as_str())) {
        Follows::Checks
    } else {
        Follows::Prose
    }
}
