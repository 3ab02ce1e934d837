//! Folds text to one line. Copies only what changes.

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

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{folded, one_line};

    #[test]
    fn white_space_becomes_single_spaces() {
        let check = |text: &str, expect: &str| assert_eq!(one_line(text), expect, "{text:?}");
        check("", "");
        check("a b", "a b");
        check(" a\r\n\tb\u{a0} c ", "a b c");
        check(" ", "");
        for (text, is_copied) in [("a é b", false), ("", false), ("a ", true), ("a  b", true), ("a\tb", true)]
        {
            assert_eq!(matches!(folded(text), Cow::Owned(_)), is_copied, "{text:?}");
        }
    }
}
