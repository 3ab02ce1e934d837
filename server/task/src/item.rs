//! The text of one item, as input for the grammar: prose and code spans, each with its bytes in the document. Created
//! from Markdown by `blocks`, from plain strings (JSON, arguments) here. Does not depend on checks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The inline content of one paragraph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InlineContent<'a> {
    pub(super) pieces: Vec<InlinePiece<'a>>,
    pub(super) range: Range<usize>,
    /// A backtick without its pair.
    pub(super) stray: Option<Range<usize>>,
    /// Target of the first link, for lists of paths.
    pub(super) link: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InlinePiece<'a> {
    pub(super) kind: PieceKind,
    /// The visible text, for code without its backticks. Nearly always a slice of the document.
    pub(super) text: Cow<'a, str>,
    /// The bytes in the document, for code including its backticks.
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text,
    /// A line end inside the paragraph.
    Break,
    Code,
    /// A code span that crosses a line end: never a check.
    TornCode,
}

impl PieceKind {
    pub(super) fn is_code(self) -> bool {
        matches!(self, Self::Code | Self::TornCode)
    }
}

impl InlineContent<'_> {
    /// Prose and code as one line of plain text.
    pub(super) fn plain_text(&self) -> String {
        let mut text = String::with_capacity(self.range.len());
        self.pieces.iter().for_each(|piece| text.push_str(&piece.text));
        text
    }

    pub(super) fn first_line(&self) -> String {
        self.line(0)
    }

    pub(super) fn second_line(&self) -> String {
        self.line(1)
    }

    fn line(&self, number: usize) -> String {
        let mut lines = self.pieces.split(|piece| piece.kind == PieceKind::Break);
        let pieces = lines.nth(number).unwrap_or_default();
        pieces.iter().map(|piece| &*piece.text).collect()
    }

    /// One code span, passed without its backticks.
    pub(super) fn of_code(text: &str) -> Self {
        let kind = if text.contains(['\n', '\r']) { PieceKind::TornCode } else { PieceKind::Code };
        let piece = InlinePiece { kind, text: text.trim().to_owned().into(), range: 0..text.len() };
        Self { pieces: vec![piece], range: 0..text.len(), ..Self::default() }
    }

    /// Reads a plain string, in which only code spans and escaped backticks have a meaning.
    pub(super) fn of_plain(text: &str, origin: &ByteOrigin) -> Self {
        let mut inline = Self { range: origin.of(0..text.len()), ..Self::default() };
        let runs = backtick_runs(text);
        let closers = BacktickRuns::new(&runs);
        let mut from = 0;
        let mut next = 0;
        while let Some(open) = runs.get(next) {
            let Some((close_index, close)) = closers.after(&runs, next) else {
                inline.stray.get_or_insert_with(|| origin.of(open.clone()));
                next += 1;
                continue;
            };
            inline.push_text(text, from..open.start, origin);
            inline.push_code(text, open.start..close.end, open.len(), origin);
            from = close.end;
            next = close_index + 1;
        }
        inline.push_text(text, from..text.len(), origin);
        inline
    }

    fn push_text(&mut self, text: &str, range: Range<usize>, origin: &ByteOrigin) {
        let Some(prose) = text.get(range.clone()).filter(|prose| !prose.is_empty()) else { return };
        let text = prose.replace("\\`", "`").replace(['\n', '\r'], " ");
        self.pieces.push(InlinePiece { kind: PieceKind::Text, text: text.into(), range: origin.of(range) });
    }

    fn push_code(&mut self, text: &str, range: Range<usize>, ticks: usize, origin: &ByteOrigin) {
        let raw = text.get(range.start + ticks..range.end - ticks).unwrap_or_default();
        let kind = if raw.contains(['\n', '\r']) { PieceKind::TornCode } else { PieceKind::Code };
        let flat = raw.replace(['\n', '\r'], " ");
        self.pieces.push(InlinePiece {
            kind,
            text: strip_padding(&flat).to_owned().into(),
            range: origin.of(range),
        });
    }
}

impl InlineContent<'_> {
    /// The pieces inside `range`; a text that crosses its boundary is cut.
    pub(super) fn clipped(&self, range: &Range<usize>) -> Self {
        // Binary search in the ordered pieces, because a line can contain any number of items.
        let first = self.pieces.partition_point(|piece| piece.range.end <= range.start);
        let behind = self.pieces.get(first..).unwrap_or_default().iter();
        let pieces = behind.take_while(|piece| piece.range.start < range.end).map(|piece| {
            let start = piece.range.start.max(range.start);
            let end = piece.range.end.min(range.end);
            let cut = start - piece.range.start..end - piece.range.start;
            // Only a text without entities equals its source byte for byte; any other stays whole.
            let text = match piece.text.get(cut) {
                Some(text) if piece.text.len() == piece.range.len() => text.to_owned().into(),
                _ => piece.text.clone(),
            };
            InlinePiece { kind: piece.kind, text, range: start..end }
        });
        let stray = self.stray.clone().filter(|stray| range.contains(&stray.start));
        Self { pieces: pieces.collect(), range: range.clone(), stray, link: None }
    }
}

/// Where the bytes of a decoded string are in its document.
#[derive(Debug, Clone)]
pub(super) enum ByteOrigin {
    /// Byte for byte from this offset.
    At(usize),
    /// Escapes shifted the bytes: only the whole is exact.
    Whole(Range<usize>),
}

impl ByteOrigin {
    pub(super) fn of(&self, range: Range<usize>) -> Range<usize> {
        match self {
            Self::At(base) => range.start + base..range.end + base,
            Self::Whole(whole) => whole.clone(),
        }
    }
}

/// One space on each side belongs to the backticks, not to the code.
fn strip_padding(code: &str) -> &str {
    if code.trim_matches(' ').is_empty() {
        return code;
    }
    code.strip_prefix(' ').and_then(|rest| rest.strip_suffix(' ')).unwrap_or(code)
}

/// Every run of backticks, without escaped ones.
fn backtick_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'`' if escaped => escaped = false,
            b'`' => match runs.last_mut() {
                Some(run) if run.end == at => run.end += 1,
                _ => runs.push(at..at + 1),
            },
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    runs
}

/// Runs by length, so that a text full of unmatched runs is read in linear time.
struct BacktickRuns(HashMap<usize, Vec<usize>>);

impl BacktickRuns {
    fn new(runs: &[Range<usize>]) -> Self {
        let mut by_length: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, run) in runs.iter().enumerate() {
            by_length.entry(run.len()).or_default().push(index);
        }
        Self(by_length)
    }

    /// The next run as long as the one at `open`.
    fn after<'a>(&self, runs: &'a [Range<usize>], open: usize) -> Option<(usize, &'a Range<usize>)> {
        let same = self.0.get(&runs.get(open)?.len())?;
        let index = *same.get(same.partition_point(|&index| index <= open))?;
        Some((index, runs.get(index)?))
    }
}
