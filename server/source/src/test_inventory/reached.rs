//! The lines that run whenever their test runs: of the first level of its body, up to a `return`.

use super::parse;

/// A line of code that its test always reaches, unless it returns in a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedLine {
    /// From 1.
    pub number: u32,
    /// `None`: an assertion outside of every test.
    pub test: Option<String>,
    /// The line begins the test, and may hold all of its body.
    pub is_head: bool,
}

impl ReachedLine {
    pub(super) fn outside(number: usize) -> Self {
        Self { number: number as u32, test: None, is_head: false }
    }

    pub(super) fn head(number: usize, test: &str) -> Self {
        Self { is_head: true, ..Self::in_body(number, test) }
    }

    pub(super) fn in_body(number: usize, test: &str) -> Self {
        Self { number: number as u32, test: Some(test.to_owned()), is_head: false }
    }
}

/// The reached lines of tests that are neither skipped nor expect a failure, and assertions outside of tests. None in a
/// file that lets only some tests run.
pub fn reached_lines(path: &str, text: &str) -> Vec<ReachedLine> {
    match parse(path, text) {
        Some(parsed) if parsed.found.narrowed == 0 => parsed.reached,
        _ => Vec::new(),
    }
}
