//! The output of a command as searchable text: without escape sequences, with `\n` line ends. Marks where bytes are
//! missing, so that no parser joins the text across the gap.

use std::borrow::Cow;

use super::{CommandRun, GAP};
use loopkeeper_text::sanitize;

/// Both streams of a run, readable.
#[derive(Debug, Default)]
pub(super) struct DecodedOutput {
    /// Empty if both streams shared one pipe; so is `stderr`.
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// In the order in which they were written.
    pub(super) both: String,
    /// Bytes that were not kept.
    pub(super) dropped: u64,
}

impl CommandRun {
    /// Both streams as they were written; where their order is not known, stdout first, with a line end between them.
    pub(super) fn in_order(&self) -> Cow<'_, [u8]> {
        if !self.both.is_empty() {
            return Cow::Borrowed(&self.both);
        }
        let between: &[u8] = if self.stdout.is_empty() || self.stdout.ends_with(b"\n") { b"" } else { b"\n" };
        Cow::Owned([&self.stdout, between, &self.stderr].concat())
    }
}

impl DecodedOutput {
    pub(super) fn of(run: &CommandRun) -> Self {
        let readable = |bytes: &[u8]| sanitize::strip_escapes(&String::from_utf8_lossy(bytes));
        let (stdout, stderr) = (readable(&run.stdout), readable(&run.stderr));
        Self { stdout, stderr, both: readable(&run.in_order()), dropped: run.dropped }
    }

    /// Standard error if it can be separated, else both streams: where shells and programs report errors.
    pub(super) fn error_output(&self) -> &str {
        if self.stderr.is_empty() { &self.both } else { &self.stderr }
    }

    /// The end of stdout after the last gap.
    pub(super) fn stdout_end(&self) -> &str {
        let whole = self.stdout.as_str();
        if self.dropped == 0 { whole } else { whole.rsplit_once(GAP).map_or(whole, |(_, end)| end) }
    }
}
