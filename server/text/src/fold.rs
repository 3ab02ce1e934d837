//! Folds text to one line and shortens it to a number of characters. Copies only what changes.

use std::borrow::Cow;

/// Replaces any white space, line ends included, with single spaces.
pub fn one_line(text: &str) -> String {
    folded(text).into_owned()
}

/// Like [`one_line`], without copying text that is already one line.
pub fn folded(text: &str) -> Cow<'_, str> {
    if is_folded(text) {
        return text.into();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").into()
}

/// One pass: this runs over every item of a document at each keystroke.
fn is_folded(text: &str) -> bool {
    let mut after_space = true;
    for char in text.chars() {
        let is_space = char == ' ';
        if (is_space && after_space) || (!is_space && char.is_whitespace()) {
            return false;
        }
        after_space = is_space;
    }
    !after_space || text.is_empty()
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
