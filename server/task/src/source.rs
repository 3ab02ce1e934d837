//! A Markdown document's text as the parser should see it: without byte order mark and front matter, and with
//! an empty line before each line that opens a section. People write
//!
//!     - src/auth.rs
//!     DONE WHEN:
//!
//! and mean two things, where Markdown sees one list item. Ranges are always those of the original bytes.

use std::ops::Range;

use super::phrases::{ends_in_colon, match_phrase};
use super::promise_tag;

pub(super) struct MarkdownSource<'a> {
    text: &'a str,
    /// Leading bytes that are not Markdown.
    skipped: usize,
    spread: String,
    /// Offsets in `spread` of the inserted line ends.
    inserted: Vec<usize>,
}

impl<'a> MarkdownSource<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let skipped = front_matter_end(text);
        let mut source =
            Self { text, skipped, spread: String::with_capacity(text.len() + 16), inserted: Vec::new() };
        let promises = promise_tag::may_contain_promise(text);
        let mut after_text = false;
        let mut in_html = false;
        for line in lines_of(text.get(skipped..).unwrap_or_default()) {
            in_html = after_text && in_html || begins_with_tag(line);
            if after_text && (opens_section(line, promises) || in_html && opens_block(line)) {
                in_html = false;
                source.inserted.push(source.spread.len());
                // After a lone carriage return a line feed would only complete it.
                source.spread.push(if source.spread.ends_with('\r') { '\r' } else { '\n' });
            }
            source.spread.push_str(line);
            after_text = !line.trim().is_empty();
        }
        source
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    pub(super) fn spread(&self) -> &str {
        &self.spread
    }

    pub(super) fn original(&self, spread: Range<usize>) -> Range<usize> {
        let original =
            |at: usize| at - self.inserted.partition_point(|&inserted| inserted < at) + self.skipped;
        original(spread.start)..original(spread.end)
    }

    pub(super) fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Every line of the document with its range, line ends left out.
    pub(super) fn lines(&self) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        let mut at = self.skipped;
        lines_of(self.slice(&(self.skipped..self.text.len()))).map(move |line| {
            let start = at;
            at += line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            (start..start + line.len(), line)
        })
    }

    /// Whether the character at `at` is escaped by a backslash.
    pub(super) fn is_escaped(&self, at: usize) -> bool {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
    }
}

/// Lines with their ends: `\n`, `\r\n`, and the lone `\r` that Markdown also takes for a line end.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match line_end(rest) {
            Some(at) if rest.get(at..).is_some_and(|it| it.starts_with("\r\n")) => at + 2,
            Some(at) => at + 1,
            None => rest.len(),
        };
        let (line, behind) = rest.split_at(end);
        rest = behind;
        (!line.is_empty()).then_some(line)
    })
}

fn line_end(text: &str) -> Option<usize> {
    text.bytes().position(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The end of a byte order mark and of a front matter block: `---`, keys, `---`. Text between two horizontal rules is
/// the document's own.
pub fn front_matter_end(text: &str) -> usize {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut at = start;
    let mut has_keys = false;
    for (index, line) in lines_of(text.get(start..).unwrap_or_default()).enumerate() {
        at += line.len();
        let line = line.trim_end();
        match index {
            0 if line != "---" => return start,
            0 => {}
            _ if line == "---" || line == "..." => return at,
            // A comment of YAML is no heading of criteria.
            _ if line.starts_with('#') && match_phrase(line).is_some() => return start,
            _ if has_keys || line.is_empty() || line.starts_with('#') => {}
            _ if begins_with_key(line) => has_keys = true,
            _ => return start,
        }
    }
    start
}

fn begins_with_key(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, _)| {
        !key.is_empty() && key.chars().all(|char| char.is_alphanumeric() || "_-.\"'".contains(char))
    })
}

/// `promises`: whether the document contains a promise anywhere.
fn opens_section(line: &str, promises: bool) -> bool {
    let line = line.trim_end();
    let is_text = !line.starts_with(|char: char| char.is_whitespace() || "#>|`~".contains(char));
    if !is_text || is_list_marker(line) {
        return false;
    }
    if promises && promise_tag::may_contain_promise(line) {
        return true;
    }
    // Nearly every line returns here.
    if !line.contains(':') && !line.contains('：') {
        return false;
    }
    // A lead line is short, or has its list on the same line.
    let head: String = line.chars().filter(|char| !"*_".contains(*char)).take(HEAD_CHARS).collect();
    let lead = head.trim_start().to_lowercase();
    lead.starts_with("objective:")
        || lead.starts_with("context:")
        || (match_phrase(&head).is_some()
            && (ends_in_colon(line.trim_end_matches(['*', '_'])) || head.contains([':', '：'])))
}

const HEAD_CHARS: usize = 160;

/// Whether a block of HTML may begin here, which Markdown ends at the next empty line.
fn begins_with_tag(line: &str) -> bool {
    let tag = line.trim_start().strip_prefix('<').map(|it| it.strip_prefix('/').unwrap_or(it));
    tag.is_some_and(|it| it.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// Whether the line is a heading or an item of a list.
fn opens_block(line: &str) -> bool {
    let line = line.trim();
    is_list_marker(line) || line.trim_start_matches('#').starts_with(' ') && line.starts_with('#')
}

pub(super) fn is_list_marker(line: &str) -> bool {
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let marker = if rest.len() == line.len() { &['-', '*', '+'][..] } else { &['.', ')'][..] };
    rest.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}
