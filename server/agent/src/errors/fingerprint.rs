//! Fingerprints an error by its stable part: everything except places, times, numbers and random names.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::Fingerprint;
use loopkeeper_text::digest::hex;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::sanitize;

/// A lazily compiled regex, its replacement, and a cheap pre-check. Compiling a regex costs more than all other work
/// of an iteration.
struct MaskRule {
    may_match: fn(&str) -> bool,
    pattern: ConstantPattern,
    with: &'static str,
}

impl MaskRule {
    fn apply(&self, text: String) -> String {
        if (self.may_match)(&text) { replace_matches(&self.pattern, text, self.with) } else { text }
    }
}

macro_rules! rule {
    ($may_match:expr, $pattern:literal, $with:literal) => {
        MaskRule { may_match: $may_match, pattern: ConstantPattern::new($pattern), with: $with }
    };
}

/// Applied in this order: text that a later rule would split is masked first.
static PLACES_AND_TIMES: [MaskRule; 9] = [
    rule!(|it| it.contains("://"), r"[a-z][a-z0-9+]*://[^\s'\x22`)>]+", "<url>"),
    rule!(
        |it| has_digit(it) && it.contains(['-', ':']),
        r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?",
        "<n>"
    ),
    rule!(
        |it| has_digit(it) && MONTHS.iter().any(|month| it.contains(month)),
        r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,4}\b",
        "<n>"
    ),
    rule!(
        |it| it.matches('-').count() >= 4,
        r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        "<id>"
    ),
    rule!(|it| has_digit(it) && it.contains('-'), r"\b\d{8}-[a-z2-7]{6}\b", "<id>"),
    rule!(|it| it.contains(":\\"), r"\b[A-Za-z]:\\[^\s:'\x22`]+(?::\d+)*", "<path>"),
    rule!(
        |it| it.contains('/'),
        r"(?P<before>^|[^\w/.~<])(?:~|\.{1,2})?(?:/[\w.@%+~=,-]+)+/?(?:[:(]\d+(?:[:,]\d+)?\)?)?",
        "${before}<path>"
    ),
    rule!(
        |it| it.contains(['/', '.']),
        r"(?P<before>^|[^\w/.<@-])(?:(?:[\w.+-]+/){2,}[\w.@+-]*|(?:[\w.+-]+/)+[\w@+-]+\.\w{1,8}|[\w-]+\.(?:rs|pyi?|jsx?|tsx?|mjs|cjs|go|java|kts?|c|cc|cpp|h|hpp|rb|php|cs|swift|ex|exs|md|toml|json|ya?ml|lock|txt|sh|html|css|vue|sql))(?:[:(]\d+(?:[:,]\d+)?\)?)?",
        "${before}<path>"
    ),
    rule!(|it| it.contains("tmp"), r"\.?\btmp[._-]?\w*\b", "<path>"),
];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
static HEX: ConstantPattern = ConstantPattern::new(r"(?i)\b0x[0-9a-f]+\b|\b[0-9a-f]{7,64}\b");
/// Equivalent to `NUMBERS` for ASCII text, but cheaper.
static PLAIN_NUMBERS: MaskRule = rule!(
    has_digit,
    r"(?-u:\b)[0-9]+(?:[.,][0-9]+)*(?:[\t\n\x0B\f\r ]?(?:ns|us|ms|s|m|h|min|secs?|seconds?|minutes?|hours?|days?))?(?:(?-u:\b)|$)",
    "<n>"
);
static NUMBERS: MaskRule = rule!(
    has_digit,
    r"\b\d+(?:[.,]\d+)*(?:\s?(?:ns|µs|us|ms|s|m|h|min|secs?|seconds?|minutes?|hours?|days?))?(?:\b|$)",
    "<n>"
);
static REPEATED: MaskRule = rule!(|it| it.matches("<n>").nth(1).is_some(), r"<n>(?:[ ,:]*<n>)+", "<n>");

/// The fingerprint of an error by its decisive line.
pub fn fingerprint(error: &str) -> Fingerprint {
    digest(&normalize_error(error))
}

/// The fingerprint of a text whose variable parts are already removed.
pub fn digest(text: &str) -> Fingerprint {
    let digest = Sha256::digest(text.as_bytes());
    Fingerprint(hex(digest.get(..6).unwrap_or_default()))
}

pub(super) fn normalize_error(error: &str) -> String {
    let mut text = sanitize::line_within(error, 2000);
    for rule in &PLACES_AND_TIMES {
        text = rule.apply(text);
    }
    if may_have_hex(&text) {
        text = mask_hex(&text);
    }
    text = if text.is_ascii() { PLAIN_NUMBERS.apply(text) } else { NUMBERS.apply(text) };
    text = REPEATED.apply(text);
    text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '<').trim().to_owned()
}

/// Whether it contains a digit of any script, as the patterns do.
fn has_digit(text: &str) -> bool {
    text.chars().any(char::is_numeric)
}

/// Whether it may contain a hash or an address; shorter hexadecimal words count as numbers or words.
fn may_have_hex(text: &str) -> bool {
    let long = |it: &[u8]| it.len() >= 7 && it.iter().any(u8::is_ascii_digit);
    text.contains("0x")
        || text.contains("0X")
        || text.as_bytes().split(|it| !it.is_ascii_hexdigit()).any(long)
}

fn mask_hex(text: &str) -> String {
    let replaced = HEX.replace_all(text, |found: &regex::Captures<'_>| {
        let word = found.get(0).map_or("", |it| it.as_str());
        // `defaced` is a plain word, not a number.
        if word.contains(|c: char| c.is_ascii_digit()) { "<n>".to_owned() } else { word.to_owned() }
    });
    replaced.into_owned()
}

fn replace_matches(pattern: &ConstantPattern, text: String, with: &str) -> String {
    match pattern.replace_all(&text, with) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => changed,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The result of all patterns without the pre-checks.
    fn by_patterns_alone(error: &str) -> String {
        let mut text = sanitize::line_within(error, 2000);
        for rule in &PLACES_AND_TIMES {
            text = replace_matches(&rule.pattern, text, rule.with);
        }
        text = replace_matches(&NUMBERS.pattern, mask_hex(&text), NUMBERS.with);
        text = replace_matches(&REPEATED.pattern, text, REPEATED.with);
        text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '<').trim().to_owned()
    }

    #[test]
    fn a_wrong_pre_check_would_be_noticed() {
        let never = MaskRule { may_match: |_| false, pattern: ConstantPattern::new("a"), with: "b" };
        assert_eq!(never.apply("a".to_owned()), "a");
        assert_ne!(never.apply("a".to_owned()), replace_matches(&never.pattern, "a".to_owned(), never.with));
    }

    proptest! {
        #[test]
        fn no_pre_check_hides_a_match(parts in prop::collection::vec(prop_oneof![
            "https?://[a-z.]{1,9}", "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?",
            "(Mon, )?[0-9]{0,2} ?(Jan|Aug|Dec) [0-9]{1,4}", "[0-9a-fA-F]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            "[0-9]{8}-[a-z2-7]{6}", "[A-Z]:\\\\[a-z]{1,5}(:[0-9])?", "~?(/[a-z.]{1,5}){1,3}(:[0-9]{1,2})?",
            "[a-z]{1,5}\\.(rs|py|toml)(:[0-9]{1,3})?", "\\.?tmp[._-]?[a-z]{0,4}", "0[xX][0-9a-fA-F]{1,9}",
            "[0-9a-fA-F]{5,12}", "[0-9]{1,4}([.,][0-9]{1,3})? ?(µs|us|ms|s|seconds?|days)?", "[٠-٩]{1,3}", "½",
            "[a-zéſK]{1,8}", "[ ,:()'<>\u{b}\t-]{1,3}", "\\PC{0,4}",
        ], 0..9)) {
            let text = parts.concat();
            prop_assert_eq!(normalize_error(&text), by_patterns_alone(&text));
        }
    }
}
