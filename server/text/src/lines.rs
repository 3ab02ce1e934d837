//! Index of line starts. Built once per text, so that locating many ranges does not rescan the text before each of
//! them.

use std::ops::Range;

/// The line index of one text. Lines end with `\n`, `\r\n` or `\r`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes).filter(|at| {
            let is_first_of_two = bytes.get(*at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            !is_first_of_two
        });
        Self { starts: std::iter::once(0).chain(ends.map(|at| at + 1)).collect() }
    }

    /// The line that contains a byte, from 0; the last one for a byte past the end.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The first byte of a line; `None` if there is no such line.
    pub fn start(&self, line: usize) -> Option<usize> {
        self.starts.get(line).copied()
    }
}

/// The line that contains `offset`, without its end.
pub fn line_around(text: &str, offset: usize) -> Range<usize> {
    let (before, after) = text.split_at_checked(offset).unwrap_or_default();
    // Between the two characters of a line end, the line is the one that they end.
    let before = if after.starts_with('\n') { before.strip_suffix('\r').unwrap_or(before) } else { before };
    let start = before.rfind(['\r', '\n']).map_or(0, |it| it + 1);
    let rest = text.get(start..).unwrap_or_default();
    let end = start + rest.find(['\r', '\n']).unwrap_or(rest.len());
    start..end.max(offset)
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, line_around};
    use proptest::prelude::proptest;

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        let lines = LineIndex::of("a\r\nb\rc\n\nd");
        let starts: Vec<usize> = (0..).map_while(|it| lines.start(it)).collect();
        assert_eq!(starts, [0, 3, 5, 7, 8]);
        let of: Vec<usize> = (0..=9).map(|it| lines.line(it)).collect();
        assert_eq!(of, [0, 0, 0, 1, 1, 2, 2, 3, 4, 4]);
        assert_eq!(LineIndex::of("").line(7), 0);
    }

    #[test]
    fn a_line_is_found_without_its_end() {
        let text = "ab\r\ncd\n";
        let found: Vec<&str> = [0, 2, 4, 6, 7].map(|at| &text[line_around(text, at)]).to_vec();
        assert_eq!(found, ["ab", "ab", "cd", "cd", ""]);
        let returns = [0, 1, 2, 4].map(|at| &"a\rb\rc"[line_around("a\rb\rc", at)]);
        assert_eq!(returns, ["a", "a", "b", "c"]);
        assert_eq!((line_around("", 0), line_around("ab\r\n", 3)), (0..0, 0..3));
    }

    proptest! {
        #[test]
        fn a_byte_is_in_the_line_that_begins_before_it(text in "[aä😀\r\n]{0,40}", at in 0..200_usize) {
            let lines = LineIndex::of(&text);
            let line = lines.line(at);
            assert!(lines.start(line).is_some_and(|it| it <= at));
            assert!(lines.start(line + 1).is_none_or(|it| it > at));
        }
    }
}
