//! Converts byte offsets to lines and columns of the protocol, and back. Total: a position outside of the text maps to
//! its nearest end, one inside of a character to that character's start.

use std::ops::Range;

use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::truncate;
use lsp_types::Position;

/// The unit of a column, as negotiated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    #[default]
    Utf16,
}

/// The lines and columns of one text. Lines end with `\n`, `\r\n` or `\r`, as the protocol requires. A conversion costs
/// the same at any column, because programs write documents of megabytes as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePositions {
    index: LineIndex,
    /// UTF-16 units before each [`STRIDE`]th byte; empty for an ASCII text, where bytes and units are equal.
    units: Vec<usize>,
}

/// Bytes between two counts of UTF-16 units.
const STRIDE: usize = 512;

impl LinePositions {
    pub fn of(text: &str) -> Self {
        Self {
            index: LineIndex::of(text),
            units: if text.is_ascii() { Vec::new() } else { units_before_strides(text) },
        }
    }

    /// The position of a byte offset.
    pub fn position(&self, text: &str, byte: usize, encoding: Encoding) -> Position {
        let byte = truncate::first_bytes(text, byte).len();
        let line = self.index.line(byte);
        let begin = self.index.start(line).unwrap_or_default();
        let column = match encoding {
            Encoding::Utf8 => byte - begin,
            Encoding::Utf16 => self.units_before(text, byte) - self.units_before(text, begin),
        };
        Position { line: line as u32, character: column as u32 }
    }

    /// The byte offset of a position.
    pub fn byte(&self, text: &str, place: Position, encoding: Encoding) -> usize {
        let line = place.line as usize;
        let Some(begin) = self.index.start(line) else { return text.len() };
        let end = self.index.start(line + 1).unwrap_or(text.len());
        let content = text.get(begin..end).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let column = place.character as usize;
        if encoding == Encoding::Utf8 || self.units.is_empty() {
            return begin + truncate::first_bytes(content, column).len();
        }
        let wanted = self.units_before(text, begin).saturating_add(column);
        let stride = self.units.partition_point(|units| *units <= wanted).saturating_sub(1);
        let near = (stride * STRIDE).clamp(begin, begin + content.len());
        let near = truncate::first_bytes(text, near).len();
        let rest = text.get(near..begin + content.len()).unwrap_or_default();
        near + byte_of_column(rest, wanted - self.units_before(text, near))
    }

    /// UTF-16 units before a byte, which is the first of its character.
    fn units_before(&self, text: &str, byte: usize) -> usize {
        let stride = byte / STRIDE;
        let Some(counted) = self.units.get(stride) else { return byte };
        counted + units_of(text.as_bytes().get(stride * STRIDE..byte).unwrap_or_default())
    }

    /// The range between two byte offsets.
    pub fn range(&self, text: &str, bytes: &Range<usize>, encoding: Encoding) -> lsp_types::Range {
        let start = self.position(text, bytes.start, encoding);
        let end = self.position(text, bytes.end.max(bytes.start), encoding);
        lsp_types::Range { start, end }
    }

    /// The byte range between two positions; a reversed range is treated as empty.
    pub fn bytes(&self, text: &str, range: lsp_types::Range, encoding: Encoding) -> Range<usize> {
        let start = self.byte(text, range.start, encoding);
        start..self.byte(text, range.end, encoding).max(start)
    }
}

fn units_before_strides(text: &str) -> Vec<usize> {
    let mut before = 0;
    let count = |bytes: &[u8]| {
        let counted = before;
        before += units_of(bytes);
        counted
    };
    let mut all: Vec<usize> = text.as_bytes().chunks(STRIDE).map(count).collect();
    // Covers the end of a text that fills its last stride.
    all.push(before);
    all
}

/// Each character counts at its first byte, and twice if it takes two units.
fn units_of(bytes: &[u8]) -> usize {
    let units = bytes.iter().map(|it| usize::from(it & 0xC0 != 0x80) + usize::from(*it >= 0xF0));
    units.sum()
}

/// The byte offset of a column in UTF-16 units.
fn byte_of_column(content: &str, column: usize) -> usize {
    let mut units = 0;
    for (at, char) in content.char_indices() {
        units += char.len_utf16();
        if units > column {
            return at;
        }
    }
    content.len()
}

#[cfg(test)]
mod tests {
    use super::{Encoding, LinePositions};
    use lsp_types::Position;
    use proptest::prelude::{any, prop, proptest};

    fn place(text: &str, byte: usize, encoding: Encoding) -> (u32, u32) {
        let it = LinePositions::of(text).position(text, byte, encoding);
        (it.line, it.character)
    }

    fn byte(text: &str, (line, character): (u32, u32), encoding: Encoding) -> usize {
        LinePositions::of(text).byte(text, Position { line, character }, encoding)
    }

    #[test]
    fn columns_count_the_units_of_the_negotiated_encoding() {
        let text = "aä😀b\nc";
        for (at, wide, narrow) in [(1, 1, 1), (3, 2, 3), (7, 4, 7), (8, 5, 8)] {
            assert_eq!(place(text, at, Encoding::Utf16), (0, wide));
            assert_eq!(place(text, at, Encoding::Utf8), (0, narrow));
            assert_eq!(byte(text, (0, wide), Encoding::Utf16), at);
            assert_eq!(byte(text, (0, narrow), Encoding::Utf8), at);
        }
        assert_eq!(place(text, 9, Encoding::Utf16), (1, 0));
        assert_eq!(place(text, 10, Encoding::Utf16), (1, 1));
    }

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        let text = "a\r\nb\rc\n\nd";
        let lines = [(0, 0), (3, 1), (5, 2), (7, 3), (8, 4)];
        for (at, line) in lines {
            assert_eq!(place(text, at, Encoding::Utf16), (line, 0));
            assert_eq!(byte(text, (line, 0), Encoding::Utf8), at);
        }
        assert_eq!(byte(text, (0, 99), Encoding::Utf16), 1, "a column beyond the line is its end");
        assert_eq!(byte(text, (99, 0), Encoding::Utf16), text.len());
    }

    #[test]
    fn a_position_inside_of_a_character_is_its_start() {
        let text = "😀";
        assert_eq!(byte(text, (0, 1), Encoding::Utf16), 0);
        assert_eq!(byte(text, (0, 3), Encoding::Utf8), 0);
        assert_eq!(place(text, 2, Encoding::Utf16), (0, 0));
    }

    proptest! {
        #[test]
        fn a_position_converts_back_to_its_byte(text in "[aä😀\r\n]{0,40}", at in 0..160usize, wide in any::<bool>()) {
            let encoding = if wide { Encoding::Utf16 } else { Encoding::Utf8 };
            let lines = LinePositions::of(&text);
            let place = lines.position(&text, at, encoding);
            let back = lines.byte(&text, place, encoding);
            assert!(text.is_char_boundary(back));
            // The end of a line with a two-byte terminator has one position for both bytes.
            let between = text.get(back..at.min(text.len())).unwrap_or("\n");
            assert!(between.is_empty() || between.starts_with(['\r', '\n']), "{text:?} {at} {back}");
        }

        #[test]
        fn positions_on_long_lines_follow_the_definition(
            parts in prop::collection::vec("[aä界😀]{0,9}|\r\n|\n|x{300}|界{200}|😀{150}", 0..12),
            at in 0..4000_usize,
        ) {
            let text = parts.concat();
            let lines = LinePositions::of(&text);
            let at = loopkeeper_text::truncate::first_bytes(&text, at).len();
            let begin = text[..at].rfind('\n').map_or(0, |it| it + 1);
            let found = lines.position(&text, at, Encoding::Utf16);
            assert_eq!(found.character as usize, text[begin..at].encode_utf16().count());
            assert_eq!(found.line as usize, text[..at].matches('\n').count());
            // No position lies inside a line terminator.
            if !(text[..at].ends_with('\r') && text[at..].starts_with('\n')) {
                assert_eq!(lines.byte(&text, found, Encoding::Utf16), at, "{text:?}");
            }
        }

        #[test]
        fn any_position_is_a_character_boundary(text in prop::string::string_regex(".{0,20}").unwrap(), line in any::<u32>(), column in any::<u32>()) {
            let at = byte(&text, (line % 30, column % 30), Encoding::Utf16);
            assert!(text.is_char_boundary(at));
            let at = byte(&text, (line, column), Encoding::Utf8);
            assert!(text.is_char_boundary(at));
        }
    }
}
