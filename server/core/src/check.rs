//! The results of checks: types here, parsers of output (expectations, counts, locations) in the modules below.

pub mod answer;
mod comparison;
pub mod counts;
pub mod excerpt;
pub(crate) mod fingerprint;
pub mod judge;
pub mod locations;
pub mod missing;
pub mod negation;
mod number;
pub mod number_history;
mod output;
pub mod report;
mod shown;
mod tally;
pub mod test_order;
pub mod words;

use serde::{Deserialize, Serialize};

pub use comparison::FailedComparison;
use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_task::criterion::CriterionId;
pub use missing::{DependencyProvider, MissingDependency, MissingKind};
pub use tally::CriteriaTally;

/// How one check of one round ended. Only `Pass` is a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Pass,
    Fail,
    TimedOut,
    /// A spawn error, death by a signal, a missing tool (exit 126/127).
    CouldNotRun,
    /// A recognised test runner ran nothing.
    NoTestsRan,
    /// The tree changed while the round ran, again and again.
    Unstable,
    /// No check: only a claim can support it.
    Unverified,
}

impl Status {
    /// The word in records and on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::TimedOut => "timed-out",
            Self::CouldNotRun => "could-not-run",
            Self::NoTestsRan => "no-tests-ran",
            Self::Unstable => "unstable",
            Self::Unverified => "unverified",
        }
    }
}

/// The result of one criterion in one round. Every text in it is sanitised and redacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    pub criterion: CriterionId,
    pub status: Status,
    /// One fact for people: `3 of 214 fail`, `exit 1`, `76.4, needs >= 80`, `no result after 600 s`.
    pub fact: String,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// The last number on stdout, where the criterion compares it with earlier rounds and the exit code is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// From the report that the runner wrote to our file, if it was asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<TestCounts>,
    /// First lines of the output, at most [`HEAD_BYTES`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub head: String,
    /// Last lines of the output, at most [`TAIL_BYTES`]; empty when `head` holds everything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// Bytes between `head` and `tail`; unknown in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// Processes that outlived the check, as `pid name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<String>,
    /// What kept it from running, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingDependency>,
    /// Recorded with a failure, so that replay need not compute it again. Absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

impl CheckResult {
    /// A result without details.
    pub fn new(criterion: CriterionId, status: Status, fact: impl Into<String>) -> Self {
        Self {
            criterion,
            status,
            fact: fact.into(),
            duration_ms: 0,
            exit: None,
            signal: None,
            tests: None,
            number: None,
            reported: None,
            head: String::new(),
            tail: String::new(),
            left_out: None,
            locations: Vec::new(),
            survivors: Vec::new(),
            missing: None,
            fingerprint: None,
        }
    }
}

pub const HEAD_BYTES: usize = 4 * 1024;
pub(crate) const TAIL_BYTES: usize = 8 * 1024;
/// More locations add no information.
pub const MAX_LOCATIONS: usize = 50;

/// Sum over all summaries of a recognised test runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestCounts {
    pub passed: u64,
    pub failed: u64,
    /// Skipped, ignored, filtered: not run.
    pub skipped: u64,
}

/// A place in a source file that the output names. Lines and columns from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Location {
    /// Relative to the root, unless it is outside.
    pub file: String,
    pub line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The message of the output for this location, at most 200 characters; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// A warning, a note, the line of a recipe: not what makes the check fail where anything else is named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warning: bool,
}

/// The line that replaces omitted bytes of a stream, between whole lines, so that nothing is parsed across the gap.
pub const GAP: &str = "[part of the output was not kept]";

/// What a command did, before anything is read into it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandRun {
    pub ending: CommandExit,
    /// Raw bytes; head, [`GAP`] and tail where there was more (see `dropped`).
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Both streams in the order in which they were written. The only one filled if they shared one pipe; not
    /// collected for every kind of run.
    pub both: Vec<u8>,
    /// Bytes of the output that were not kept.
    pub dropped: u64,
    pub duration_ms: u64,
    pub survivors: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandExit {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    /// Could not be started; the reason in words.
    NotStarted(String),
}

impl Default for CommandExit {
    fn default() -> Self {
        Self::NotStarted(String::new())
    }
}
