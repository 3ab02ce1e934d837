//! Regular expressions written in this crate.

use regex::Regex;

/// A pattern of ours.
#[expect(clippy::expect_used, reason = "constant patterns, each compiled by a test")]
pub fn constant(pattern: &'static str) -> Regex {
    Regex::new(pattern).expect("constant pattern")
}
