//! The last number of a text, as a person would read it: `1,000`, `76.4%`, `-3`, `1e-3`, `12ms`.

#[cfg(test)]
mod tests;

/// Versions and addresses (`1.2.3`), digits inside words (`utf8`, `x86_64`) and values out of range are not numbers.
pub(super) fn last_number(text: &str) -> Option<f64> {
    text.lines().rev().find_map(|line| numbers(line).last())
}

fn numbers(line: &str) -> impl Iterator<Item = f64> {
    let mut rest = line;
    let mut before = None;
    std::iter::from_fn(move || {
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let (lead, digits) = rest.split_at(at);
            let word = NumberPrefix::of(lead, before);
            let token = NumberToken::at_start_of(digits);
            before = digits.get(..token.length).and_then(|it| it.chars().last());
            rest = digits.get(token.length..).unwrap_or_default();
            if let Some(value) = token.value.filter(|_| word != NumberPrefix::Word) {
                return Some(if word == NumberPrefix::Minus { -value } else { value });
            }
        }
        None
    })
}

/// The text in front of the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberPrefix {
    Free,
    Minus,
    Word,
}

impl NumberPrefix {
    /// `lead` is the text since the last number, `before` the character in front of it. A dash is a sign only
    /// where no preceding character could make it part of a word or a range: `10-5` holds a 10 and a 5.
    fn of(lead: &str, before: Option<char>) -> Self {
        let mut back = lead.chars().rev().chain(before);
        match back.next() {
            Some('-' | '−') => match back.next() {
                Some(c) if c.is_alphanumeric() || matches!(c, '-' | ')' | ']' | '_' | '.') => Self::Free,
                _ => Self::Minus,
            },
            Some(c) if c.is_alphabetic() || c == '_' => Self::Word,
            _ => Self::Free,
        }
    }
}

/// A run that begins with a digit. `value` is `None` for versions, addresses and values out of range.
struct NumberToken {
    length: usize,
    value: Option<f64>,
}

impl NumberToken {
    fn at_start_of(text: &str) -> Self {
        let whole = end_of_grouped(text).unwrap_or_else(|| digits(text));
        let mut length = whole;
        if let Some(decimals) = after(text, length, '.').map(digits).filter(|it| *it > 0) {
            length += 1 + decimals;
        }
        let dotted = end_of_dotted(text, length);
        if dotted > length {
            return Self { length: dotted, value: None };
        }
        length += exponent(text.get(length..).unwrap_or_default());
        let written: String =
            text.get(..length).unwrap_or_default().chars().filter(|c| !matches!(c, ',' | '_')).collect();
        Self { length, value: written.parse().ok().filter(|it: &f64| it.is_finite()) }
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn after(text: &str, at: usize, sign: char) -> Option<&str> {
    text.get(at..)?.strip_prefix(sign)
}

/// `1,000,000` or `1_000`: one to three digits, then groups of exactly three.
fn end_of_grouped(text: &str) -> Option<usize> {
    let first = digits(text);
    let mark = text.get(first..)?.chars().next().filter(|it| matches!(it, ',' | '_'))?;
    let mut length = first;
    while let Some(3) = after(text, length, mark).map(digits) {
        length += 4;
    }
    let more = after(text, length, mark).map_or(0, digits);
    (first <= 3 && length > first && more == 0).then_some(length)
}

/// The end of further `.digits` behind a number: with those it is a version or an address.
fn end_of_dotted(text: &str, from: usize) -> usize {
    let mut length = from;
    while let Some(more) = after(text, length, '.').map(digits).filter(|it| *it > 0) {
        length += 1 + more;
    }
    length
}

fn exponent(text: &str) -> usize {
    let Some(power) = text.strip_prefix(['e', 'E']) else { return 0 };
    let signed = power.strip_prefix(['+', '-']).unwrap_or(power);
    let count = digits(signed);
    let ends = !signed.get(count..).is_some_and(|it| it.starts_with(|c: char| c.is_alphanumeric()));
    if count > 0 && ends { text.len() - signed.len() + count } else { 0 }
}
