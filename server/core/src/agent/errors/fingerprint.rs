//! What stays the same when an error comes again: everything but places, times, numbers and chance names.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use sha2::{Digest, Sha256};

use super::Fingerprint;
use crate::check::constant;
use crate::sanitize;

/// In this order: what a later one would take apart goes first.
static PLACES_AND_TIMES: LazyLock<[(Regex, &str); 9]> = LazyLock::new(|| {
    [
        (constant(r"[a-z][a-z0-9+]*://[^\s'\x22`)>]+"), "<url>"),
        (
            constant(
                r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?",
            ),
            "<n>",
        ),
        (
            constant(
                r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,4}\b",
            ),
            "<n>",
        ),
        (constant(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
        (constant(r"\b\d{8}-[a-z2-7]{6}\b"), "<id>"),
        (constant(r"\b[A-Za-z]:\\[^\s:'\x22`]+(?::\d+)*"), "<path>"),
        (
            constant(
                r"(?P<before>^|[^\w/.~<])(?:~|\.{1,2})?(?:/[\w.@%+~=,-]+)+/?(?:[:(]\d+(?:[:,]\d+)?\)?)?",
            ),
            "${before}<path>",
        ),
        (
            constant(
                r"(?P<before>^|[^\w/.<@-])(?:(?:[\w.+-]+/){2,}[\w.@+-]*|(?:[\w.+-]+/)+[\w@+-]+\.\w{1,8}|[\w-]+\.(?:rs|pyi?|jsx?|tsx?|mjs|cjs|go|java|kts?|c|cc|cpp|h|hpp|rb|php|cs|swift|ex|exs|md|toml|json|ya?ml|lock|txt|sh|html|css|vue|sql))(?:[:(]\d+(?:[:,]\d+)?\)?)?",
            ),
            "${before}<path>",
        ),
        (constant(r"\.?\btmp[._-]?\w*\b"), "<path>"),
    ]
});
static HEX: LazyLock<Regex> = LazyLock::new(|| constant(r"(?i)\b0x[0-9a-f]+\b|\b[0-9a-f]{7,64}\b"));
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b\d+(?:[.,]\d+)*(?:\s?(?:ns|µs|us|ms|s|m|h|min|secs?|seconds?|minutes?|hours?|days?))?(?:\b|$)",
    )
});
static REPEATED: LazyLock<Regex> = LazyLock::new(|| constant(r"<n>(?:[ ,:]*<n>)+"));

/// The fingerprint of an error by its decisive line.
pub fn fingerprint(error: &str) -> Fingerprint {
    let digest = Sha256::digest(normalised(error).as_bytes());
    Fingerprint(digest.iter().take(6).fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

pub(super) fn normalised(error: &str) -> String {
    let mut text = sanitize::line_within(error, 2000);
    for (pattern, with) in PLACES_AND_TIMES.iter() {
        text = replaced(pattern, text, with);
    }
    text = HEX
        .replace_all(&text, |found: &regex::Captures<'_>| {
            let word = found.get(0).map_or("", |it| it.as_str());
            // `defaced` is a word.
            if word.contains(|c: char| c.is_ascii_digit()) { "<n>".to_owned() } else { word.to_owned() }
        })
        .into_owned();
    text = replaced(&NUMBERS, text, "<n>");
    text = replaced(&REPEATED, text, "<n>");
    text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '<').trim().to_owned()
}

fn replaced(pattern: &Regex, text: String, with: &str) -> String {
    match pattern.replace_all(&text, with) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => changed,
    }
}
