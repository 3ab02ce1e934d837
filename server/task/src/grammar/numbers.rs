//! Numbers that command output is compared with, and numbers with a unit, which are not.

/// `12`, `-0.5`, `1,000`.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = digits.starts_with(|char: char| char.is_ascii_digit())
        && digits.ends_with(|char: char| char.is_ascii_digit())
        && digits.chars().all(|char| char.is_ascii_digit() || char == '.' || char == ',');
    if !plain || !thousands_are_sound(digits) {
        return None;
    }
    text.replace(',', "").parse().ok()
}

fn thousands_are_sound(digits: &str) -> bool {
    let whole = digits.split('.').next().unwrap_or(digits);
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let fraction_is_plain = !digits.get(whole.len()..).is_some_and(|rest| rest.contains(','));
    fraction_is_plain && (!whole.contains(',') || first.len() <= 3) && groups.all(|group| group.len() == 3)
}

/// `>= 80 %`, `< 5 ms`: numbers are compared regardless of their unit.
pub(super) fn without_unit(code: &str) -> Option<String> {
    let digits = code.rfind(|it: char| it.is_ascii_digit())?;
    let kept = code.get(..=digits)?;
    let unit = code.get(digits + 1..)?.trim();
    let is_unit = unit.chars().all(|it| it.is_alphabetic() || it == '%') && unit.chars().count() <= 2;
    (!unit.is_empty() && is_unit).then(|| kept.to_owned())
}
