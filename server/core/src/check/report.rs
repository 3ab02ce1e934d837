//! The report that a test runner writes to a file of ours, if an environment variable can request one. A program under
//! test can print text that looks like a summary; the report is a second source. The user's command does not change.
//! Parses texts only: the files are written and read elsewhere.
//!
//! Only runners that write a file in addition to their usual output are supported. `go test -json`, `cargo nextest`'s
//! and libtest's JSON replace the output, and jest, vitest and mocha have no such variable.

mod junit;
#[cfg(test)]
mod tests;

use self::junit::JunitReport;
use super::{CheckResult, Status, TestCounts, counts, words};
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr;

/// Longer reports are not read.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A runner that can be asked for a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportingRunner {
    Pytest,
    /// Python's own, which a module of ours patches as Python starts.
    Unittest,
    /// node's own, with the reporter that it uses for its output.
    Node {
        printed: &'static str,
    },
}

impl ReportingRunner {
    /// The runner that this command names, unless the command itself sets the variable or a report.
    ///
    /// `last`: an earlier result, which shows node's default reporter: adding a reporter requires naming it too.
    pub fn of_check(criterion: &Criterion, last: Option<&CheckResult>) -> Option<Self> {
        static PYTEST: ConstantPattern = ConstantPattern::new(r"(?:^|[\s/;&|(])(?:pytest|py\.test)(?:\s|$)");
        static NODE: ConstantPattern =
            ConstantPattern::new(r"(?:^|[\s/;&|(])node\s(?:[^|;&]*\s)?--test(?:\s|$)");
        static UNITTEST: ConstantPattern = ConstantPattern::new(
            r"(?:^|[\s/;&|(])python[\d.]*\s(?:[^|;&]*\s)?(?:-m\s+unittest|(?:\S*/)?manage\.py\s+test)(?:\s|$)",
        );
        let Some(Check::Command { command, .. }) = &criterion.check else { return None };
        let sets = |names: &[&str]| names.iter().any(|it| command.contains(it));
        if PYTEST.is_match(command) && !sets(&["PYTEST_ADDOPTS", "junit", "no:"]) {
            return Some(Self::Pytest);
        }
        if UNITTEST.is_match(command) && !sets(&["PYTHONPATH"]) {
            return Some(Self::Unittest);
        }
        if NODE.is_match(command) && !sets(&["NODE_OPTIONS", "--test-reporter"]) {
            return node_output(last?).map(|printed| Self::Node { printed });
        }
        None
    }

    /// The file that the runner needs in addition to the report in `file`, with its text.
    pub fn support_file(self, file: &str) -> Option<(String, String)> {
        const MODULE: &str = include_str!("report/unittest_report.py");
        let path = || format!("{}/sitecustomize.py", support_folder(file));
        (self == Self::Unittest).then(|| (path(), MODULE.replace("@FILE@", file)))
    }

    /// The variable that requests a report in `file`, and its new value; `value` is the present one.
    pub fn variable(self, file: &str, value: &str) -> (&'static str, String) {
        let (name, separator, more) = match self {
            Self::Pytest => ("PYTEST_ADDOPTS", ' ', format!("--junitxml={file}")),
            Self::Unittest => ("PYTHONPATH", ':', support_folder(file).to_owned()),
            Self::Node { printed } => (
                "NODE_OPTIONS",
                ' ',
                format!(
                    "--test-reporter={printed} --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination={file}"
                ),
            ),
        };
        // Python imports the first module of a name.
        let joined = match self {
            _ if value.is_empty() => more,
            Self::Unittest => format!("{more}{separator}{value}"),
            Self::Pytest | Self::Node { .. } => format!("{value}{separator}{more}"),
        };
        (name, joined)
    }

    /// Counts the tests in a report; `None` if the report is incomplete.
    pub fn read(self, text: &str) -> Option<TestCounts> {
        let JunitReport { cases, suites } = junit::read(text)?;
        match self {
            Self::Pytest | Self::Unittest => Some(cases),
            // A test with subtests is a suite, and counts in the output.
            Self::Node { .. } => Some(TestCounts { passed: cases.passed.saturating_add(suites), ..cases }),
        }
    }
}

/// The folder of the module that Python imports as it starts.
fn support_folder(file: &str) -> &str {
    file.strip_suffix(".xml").unwrap_or(file)
}

/// Before version 23 node prints TAP into a pipe, later the other form.
fn node_output(last: &CheckResult) -> Option<&'static str> {
    if last.head.lines().any(|it| it == "TAP version 13") {
        return Some("tap");
    }
    let has_line = |text: &str| text.lines().any(|it| it.starts_with("ℹ tests "));
    (has_line(&last.head) || has_line(&last.tail)).then_some("spec")
}

/// Why a result that passed does not count as a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportFault {
    /// The report is missing or unreadable.
    Missing,
    Failures(TestCounts),
    /// More passed in the output than in the report.
    Fewer {
        printed: u64,
        reported: u64,
    },
}

impl ReportFault {
    /// The fault of a check that passed and whose runner was asked.
    pub fn of_result(criterion: &Criterion, result: &CheckResult) -> Option<Self> {
        let Some(Check::Command { command, expect }) = &criterion.check else { return None };
        if result.status != Status::Pass {
            return None;
        }
        let Some(reported) = result.reported else { return Some(Self::Missing) };
        if reported.failed > 0 {
            // Expectations of the user take precedence.
            return expect.is_empty().then_some(Self::Failures(reported));
        }
        // Several runs in one command print the sum, and the last of them writes the report.
        let printed = result.tests.filter(|_| counts::always_prints_counts(command))?.passed;
        (printed > reported.passed).then_some(Self::Fewer { printed, reported: reported.passed })
    }

    /// Whether the agent's work caused the fault. `start`: the result of the same check on the files of the start, if
    /// its runner was asked for a report there.
    pub fn is_new(&self, criterion: &Criterion, start: Option<&CheckResult>) -> bool {
        match self {
            Self::Missing => start.is_some_and(|it| it.reported.is_some()),
            Self::Failures(_) => {
                let fault = start.and_then(|it| Self::of_result(criterion, it));
                !matches!(fault, Some(Self::Failures(_)))
            }
            // Some plugins count otherwise than the report, whether or not the tests pass.
            Self::Fewer { .. } => {
                let counts = start.and_then(|it| it.tests.zip(it.reported));
                counts.is_none_or(|(printed, reported)| printed.passed <= reported.passed)
            }
        }
    }

    /// Replaces the pass by a failure with this reason.
    pub fn apply(&self, result: &mut CheckResult) {
        let exit = result.exit.map_or_else(|| tr!("a pass").to_owned(), words::exit);
        (result.status, result.fact) = match self {
            Self::Missing => (
                Status::CouldNotRun,
                tr!(
                    "could not be judged: the test runner writes no report, and it does on the files of the start"
                )
                .to_owned(),
            ),
            Self::Failures(tests) => {
                let (failed, total) = (tests.failed, tests.ran());
                let fact =
                    tr!("{failed} of {total} fail in the runner's report, {exit}", failed, total, exit);
                (Status::Fail, fact)
            }
            Self::Fewer { printed, reported } => (
                Status::Fail,
                tr!("prints {printed} passed, and the runner's report has {reported}", printed, reported),
            ),
        };
    }
}
