//! Masks everything in a message that is not the agent's own prose: fences, code spans, indented code and quotations
//! are blanked byte by byte, so that offsets stay valid.

use std::ops::Range;

/// The kind of a line of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageLineKind {
    Spoken,
    /// The line that opens a fence that is closed again.
    Opening,
    /// Inside a fence, its closing line, or anything after a fence that is never closed.
    Fenced,
    Indented,
    Quoted,
}

#[derive(Debug, Clone)]
pub(super) struct MessageLine<'a> {
    /// In the message, with the line end.
    pub(super) range: Range<usize>,
    /// Without the line end.
    pub(super) text: &'a str,
    pub(super) kind: MessageLineKind,
}

impl MessageLine<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

pub(super) fn lines(text: &str) -> Vec<MessageLine<'_>> {
    let mut fence: Option<(char, usize)> = None;
    let mut opened = None;
    let mut lines = Vec::new();
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let range = at..at + whole.len();
        at = range.end;
        let line = whole.trim_end_matches(['\n', '\r']);
        let start = line.trim_start();
        let kind = match (fence, fence_marker(start)) {
            (None, Some(opening)) => {
                fence = Some(opening);
                opened = Some(lines.len());
                MessageLineKind::Opening
            }
            (None, None) => unfenced_kind(line, start),
            (Some((mark, length)), Some((other, run))) if mark == other && run >= length => {
                if start.trim_start_matches(mark).trim().is_empty() {
                    fence = None;
                    opened = None;
                }
                MessageLineKind::Fenced
            }
            (Some(_), _) => MessageLineKind::Fenced,
        };
        lines.push(MessageLine { range, text: line, kind });
    }
    // A fence that is never closed contains no block that could be read.
    if let Some(line) = opened.and_then(|it| lines.get_mut(it)) {
        line.kind = MessageLineKind::Fenced;
    }
    lines
}

fn unfenced_kind(line: &str, start: &str) -> MessageLineKind {
    match line {
        _ if start.starts_with('>') => MessageLineKind::Quoted,
        _ if line.starts_with("    ") || line.starts_with('\t') => MessageLineKind::Indented,
        _ => MessageLineKind::Spoken,
    }
}

fn fence_marker(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.chars().take_while(|c| *c == mark).count();
    (run >= 3).then_some((mark, run))
}

/// Blanks out all lines that `is_kept` does not accept, and the code spans of the others. The length in bytes stays the
/// same.
pub(super) fn mask_lines(
    lines: &[MessageLine<'_>],
    is_kept: impl Fn(usize, &MessageLine<'_>) -> bool,
) -> String {
    let mut masked = String::new();
    for (number, line) in lines.iter().enumerate() {
        let kept = if is_kept(number, line) { line.text } else { "" };
        masked.push_str(kept);
        let end = if line.range.len() > line.text.len() { "\n" } else { "" };
        masked.extend(std::iter::repeat_n(' ', line.range.len() - kept.len() - end.len()));
        masked.push_str(end);
    }
    without_code_spans(&masked)
}

/// Code spans become blanks with a letter in between, so that the text around them does not become adjacent.
fn without_code_spans(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let run = from.bytes().take_while(|byte| *byte == b'`').count();
        let body = from.get(run..).unwrap_or_default();
        let end = closing_run(body, run).map_or(run, |end| run + end + run);
        push_blank(&mut out, from.get(..end).unwrap_or_default());
        rest = from.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Appends a placeholder word with the length and the line ends of `masked`.
pub(super) fn push_blank(out: &mut String, masked: &str) {
    let letter = usize::from(masked.len() > 1);
    for (at, byte) in masked.bytes().enumerate() {
        out.push(match byte {
            b'\n' => '\n',
            _ if at == letter => 'x',
            _ => ' ',
        });
    }
}

/// The start of a run of exactly `run` backticks.
fn closing_run(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find('`') {
        let begin = at + found;
        let length = text.get(begin..)?.bytes().take_while(|byte| *byte == b'`').count();
        if length == run {
            return Some(begin);
        }
        at = begin + length;
    }
    None
}
