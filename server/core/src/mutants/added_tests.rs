//! Tests that a loop added and that notice none of its mutants. The names of the tests that fail are taken from the
//! output of the checks; if the failed tests are unknown, no test is reported.

use std::collections::HashSet;

use crate::check::{CheckResult, Status, TestCounts};
use crate::journal::{HollowTest, Round};
use loopkeeper_source::mutants::ChangedSource;
use loopkeeper_source::test_inventory::inventory;

/// With fewer mutants, a test that notices none may just test something else.
const MIN_MUTANTS: u64 = 3;
const MAX_TESTS: usize = 500;

/// The added tests, and which of them failed in runs on mutants.
#[derive(Debug, Clone)]
pub struct AddedTests {
    /// The tests that failed on no mutant so far.
    silent: Vec<HollowTest>,
    observed: u64,
    is_conclusive: bool,
}

impl AddedTests {
    /// The tests of these files that their versions before do not have.
    pub fn of_files(files: &[ChangedSource]) -> Self {
        let silent = files.iter().flat_map(added_tests).take(MAX_TESTS).collect();
        Self { silent, observed: 0, is_conclusive: true }
    }

    /// Whether no further result can name a hollow test.
    pub fn is_settled(&self) -> bool {
        self.silent.is_empty() || !self.is_conclusive
    }

    /// Takes the results on one mutant into account, compared with those without a fault.
    pub fn observe(&mut self, sound: &Round, on_mutant: &Round) {
        self.observed += 1;
        for result in on_mutant.results.iter().filter(|it| it.status != Status::Pass) {
            let before = sound.result(&result.criterion).and_then(|it| it.tests).map_or(0, TestCounts::ran);
            match failed_tests(result, before) {
                FailedTests::NoneRan => {}
                FailedTests::Unknown => self.is_conclusive = false,
                FailedTests::Named(lines) => {
                    self.silent.retain(|test| !lines.iter().any(|it| names(it, &test.name)));
                }
            }
        }
    }

    /// The tests that failed on no mutant.
    pub fn into_hollow(self) -> Vec<HollowTest> {
        if self.is_conclusive && self.observed >= MIN_MUTANTS { self.silent } else { Vec::new() }
    }
}

fn added_tests(file: &ChangedSource) -> Vec<HollowTest> {
    let names_of = |text: &str| inventory(&file.path, text).tests.into_iter().map(|it| it.name);
    let before: HashSet<String> = names_of(file.before.as_deref().unwrap_or_default()).collect();
    let test = |name: String| {
        let line = file.after.lines().position(|it| names(it, &name))?;
        Some(HollowTest { path: file.path.clone(), line: line as u32 + 1, name })
    };
    names_of(&file.after).filter(|it| !before.contains(it)).filter_map(test).take(MAX_TESTS).collect()
}

enum FailedTests<'a> {
    /// No test ran: the fault does not compile, or the check is not a test runner.
    NoneRan,
    /// The run stopped early, timed out, or does not print which tests failed.
    Unknown,
    /// Lines that may name the tests that failed.
    Named(Vec<&'a str>),
}

fn failed_tests(result: &CheckResult, before: u64) -> FailedTests<'_> {
    let counts = result.tests.unwrap_or_default();
    if before == 0 || (counts.ran() == 0 && result.status == Status::Fail) {
        return FailedTests::NoneRan;
    }
    let lines: Vec<&str> = result.head.lines().chain(result.tail.lines()).collect();
    let is_whole = result.tail.is_empty() || result.left_out == Some(0);
    let marked = lines.iter().filter(|it| marks_failure(it)).count() as u64;
    if counts.ran() != before || !is_whole || marked < counts.failed {
        return FailedTests::Unknown;
    }
    FailedTests::Named(lines.into_iter().filter(|it| !marks_pass(it)).collect())
}

/// Whether a runner marks one failed test with this line.
fn marks_failure(line: &str) -> bool {
    const MARKS: [&str; 7] = ["FAIL", "not ok", "✖", "✗", "✘", "×", "●"];
    const TOTALS: [&str; 5] = ["FAILED (", "test result:", "FAILURES", "failing tests", "FAIL\t"];
    let line = line.trim();
    MARKS.iter().any(|it| line.contains(it)) && line != "FAIL" && !TOTALS.iter().any(|it| line.contains(it))
}

/// Whether a runner reports one passed test with this line.
pub(super) fn marks_pass(line: &str) -> bool {
    const STARTS: [&str; 5] = ["ok ", "✓", "✔", "√", "--- PASS"];
    const ENDS: [&str; 3] = ["... ok", "PASSED", "passed"];
    let line = line.trim();
    (line.contains(" PASSED ") && !line.contains("FAIL"))
        || STARTS.iter().any(|it| line.starts_with(it))
        || ENDS.iter().any(|it| line.ends_with(it))
}

/// Whether the line contains the name, and not only as a part of another.
pub(super) fn names(line: &str, name: &str) -> bool {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    line.match_indices(name).any(|(at, found)| {
        let (before, after) = (line.get(..at), line.get(at + found.len()..));
        !is_part(before.and_then(|it| it.chars().next_back()))
            && !is_part(after.and_then(|it| it.chars().next()))
    }) && !name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::{AddedTests, ChangedSource};
    use crate::check::{CheckResult, Status, TestCounts};
    use crate::journal::Round;
    use loopkeeper_task::criterion::CriterionId;

    const TESTS: &str = "def test_old():\n    assert one() == 1\n\n\ndef test_new():\n    assert one()\n";

    fn round(status: Status, counts: Option<(u64, u64)>, output: &str) -> Round {
        let result = CheckResult {
            tests: counts.map(|(passed, failed)| TestCounts { passed, failed, skipped: 0 }),
            head: output.to_owned(),
            ..CheckResult::new(CriterionId("0123456789".to_owned()), status, "")
        };
        let tree = String::new();
        let results = vec![result];
        Round { tree_before: tree.clone(), tree_after: tree, wrote: Vec::new(), results, judging: None }
    }

    /// The added tests that are hollow after three mutants of which the first has this result.
    fn hollow(status: Status, counts: Option<(u64, u64)>, output: &str) -> Vec<String> {
        let file = ChangedSource {
            path: "tests/test_a.py".to_owned(),
            before: Some("def test_old():\n    assert one() == 1\n".to_owned()),
            after: TESTS.to_owned(),
        };
        let sound = round(Status::Pass, Some((2, 0)), "");
        let mut added = AddedTests::of_files(&[file]);
        added.observe(&sound, &round(status, counts, output));
        for _ in 0..2 {
            added.observe(&sound, &sound);
        }
        added.into_hollow().into_iter().map(|it| format!("{}:{} {}", it.path, it.line, it.name)).collect()
    }

    #[test]
    fn an_added_test_is_hollow_where_only_others_fail() {
        const HOLLOW: [&str; 1] = ["tests/test_a.py:5 test_new"];
        let check = |status: Status, counts: Option<(u64, u64)>, output: &str, expect: &[&str]| {
            assert_eq!(hollow(status, counts, output), expect, "{output}");
        };
        let old = "FAILED tests/test_a.py::test_old - assert 2 == 1\n1 failed, 1 passed";
        check(Status::Pass, Some((2, 0)), "", &HOLLOW);
        check(Status::Fail, Some((1, 1)), old, &HOLLOW);
        check(Status::Fail, Some((1, 1)), &format!("tests/test_a.py::test_new PASSED [50%]\n{old}"), &HOLLOW);
        check(Status::Fail, Some((1, 1)), "FAIL: test_new (test_a.A.test_new)\nFAILED (failures=1)", &[]);
        check(Status::Fail, Some((1, 1)), "FAILED tests/test_a.py::test_new[1-2]", &[]);
        check(Status::Fail, Some((1, 1)), "FAILED tests/test_a.py::test_new_case", &HOLLOW);
        // It does not compile: no test could fail.
        check(Status::Fail, None, "SyntaxError: test_a.py", &HOLLOW);
    }

    #[test]
    fn unknown_test_failures_yield_no_finding() {
        let check = |status: Status, counts: Option<(u64, u64)>, output: &str| {
            assert!(hollow(status, counts, output).is_empty(), "{output}");
        };
        check(Status::Fail, Some((0, 1)), "FAILED tests/test_a.py::test_old\nstopping after 1 failures");
        check(Status::Fail, Some((1, 1)), "1 failed, 1 passed");
        check(Status::Fail, Some((1, 1)), "FAILED (failures=1)");
        check(Status::TimedOut, None, "");
    }

    #[test]
    fn two_mutants_are_too_few_for_a_finding() {
        let file =
            ChangedSource { path: "tests/test_a.py".to_owned(), before: None, after: TESTS.to_owned() };
        let sound = round(Status::Pass, Some((2, 0)), "");
        let mut added = AddedTests::of_files(&[file]);
        added.observe(&sound, &sound);
        added.observe(&sound, &sound);
        assert!(added.clone().into_hollow().is_empty());
        added.observe(&sound, &sound);
        assert_eq!(added.into_hollow().len(), 2);
    }

    #[test]
    fn results_matter_until_every_added_test_failed_or_nothing_is_known() {
        let file =
            || ChangedSource { path: "tests/test_a.py".to_owned(), before: None, after: TESTS.to_owned() };
        let sound = round(Status::Pass, Some((2, 0)), "");
        let check = |outputs: &[(u64, &str)], expect: bool| {
            let mut added = AddedTests::of_files(&[file()]);
            for (failed, output) in outputs {
                added.observe(&sound, &round(Status::Fail, Some((2 - failed, *failed)), output));
            }
            assert_eq!(added.is_settled(), expect, "{outputs:?}");
        };
        check(&[], false);
        check(&[(1, "FAILED tests/test_a.py::test_new")], false);
        check(&[(1, "FAILED tests/test_a.py::test_new"), (1, "FAILED tests/test_a.py::test_old")], true);
        check(&[(1, "FAILED (failures=1)")], true);
        assert!(AddedTests::of_files(&[]).is_settled());
    }
}
