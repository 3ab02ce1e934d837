//! A diagnostic at a range of a document: code, severity, message.

use super::message;
use loopkeeper_lint::LintCode;
use loopkeeper_text::DocumentRange;

/// One diagnostic at one range of a document of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub place: DocumentRange,
    pub severity: Severity,
    pub code: DiagnosticCode,
    /// `name: fact` and at most one more sentence; at most 100 characters.
    pub message: String,
    pub related: Vec<RelatedLocation>,
    /// Files changed since; shown faded.
    pub stale: bool,
}

impl Diagnostic {
    pub const SOURCE: &'static str = "ralph";

    pub(super) fn new(
        place: &DocumentRange,
        severity: Severity,
        code: DiagnosticCode,
        message: String,
    ) -> Self {
        Self { place: place.clone(), severity, code, message, related: Vec::new(), stale: false }
    }

    /// The message `name: fact. Remedy.`
    pub(super) fn of(
        place: &DocumentRange,
        (severity, code): (Severity, DiagnosticCode),
        name: &str,
        fact: &str,
        remedy: &str,
    ) -> Self {
        Self::new(place, severity, code, message::message(name, fact, remedy))
    }
}

/// A failure that a check's output places in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFailure {
    /// Path as printed: relative to the root, or absolute.
    pub file: String,
    /// Line number from 1.
    pub line: u32,
    pub column: Option<u32>,
    /// The tool's message, otherwise the name of the failing criterion.
    pub message: String,
    pub severity: Severity,
    pub stale: bool,
}

impl SourceFailure {
    pub const SOURCE: &'static str = "ralph(tests)";
}

/// The severity, which expresses who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

/// Location of a diagnostic's evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedLocation {
    pub target: RelatedTarget,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelatedTarget {
    /// Path as printed: relative to the root, or absolute. Line and column from 1.
    Source { file: String, line: u32, column: Option<u32> },
    /// The file with the check's output; the line in it that names this place, if any.
    Output { uri: String, naming: Option<(String, u32)> },
}

/// The kind of a diagnostic, as a stable code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticCode {
    Summary,
    BreakerOpen,
    Interrupted,
    NeedsAnswer,
    LimitReached,
    Damaged,
    NeedsTrust,
    Failing,
    Regressed,
    CouldNotRun,
    TimedOut,
    NoTestsRan,
    Unstable,
    Flaky,
    Weakened,
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
    UnsupportedKeys,
    Template,
    /// A remark on a criterion.
    Lint(LintCode),
    Expensive,
    NotSuited,
    Unnoticed,
    HollowTest,
    Stray,
    Leftover,
    Limited,
}

impl DiagnosticCode {
    #[cfg(test)]
    pub(super) const ALL: [Self; 45] = [
        Self::Summary,
        Self::BreakerOpen,
        Self::Interrupted,
        Self::NeedsAnswer,
        Self::LimitReached,
        Self::Damaged,
        Self::NeedsTrust,
        Self::Failing,
        Self::Regressed,
        Self::CouldNotRun,
        Self::TimedOut,
        Self::NoTestsRan,
        Self::Unstable,
        Self::Flaky,
        Self::Weakened,
        Self::NeverRun,
        Self::Unverified,
        Self::AlreadyPassing,
        Self::Proposed,
        Self::FalseClaim,
        Self::Unclaimed,
        Self::BadCheck,
        Self::NotACheck,
        Self::NoCriteria,
        Self::InlineList,
        Self::BadPromise,
        Self::NotYetSupported,
        Self::Syntax,
        Self::UnknownKey,
        Self::BadValue,
        Self::UnsupportedKeys,
        Self::Template,
        Self::Lint(LintCode::Vague),
        Self::Lint(LintCode::Subjective),
        Self::Lint(LintCode::Weak),
        Self::Lint(LintCode::Duplicate),
        Self::Lint(LintCode::Contradictory),
        Self::Lint(LintCode::Unsafe),
        Self::Expensive,
        Self::NotSuited,
        Self::Unnoticed,
        Self::HollowTest,
        Self::Stray,
        Self::Leftover,
        Self::Limited,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::BreakerOpen => "breaker-open",
            Self::Interrupted => "interrupted",
            Self::NeedsAnswer => "needs-answer",
            Self::LimitReached => "limit-reached",
            Self::Damaged => "damaged",
            Self::NeedsTrust => "needs-trust",
            Self::Failing => "failing",
            Self::Regressed => "regressed",
            Self::CouldNotRun => "could-not-run",
            Self::TimedOut => "timed-out",
            Self::NoTestsRan => "no-tests-ran",
            Self::Unstable => "unstable",
            Self::Flaky => "flaky",
            Self::Weakened => "weakened",
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
            Self::UnsupportedKeys => "left-aside",
            Self::Template => "template",
            Self::Lint(code) => code.word(),
            Self::Expensive => "expensive",
            Self::NotSuited => "not-suited",
            Self::Unnoticed => "unnoticed",
            Self::HollowTest => "hollow-test",
            Self::Stray => "stray",
            Self::Leftover => "leftover",
            Self::Limited => "limited",
        }
    }
}
