//! Folds text to one line and shortens it to a number of characters. Copies only what changes.

use std::borrow::Cow;

/// Replaces any white space, line ends included, with single spaces.
pub fn one_line(text: &str) -> String {
    folded(text).into_owned()
}

/// Like [`one_line`], without copying text that is already one line.
pub fn folded(text: &str) -> Cow<'_, str> {
    let is_folded = !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.contains("  ")
        && !text.contains(|it: char| it != ' ' && it.is_whitespace());
    if is_folded {
        return text.into();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").into()
}

/// Shortens to at most `limit` characters.
pub fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit || text.chars().count() <= limit {
        return text.into();
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short.into()
}
