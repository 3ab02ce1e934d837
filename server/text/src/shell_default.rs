//! Reads `${NAME:-default}`, as scripts write values that the environment may override.

/// The default at the beginning of `text`, and the length of the whole expression; `None` for anything else, and for a
/// default that a shell would expand.
pub fn leading_default(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix("${")?;
    let end = inner.find('}')?;
    let (name, value) = inner.get(..end)?.split_once('-')?;
    let name = name.strip_suffix(':').unwrap_or(name);
    let is_name = !name.is_empty()
        && !name.starts_with(|it: char| it.is_ascii_digit())
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    let is_plain = !value.contains(['$', '`', '\\', '"', '\'', '{', '\n', '\r']);
    (is_name && is_plain).then_some((value, "${".len() + end + 1))
}

/// The default, if `text` is nothing else.
pub fn only_default(text: &str) -> Option<&str> {
    leading_default(text).filter(|(_, length)| *length == text.len()).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::{leading_default, only_default};

    #[test]
    fn a_default_is_read_and_nothing_else() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(only_default(text), expect, "{text}");
        check("${A:-npm test}", Some("npm test"));
        check("${A_1-50}", Some("50"));
        check("${A:-}", Some(""));
        check("${A}", None);
        check("${A:-$B}", None);
        check("${A:-${B:-1}}", None);
        check("${A:-$(id)}", None);
        check("${A:-`id`}", None);
        check("${1:-x}", None);
        check("${A:=x}", None);
        check("${A:-x} y", None);
        check("${A:-x", None);
        assert_eq!(leading_default("${A:-15}m"), Some(("15", 8)));
    }
}
