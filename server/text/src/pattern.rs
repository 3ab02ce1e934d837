//! Regular expressions that are compile-time constants of this workspace.

use regex::Regex;

/// Compiles a constant pattern.
#[expect(clippy::expect_used, reason = "constant patterns, each compiled by a test")]
pub fn constant(pattern: &'static str) -> Regex {
    Regex::new(pattern).expect("constant pattern")
}
