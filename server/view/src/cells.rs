//! Text truncated or padded to a number of terminal cells.

use loopkeeper_text::words;

/// At most `columns` cells, with `…` in place of a rest. Differs from [`loopkeeper_text::truncate::shortened`] in the
/// measure: a character may take two cells.
pub(crate) fn truncated(text: &str, columns: usize) -> String {
    if words::width(text) <= columns {
        return text.to_owned();
    }
    let mut cells = 0;
    let mut shown: String = text
        .chars()
        .take_while(|it| {
            cells += words::cells(*it);
            cells < columns
        })
        .collect();
    if columns > 0 {
        shown.push('…');
    }
    shown
}

/// Exactly `columns` cells.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    let text = truncated(text, columns);
    let rest = columns.saturating_sub(words::width(&text));
    text + &" ".repeat(rest)
}

#[cfg(test)]
mod tests {
    use super::{padded, truncated};

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(truncated("abc", 3), "abc");
        assert_eq!(truncated("abcd", 3), "ab…");
        assert_eq!(truncated("界面语言", 5), "界面…");
        assert_eq!(truncated("界面语言", 4), "界…");
        assert_eq!(truncated("ab", 0), "");
        assert_eq!(padded("界", 4), "界  ");
    }

    #[test]
    fn a_long_text_is_truncated_in_linear_time() {
        assert_eq!(padded(&"a".repeat(1_000_000), 3), "aa…");
    }
}
