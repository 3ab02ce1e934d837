//! Diagnostics of a task's documents, and copies of failures for the sources that they name.

use super::Known;
use crate::task::Place;

/// One remark at one place of one of the task's documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub place: Place,
    pub severity: Severity,
    pub code: Code,
    /// `name: fact` and at most one sentence more; at most 100 characters.
    pub message: String,
    pub related: Vec<Related>,
    /// Files changed since: to be shown faded.
    pub stale: bool,
}

impl Diagnostic {
    pub const SOURCE: &'static str = "ralph";
}

/// A failure that a check's output places in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFailure {
    /// As printed: relative to the root, or absolute.
    pub file: String,
    /// From 1.
    pub line: u32,
    pub column: Option<u32>,
    /// As the tool said it, else the name of the criterion that fails.
    pub message: String,
    pub stale: bool,
}

impl SourceFailure {
    pub const SOURCE: &'static str = "ralph(tests)";
}

/// Who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

/// Where a diagnostic's evidence is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub target: Target,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// As printed: relative to the root, or absolute. Line and column from 1.
    Source { file: String, line: u32, column: Option<u32> },
    /// The file with the check's output.
    Output { uri: String },
}

/// What a diagnostic is about, as a stable word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    Summary,
    BreakerOpen,
    Interrupted,
    LimitReached,
    Damaged,
    NeedsTrust,
    Failing,
    Regressed,
    CouldNotRun,
    TimedOut,
    NoTestsRan,
    Unstable,
    NeverRun,
    Unverified,
    AlreadyPassing,
    Proposed,
    FalseClaim,
    Unclaimed,
    BadCheck,
    NotACheck,
    NoCriteria,
    InlineList,
    BadPromise,
    NotYetSupported,
    Syntax,
    UnknownKey,
    BadValue,
}

impl Code {
    pub fn word(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::BreakerOpen => "breaker-open",
            Self::Interrupted => "interrupted",
            Self::LimitReached => "limit-reached",
            Self::Damaged => "damaged",
            Self::NeedsTrust => "needs-trust",
            Self::Failing => "failing",
            Self::Regressed => "regressed",
            Self::CouldNotRun => "could-not-run",
            Self::TimedOut => "timed-out",
            Self::NoTestsRan => "no-tests-ran",
            Self::Unstable => "unstable",
            Self::NeverRun => "never-run",
            Self::Unverified => "unverified",
            Self::AlreadyPassing => "already-passing",
            Self::Proposed => "proposed",
            Self::FalseClaim => "false-claim",
            Self::Unclaimed => "unclaimed",
            Self::BadCheck => "bad-check",
            Self::NotACheck => "not-a-check",
            Self::NoCriteria => "no-criteria",
            Self::InlineList => "inline-list",
            Self::BadPromise => "bad-promise",
            Self::NotYetSupported => "not-yet-supported",
            Self::Syntax => "syntax",
            Self::UnknownKey => "unknown-key",
            Self::BadValue => "bad-value",
        }
    }
}

/// Everything there is to say about the task, in the order of its documents.
pub fn diagnostics(_known: &Known<'_>) -> Vec<Diagnostic> {
    Vec::new()
}

/// Failures at the source lines that outputs name, each place once.
pub fn source_failures(_known: &Known<'_>) -> Vec<SourceFailure> {
    Vec::new()
}
