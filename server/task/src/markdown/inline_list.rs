//! Parses criteria that are written in one paragraph: `Done when: - tests pass: `$ cargo test` - docs are written`.

use std::ops::Range;

use crate::item::{InlineContent, PieceKind};
use crate::source::MarkdownSource;

pub(super) struct InlineList<'a> {
    pub(super) name: String,
    pub(super) items: Vec<InlineContent<'a>>,
    /// The paragraph rewritten as a list.
    pub(super) fix: String,
}

/// Splits at " - " outside code spans if the text after the colon begins with "- ".
pub(super) fn parse_inline_list<'a>(
    source: &MarkdownSource<'_>,
    paragraph: &InlineContent<'a>,
) -> Option<InlineList<'a>> {
    let (colon_end, first_dash) = colon_before_dash(source, paragraph)?;
    let end = paragraph.range.end;
    let mut dashes = vec![first_dash];
    dashes.extend(dashes_after(source, paragraph, first_dash + 1));
    let ends = dashes.iter().skip(1).copied().chain([end]);
    let mut items = Vec::new();
    let lead = source.slice(&(paragraph.range.start..colon_end)).trim_end();
    let mut fix = format!("{lead}\n");
    for (&dash, item_end) in dashes.iter().zip(ends) {
        let range = trim_range(source, dash + 1..item_end);
        if range.is_empty() {
            continue;
        }
        fix.push_str("\n- ");
        fix.push_str(&source.slice(&range).split_whitespace().collect::<Vec<_>>().join(" "));
        items.push(paragraph.clipped(&range));
    }
    let name = lead.trim_matches(|char: char| "*_:： ".contains(char)).to_owned();
    (!items.is_empty()).then_some(InlineList { name, items, fix })
}

/// The end of the lead with its markup, and the offset of the dash after it.
fn colon_before_dash(source: &MarkdownSource<'_>, paragraph: &InlineContent<'_>) -> Option<(usize, usize)> {
    let texts = paragraph.pieces.iter().filter(|piece| piece.kind == PieceKind::Text);
    for piece in texts {
        for (at, colon) in source.slice(&piece.range).match_indices([':', '：']) {
            let after = piece.range.start + at + colon.len();
            let behind = source.slice(&(after..paragraph.range.end));
            let rest = behind.trim_start_matches(['*', '_']);
            let colon_end = after + behind.len() - rest.len();
            let list = rest.trim_start();
            if list.starts_with("- ") {
                return Some((colon_end, colon_end + rest.len() - list.len()));
            }
        }
    }
    None
}

fn dashes_after(source: &MarkdownSource<'_>, paragraph: &InlineContent<'_>, from: usize) -> Vec<usize> {
    let text = source.slice(&(from..paragraph.range.end));
    let bytes = text.as_bytes();
    let is_space = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_whitespace);
    let mut codes = paragraph.pieces.iter().filter(|piece| piece.kind.is_code()).peekable();
    let mut dashes = Vec::new();
    for (at, _) in text.match_indices('-') {
        let offset = from + at;
        while codes.next_if(|code| code.range.end <= offset).is_some() {}
        let in_code = codes.peek().is_some_and(|code| code.range.contains(&offset));
        if !in_code && is_space(at.checked_sub(1)) && is_space(Some(at + 1)) {
            dashes.push(offset);
        }
    }
    dashes
}

fn trim_range(source: &MarkdownSource<'_>, range: Range<usize>) -> Range<usize> {
    let text = source.slice(&range);
    let start = range.start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}
