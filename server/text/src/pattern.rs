//! Regular expressions that are compile-time constants of this workspace.

mod ascii;

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::{CaptureMatches, Captures, Match, Matches, Regex, Replacer};

/// A constant pattern, compiled at its first use: for ASCII text without the characters that such text cannot contain,
/// and unchanged for other text. Nearly all output is ASCII, and the automata of `\w`, `\s` or `.` over all of Unicode
/// are up to fifty times as large, in a keeper that stays resident for hours.
pub struct ConstantPattern {
    pattern: &'static str,
    ascii: OnceLock<Regex>,
    unicode: OnceLock<Regex>,
}

impl ConstantPattern {
    pub const fn new(pattern: &'static str) -> Self {
        Self { pattern, ascii: OnceLock::new(), unicode: OnceLock::new() }
    }

    /// The expression that reads this text.
    fn for_text(&self, text: &str) -> &Regex {
        if text.is_ascii() {
            self.ascii.get_or_init(|| {
                // Most tests use ASCII text only and would not compile the whole pattern.
                debug_assert!(Regex::new(self.pattern).is_ok(), "{}", self.pattern);
                constant(&ascii::restrict(self.pattern))
            })
        } else {
            self.unicode.get_or_init(|| constant(self.pattern))
        }
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.for_text(text).is_match(text)
    }

    pub fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.for_text(text).find(text)
    }

    pub fn find_iter<'t>(&self, text: &'t str) -> Matches<'_, 't> {
        self.for_text(text).find_iter(text)
    }

    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.for_text(text).captures(text)
    }

    pub fn captures_iter<'t>(&self, text: &'t str) -> CaptureMatches<'_, 't> {
        self.for_text(text).captures_iter(text)
    }

    pub fn replace<'t>(&self, text: &'t str, with: impl Replacer) -> Cow<'t, str> {
        self.for_text(text).replace(text, with)
    }

    pub fn replace_all<'t>(&self, text: &'t str, with: impl Replacer) -> Cow<'t, str> {
        self.for_text(text).replace_all(text, with)
    }
}

#[expect(clippy::expect_used, reason = "constant patterns, each compiled by a test")]
fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("constant pattern")
}

#[cfg(test)]
mod tests;
