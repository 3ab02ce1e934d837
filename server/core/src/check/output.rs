//! What a command printed, as text to search: escape sequences out, line ends `\n`. Knows where bytes are
//! missing, so that nobody reads across the gap.

use regex::Regex;

use super::{CommandRun, GAP};
use crate::sanitize;

/// Both streams of a run, readable.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Bytes that were not kept.
    pub(super) dropped: u64,
}

impl Output {
    pub(super) fn of(run: &CommandRun) -> Self {
        let readable = |bytes: &[u8]| sanitize::strip_escapes(&String::from_utf8_lossy(bytes));
        Self { stdout: readable(&run.stdout), stderr: readable(&run.stderr), dropped: run.dropped }
    }

    /// Both, stdout first, with a line end between them.
    pub(super) fn both(&self) -> String {
        let between = if self.stdout.is_empty() || self.stdout.ends_with('\n') { "" } else { "\n" };
        [self.stdout.as_str(), between, self.stderr.as_str()].concat()
    }

    /// The end of stdout that is without a gap.
    pub(super) fn stdout_end(&self) -> &str {
        let whole = self.stdout.as_str();
        if self.dropped == 0 { whole } else { whole.rsplit_once(GAP).map_or(whole, |(_, end)| end) }
    }
}

/// A pattern of ours.
#[expect(clippy::expect_used, reason = "constant patterns, each compiled by a test")]
pub(crate) fn constant(pattern: &'static str) -> Regex {
    Regex::new(pattern).expect("constant pattern")
}
