//! Finds the last lines of a file from its end.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

const PIECE_BYTES: u64 = 64 * 1024;

/// The bytes of the last `count` complete lines, and the number of lines before them.
pub(super) fn find(file: &File, count: u64) -> io::Result<(Range<u64>, u64)> {
    let length = file.metadata()?.len();
    let (mut end, mut start, mut lines) = (None, 0, 0);
    let mut piece = vec![0; PIECE_BYTES as usize];
    let mut at = length;
    while at > 0 {
        let begin = at.saturating_sub(PIECE_BYTES);
        let bytes = piece.get_mut(..(at - begin) as usize).unwrap_or_default();
        file.read_exact_at(bytes, begin)?;
        for newline in memchr::memrchr_iter(b'\n', bytes) {
            let after = begin + newline as u64 + 1;
            end.get_or_insert(after);
            // The newline before a line begins it.
            if lines == count {
                start = after;
            }
            lines += 1;
        }
        at = begin;
    }
    Ok((start..end.unwrap_or(0), lines.saturating_sub(count)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_last_lines_are_found_from_the_end() {
        let check = |text: &str, count: u64, expect: &str, earlier: u64| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let (range, before) = find(&file, count).unwrap();
            let found = text.get(range.start as usize..range.end as usize).unwrap();
            assert_eq!((found, before), (expect, earlier), "{count} of {} bytes", text.len());
        };
        check("", 2, "", 0);
        check("torn", 2, "", 0);
        check("a\n", 2, "a\n", 0);
        check("a\nb\n", 2, "a\nb\n", 0);
        check("a\nb\nc\n", 2, "b\nc\n", 1);
        check("a\nb\nc\ntorn", 2, "b\nc\n", 1);
        check("a\nb\n", 0, "", 2);
        let long = format!("{}\n", "x".repeat(PIECE_BYTES as usize));
        check(&long.repeat(4), 2, &long.repeat(2), 2);
    }
}
