//! The two ways to shorten a text: to a number of bytes, which bounds memory and leaves no mark, and to a number of
//! characters with an ellipsis, for people. Cells of a terminal are counted where tables are laid out.

use std::borrow::Cow;

/// At most `most` bytes from the beginning, on a character boundary.
pub fn first_bytes(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// At most `most` bytes from the end, on a character boundary.
pub fn last_bytes(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

/// At most `most` characters, with `…` in place of the end; no space remains before it.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || text.chars().count() <= most {
        return text.into();
    }
    let end = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
    format!("{}…", text.get(..end).unwrap_or_default().trim_end()).into()
}

/// At most `most` characters, with `…` in place of the beginning: the end of a path is its distinctive part.
pub fn shortened_at_start(text: &str, most: usize) -> Cow<'_, str> {
    let count = if text.len() <= most { 0 } else { text.chars().count() };
    if count <= most {
        return text.into();
    }
    let start = text.char_indices().nth((count - most).saturating_add(1)).map_or(text.len(), |(at, _)| at);
    format!("…{}", text.get(start..).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use super::{first_bytes, last_bytes, shortened, shortened_at_start};

    #[test]
    fn an_ellipsis_counts_as_a_character() {
        let check = |text: &str, most: usize, expect: (&str, &str)| {
            assert_eq!((&*shortened(text, most), &*shortened_at_start(text, most)), expect, "{text} {most}");
        };
        check("äöüß", 5, ("äöüß", "äöüß"));
        check("äöüß", 4, ("äöüß", "äöüß"));
        check("äöüß", 3, ("äö…", "…üß"));
        check("äöüß", 1, ("…", "…"));
        check("äöüß", 0, ("…", "…"));
        check("", 0, ("", ""));
        check("a bc", 3, ("a…", "…bc"));
    }

    #[test]
    fn no_character_is_cut_in_two() {
        let check = |most: usize, expect: (&str, &str)| {
            assert_eq!((first_bytes("aé€b", most), last_bytes("aé€b", most)), expect, "{most}");
        };
        check(0, ("", ""));
        check(1, ("a", "b"));
        check(2, ("a", "b"));
        check(3, ("aé", "b"));
        check(4, ("aé", "€b"));
        check(6, ("aé€", "é€b"));
        check(7, ("aé€b", "aé€b"));
        check(99, ("aé€b", "aé€b"));
    }
}
