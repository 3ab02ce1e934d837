//! Classifies words of a shell.

/// A name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !text.is_empty() && !text.starts_with(|it: char| it.is_ascii_digit()) && text.chars().all(is_part)
}

/// The name that a word assigns to: `name=…`, `name+=…`
pub(super) fn assigned_name(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    is_name(name).then_some(name)
}

/// `7` → `8`; nothing for another base.
pub(super) fn next_number(text: &str) -> Option<String> {
    let is_prefixed = text.len() > 1 && text.starts_with('0');
    let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    (is_number && !is_prefixed).then(|| text.parse::<u64>().ok()?.checked_add(1).map(|it| it.to_string()))?
}
