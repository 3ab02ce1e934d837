//! Foreign text inside the prompt's Markdown: fences and code spans that nothing inside can close.

use loopkeeper_text::truncate;

/// A fenced block, one backtick longer than any run inside.
pub fn fenced_block(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

/// A code span that holds the text as it is.
pub(crate) fn code_span(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// One line of a list: line breaks inside a name would begin another element.
pub(crate) fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The last `bytes` of a text, from the start of a line where that costs little.
pub(crate) fn last_lines(text: &str, bytes: usize) -> &str {
    let kept = truncate::last_bytes(text, bytes);
    match kept.find('\n') {
        Some(at) if kept.len() < text.len() && at < bytes / 4 => kept.get(at + 1..).unwrap_or_default(),
        _ => kept,
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Maximum length of a name or of a list entry.
const NAME_BYTES: usize = 400;

/// One line, cut where it is too long for a list.
pub(super) fn short_line(text: &str) -> String {
    let text = single_line(text);
    if text.len() <= NAME_BYTES { text } else { format!("{}…", truncate::first_bytes(&text, NAME_BYTES)) }
}
