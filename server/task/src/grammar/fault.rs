//! A fault of an item or of one of its code spans, as data; the message is built from it at the end.

use std::ops::Range;

use super::code_span;
use crate::FindingCode;
use crate::item::InlinePiece;
use loopkeeper_text::fold::{folded, one_line};
use loopkeeper_text::tr;
use loopkeeper_text::truncate::shortened;

/// Maximum length of a code span in a sentence that contains two.
const SPAN_CHARS: usize = 26;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemFault {
    pub(crate) code: FindingCode,
    pub(crate) subject: FaultSubject,
    /// Without a final period.
    pub(crate) fact: String,
    /// One sentence, without a final period.
    pub(crate) hint: Option<String>,
    pub(crate) range: Range<usize>,
    pub(crate) fix: Option<String>,
}

/// The subject of the fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FaultSubject {
    /// The item, by its name.
    Item,
    /// A code span, as written.
    Span(String),
    /// None: the fact is a complete sentence.
    Sentence,
}

/// Why a code span cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SpanError {
    pub(super) fact: String,
    pub(super) hint: Option<&'static str>,
}

impl SpanError {
    pub(super) fn with_hint(fact: impl Into<String>, hint: &'static str) -> Self {
        Self { fact: fact.into(), hint: Some(hint) }
    }
}

impl<T: Into<String>> From<T> for SpanError {
    fn from(fact: T) -> Self {
        Self { fact: fact.into(), hint: None }
    }
}

impl ItemFault {
    pub(crate) fn new(code: FindingCode, fact: impl Into<String>, range: &Range<usize>) -> Self {
        let (fact, range) = (fact.into(), range.clone());
        Self { code, subject: FaultSubject::Item, fact, hint: None, range, fix: None }
    }

    /// A complete sentence about a code span.
    pub(super) fn sentence(code: FindingCode, sentence: String, range: &Range<usize>) -> Self {
        Self { subject: FaultSubject::Sentence, ..Self::new(code, sentence, range) }
    }

    pub(super) fn of_span(code: FindingCode, error: impl Into<SpanError>, span: &InlinePiece<'_>) -> Self {
        let error = error.into();
        let subject = FaultSubject::Span(one_line(&span.text));
        let hint = error.hint.map(str::to_owned);
        Self { subject, hint, ..Self::new(code, error.fact, &span.range) }
    }

    pub(super) fn two_checks(first: &InlinePiece<'_>, second: &InlinePiece<'_>) -> Self {
        let (one, other) = (quoted_span(first), quoted_span(second));
        let sentence = tr!("two checks in one item, {one} and {other}. Write two items", one, other);
        Self::sentence(FindingCode::BadCheck, sentence, &second.range)
    }

    /// `fix` is the replacement for `written`.
    pub(super) fn not_run(written: &str, fix: &str, range: &Range<usize>) -> Self {
        let sentence = tr!("{written} is not run. Write {fix}", written, fix);
        Self::sentence(FindingCode::NotACheck, sentence, range)
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn with_fix(self, fix: Option<String>) -> Self {
        Self { fix, ..self }
    }
}

/// A code span in backticks, short enough for a sentence.
pub(super) fn quoted_span(span: &InlinePiece<'_>) -> String {
    code_span(&shortened(&folded(&span.text), SPAN_CHARS))
}
