//! Quotes words of shell commands.

/// Quotes a word for `sh`, where it needs quotes.
pub fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "._-/@+:,=%~".contains(it);
    // A tilde at the beginning would be expanded, and `NAME=value` in front of a command sets a variable.
    let sets_variable = word.contains('=') && !word.starts_with('-');
    if !word.is_empty() && !word.starts_with('~') && !sets_variable && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_where_the_shell_would_change_them() {
        let check = |word: &str, expect: &str| assert_eq!(quoted(word), expect);
        check("make", "make");
        check("src/a-b_c.rs", "src/a-b_c.rs");
        check("--level=3", "--level=3");
        check("A=b", "'A=b'");
        check("~/x", "'~/x'");
        check("", "''");
        check("a b", "'a b'");
        check("it's", "'it'\\''s'");
        check("$HOME", "'$HOME'");
    }
}
