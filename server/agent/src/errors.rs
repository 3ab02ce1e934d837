//! Finds errors in the output of an agent and its tools and fingerprints them, so that the same error is recognised in
//! another iteration. Reads line by line in bounded memory; makes no judgement.

mod block;
mod filter;
mod fingerprint;
mod position;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use block::{BlockTransition, ErrorBlock};
pub use fingerprint::digest;
pub use fingerprint::fingerprint;
use loopkeeper_text::{sanitize, truncate};

/// Maximum number of distinct errors kept of one run; the last ones are kept.
pub(crate) const MAX_ERRORS: usize = 20;
/// The part of a line that is scanned, because errors identify themselves at the beginning.
const LINE_BYTES: usize = 4096;
/// An unclosed fence ends after this many lines.
const FENCE_LINES: u32 = 500;

/// Identifies an error across runs: 12 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FingerprintedError {
    pub fingerprint: Fingerprint,
    /// The decisive line, sanitised, at most 300 characters.
    pub text: String,
}

/// The source of a stream. An agent quotes text in Markdown fences; a program has no fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputSource {
    Message,
    Program,
}

/// Whether a trimmed line reports an error or a failure.
pub fn is_error(line: &str) -> bool {
    filter::rate_line(line).is_some()
}

/// Reads the lines of one stream.
#[derive(Debug)]
pub struct ErrorScan {
    source: OutputSource,
    /// Lines since the fence was opened.
    fence: Option<u32>,
    block: Option<ErrorBlock>,
    errors: VecDeque<FingerprintedError>,
    /// The last line that reports a failure without its cause; counts only if no other line names the cause.
    follow_up: Option<FingerprintedError>,
    /// The last line, if a program prints it.
    last_line: String,
}

impl ErrorScan {
    pub fn new(source: OutputSource) -> Self {
        Self {
            source,
            fence: None,
            block: None,
            errors: VecDeque::new(),
            follow_up: None,
            last_line: String::new(),
        }
    }

    /// Reads one line, without its line end.
    pub fn push_line(&mut self, raw: &str) {
        let raw = truncate::first_bytes(raw, LINE_BYTES);
        if self.repeats(raw) {
            return;
        }
        let clean = sanitize::strip_escapes(raw);
        for line in clean.split('\n') {
            self.push_clean_line(line.trim_end());
        }
    }

    /// Reads a complete text: a message, or the output of one tool.
    pub fn push_text(&mut self, text: &str) {
        self.close_block();
        self.last_line.clear();
        for line in text.lines() {
            self.push_line(line);
        }
        self.close_block();
    }

    /// The last distinct errors, in the order in which they were last seen.
    pub fn finish(mut self) -> Vec<FingerprintedError> {
        self.close_block();
        if self.errors.is_empty() {
            self.errors.extend(self.follow_up);
        }
        self.errors.into()
    }

    /// Whether a program prints its last line again: one that is caught in a loop prints it millions of times.
    fn repeats(&mut self, raw: &str) -> bool {
        if self.source == OutputSource::Message {
            return false;
        }
        if self.last_line == raw {
            return true;
        }
        raw.clone_into(&mut self.last_line);
        false
    }

    fn push_clean_line(&mut self, line: &str) {
        if self.is_fenced(line) {
            return;
        }
        if let Some(block) = self.block.take() {
            match block.push_line(line) {
                BlockTransition::Continues(block) => {
                    self.block = Some(block);
                    return;
                }
                BlockTransition::Ended(decisive) => self.record_error(decisive.as_deref()),
            }
        }
        match filter::rate_line(line) {
            Some(filter::ErrorConfidence::Error) => self.block = Some(ErrorBlock::begin(line)),
            Some(filter::ErrorConfidence::FollowUp) => self.follow_up = error_of_line(line),
            None => {}
        }
    }

    fn is_fenced(&mut self, line: &str) -> bool {
        if self.source == OutputSource::Program {
            return false;
        }
        let text = line.trim_start();
        if text.starts_with("```") || text.starts_with("~~~") {
            self.fence = if self.fence.is_some() { None } else { Some(0) };
            return true;
        }
        self.fence = self.fence.map(|lines| lines + 1).filter(|lines| *lines < FENCE_LINES);
        self.fence.is_some()
    }

    fn close_block(&mut self) {
        self.fence = None;
        if let Some(block) = self.block.take() {
            self.record_error(block.into_decisive_line().as_deref());
        }
    }

    fn record_error(&mut self, decisive: Option<&str>) {
        if let Some(error) = decisive.and_then(error_of_line) {
            push_distinct(&mut self.errors, error);
        }
    }
}

/// Merges the errors of several streams of one run into one list.
pub fn merge_scans(streams: impl IntoIterator<Item = ErrorScan>) -> Vec<FingerprintedError> {
    let (mut all, mut follow_up) = (VecDeque::new(), None);
    for mut scan in streams {
        scan.close_block();
        scan.errors.into_iter().for_each(|error| push_distinct(&mut all, error));
        follow_up = follow_up.or(scan.follow_up);
    }
    if all.is_empty() {
        all.extend(follow_up);
    }
    all.into()
}

fn error_of_line(decisive: &str) -> Option<FingerprintedError> {
    let text = sanitize::line(decisive);
    (!text.is_empty()).then(|| FingerprintedError { fingerprint: fingerprint(decisive), text })
}

fn push_distinct(errors: &mut VecDeque<FingerprintedError>, error: FingerprintedError) {
    errors.retain(|it| it.fingerprint != error.fingerprint);
    errors.push_back(error);
    if errors.len() > MAX_ERRORS {
        errors.pop_front();
    }
}

#[cfg(test)]
mod tests;
