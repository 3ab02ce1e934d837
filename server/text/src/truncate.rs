//! Truncates text at its beginning or end, on character boundaries.

/// The first bytes of a text, at most `most`.
pub fn first(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The last bytes of a text, at most `most`.
pub fn last(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{first, last};

    #[test]
    fn no_character_is_cut_in_two() {
        let check = |most: usize, expect: (&str, &str)| {
            assert_eq!((first("aé€b", most), last("aé€b", most)), expect, "{most}");
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
