//! Which of the changed values a run of a check noticed, by its test counts and the names in its output.

use crate::check::{CheckResult, Status};
use crate::mutants::added_tests::{marks_pass, names};
use loopkeeper_source::mutants::expected_values::ExpectedValue;

/// What one run with other values shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutatedValuesRun {
    /// Every test failed, or the run shows nothing: it hangs or could not start.
    Settled,
    /// The check fails, but perhaps not because of these values: their tests may have failed too, or not have run.
    Rest(Vec<ExpectedValue>),
    /// The check passes.
    Unnoticed(Vec<ExpectedValue>),
}

impl MutatedValuesRun {
    /// `values`: one of each test.
    pub fn of(values: Vec<ExpectedValue>, result: &CheckResult) -> Self {
        match result.status {
            Status::Pass => return Self::Unnoticed(values),
            Status::Fail => {}
            Status::TimedOut
            | Status::CouldNotRun
            | Status::NoTestsRan
            | Status::Unstable
            | Status::Unverified => return Self::Settled,
        }
        let failed = result.reported.or(result.tests).map_or(0, |it| it.failed);
        if failed >= values.len() as u64 {
            return Self::Settled;
        }
        let lines: Vec<&str> = result.head.lines().chain(result.tail.lines()).collect();
        let is_named = |it: &ExpectedValue| fails_in_any(it, &lines);
        let rest: Vec<ExpectedValue> = values.into_iter().filter(|it| !is_named(it)).collect();
        if rest.is_empty() { Self::Settled } else { Self::Rest(rest) }
    }
}

/// Whether any line of output may be about a failure of this test or assertion.
fn fails_in_any(value: &ExpectedValue, lines: &[&str]) -> bool {
    let name = value.path.rsplit('/').next().unwrap_or(&value.path);
    let places = [format!("{name}:{}", value.line), format!("{name}\", line {}", value.line)];
    let is_test = |line: &str| value.test.as_ref().is_some_and(|it| names_test(line, it));
    let is_place = |line: &str| places.iter().any(|it| names(line, it));
    lines.iter().any(|line| (is_test(line) && !marks_pass(line)) || is_place(line))
}

/// Whether the line contains the name, and not only in the name of a file.
fn names_test(line: &str, test: &str) -> bool {
    let is_separator = |it: char| matches!(it, '/' | '.' | '\\');
    let mut words =
        line.split(|it: char| it.is_whitespace() || matches!(it, '"' | '(' | ')' | ':' | ',' | '`'));
    let has_spaces = test.contains(|it: char| !(it.is_alphanumeric() || it == '_'));
    names(line, test) && (has_spaces || words.any(|it| names(it, test) && !it.contains(is_separator)))
}

#[cfg(test)]
mod tests {
    use super::MutatedValuesRun;
    use crate::check::{CheckResult, Status, TestCounts};
    use loopkeeper_source::mutants::expected_values::{ExpectedValue, expected_values};
    use loopkeeper_task::criterion::CriterionId;

    const TESTS: &str = "def test_a():\n    assert f() == 1\n\ndef test_b():\n    assert f() == 2\n";

    fn run(status: Status, failed: Option<u64>, output: &str) -> String {
        let result = CheckResult {
            tests: failed.map(|failed| TestCounts { passed: 2 - failed, failed, skipped: 0 }),
            head: output.to_owned(),
            ..CheckResult::new(CriterionId("0123456789".to_owned()), status, "")
        };
        let lines = |it: Vec<ExpectedValue>| it.iter().map(|it| it.line).collect::<Vec<_>>();
        match MutatedValuesRun::of(expected_values("tests/test_a.py", TESTS), &result) {
            MutatedValuesRun::Settled => "settled".to_owned(),
            MutatedValuesRun::Rest(values) => format!("rest {:?}", lines(values)),
            MutatedValuesRun::Unnoticed(values) => format!("unnoticed {:?}", lines(values)),
        }
    }

    #[test]
    fn counts_and_names_show_what_a_run_noticed() {
        assert_eq!(run(Status::Pass, Some(0), ""), "unnoticed [2, 5]");
        assert_eq!(run(Status::Fail, Some(2), ""), "settled");
        assert_eq!(run(Status::Fail, Some(1), ""), "rest [2, 5]");
        assert_eq!(run(Status::Fail, Some(1), "FAILED tests/test_a.py::test_a - assert 2 == 1"), "rest [5]");
        assert_eq!(run(Status::Fail, None, "  File \"tests/test_a.py\", line 5\nAssertionError"), "rest [2]");
        assert_eq!(run(Status::Fail, None, "tests/test_a.py:2: in f\ntests/test_a.py:5: in f"), "settled");
        assert_eq!(run(Status::Fail, None, "test_a PASSED\nFAILED test_b"), "rest [2]");
        assert_eq!(run(Status::TimedOut, None, ""), "settled");
        assert_eq!(run(Status::CouldNotRun, None, ""), "settled");
    }
}
