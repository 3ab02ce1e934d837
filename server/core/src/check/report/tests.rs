//! Reports of real runners, and the faults that keep a result from passing.

use proptest::prelude::*;

use super::{ReportFault, ReportingRunner};
use crate::check::{CheckResult, Status, TestCounts};
use loopkeeper_task::criterion::{Check, Criterion, Expect};

const PYTEST: &str = include_str!("../../../../../tests/fixtures/runner_report/pytest.xml");
const NODE: &str = include_str!("../../../../../tests/fixtures/runner_report/node.xml");

fn tests(passed: u64, failed: u64, skipped: u64) -> TestCounts {
    TestCounts { passed, failed, skipped }
}

fn criterion(command: &str, expect: Vec<Expect>) -> Criterion {
    let check = Check::Command { command: command.to_owned(), expect };
    Criterion::new("a".to_owned(), "a", Some(check))
}

#[test]
fn reports_of_real_runs() {
    let check_runner = |runner: ReportingRunner, text: &str, expect: Option<TestCounts>| {
        assert_eq!(runner.read(text), expect, "{text}");
    };
    let check = |text: &str, expect: Option<TestCounts>| check_runner(ReportingRunner::Pytest, text, expect);
    // Expected failures are skipped, passes that were not expected are passes.
    check(PYTEST, Some(tests(2, 2, 2)));
    // Two cases with a subtest each: the outer one counts as well.
    check_runner(ReportingRunner::Node { printed: "tap" }, NODE, Some(tests(6, 2, 4)));
    check("<testsuites/>", Some(tests(0, 0, 0)));
    check("<testsuites><testcase name='a>b'/></testsuites>", Some(tests(1, 0, 0)));
    check("<testsuites><!-- <testcase/> --><![CDATA[<testcase/>]]></testsuites>", Some(tests(0, 0, 0)));
    check("<testsuites><testcase><failure/></testcase></testsuites>", Some(tests(0, 1, 0)));
    for broken in [
        "",
        "3 passed",
        "<a/>",
        "<testsuites>",
        "<testsuites><testcase>",
        "<testsuites><testcase/>",
        "</testsuites>",
    ] {
        check(broken, None);
    }
    check(&PYTEST[..PYTEST.len() / 2], None);
}

#[test]
fn runners_that_are_asked_for_a_report() {
    let check = |command: &str, head: &str, expect: Option<ReportingRunner>| {
        let criterion = criterion(command, Vec::new());
        let last =
            CheckResult { head: head.to_owned(), ..CheckResult::new(criterion.id.clone(), Status::Pass, "") };
        assert_eq!(ReportingRunner::of_check(&criterion, Some(&last)), expect, "{command}");
    };
    for command in ["pytest -q", "python3 -m pytest", ".venv/bin/pytest tests | tail -1", "cd app && pytest"]
    {
        check(command, "", Some(ReportingRunner::Pytest));
    }
    for command in
        ["python3 -m unittest", "cd app && python3.11 -W error -m unittest -v", "python manage.py test app"]
    {
        check(command, "", Some(ReportingRunner::Unittest));
    }
    for command in [
        "PYTHONPATH=src python3 -m unittest",
        "python3 tests/run.py -m unittests",
        "make test",
        "pytest --junitxml=out.xml",
        "PYTEST_ADDOPTS=-x pytest",
        "pytest -p no:junitxml",
        "cat pytest.ini",
        "node --test",
        "go test ./...",
    ] {
        check(command, "", None);
    }
    let node = |printed| Some(ReportingRunner::Node { printed });
    check("node --test test/", "TAP version 13\nok 1", node("tap"));
    check("node --test", "▶ a\nℹ tests 3\n", node("spec"));
    check("node --test --test-reporter=dot", "TAP version 13\n", None);
    check("node test.js", "TAP version 13\n", None);
}

#[test]
fn the_user_s_own_options_stay() {
    assert_eq!(
        ReportingRunner::Pytest.variable("/r/a.xml", "-x"),
        ("PYTEST_ADDOPTS", "-x --junitxml=/r/a.xml".to_owned())
    );
    assert_eq!(ReportingRunner::Unittest.variable("/r/a.xml", "lib"), ("PYTHONPATH", "/r/a:lib".to_owned()));
    let (path, text) = ReportingRunner::Unittest.support_file("/r/a.xml").unwrap();
    assert!(path == "/r/a/sitecustomize.py" && text.contains("FILE = \"/r/a.xml\""), "{path}");
    let (name, value) = ReportingRunner::Node { printed: "tap" }.variable("/r/a.xml", "");
    assert_eq!(name, "NODE_OPTIONS");
    assert!(value.ends_with("--test-reporter=junit --test-reporter-destination=/r/a.xml"), "{value}");
}

/// A result with counts from the output and from the report.
fn result(printed: Option<u64>, reported: Option<TestCounts>) -> CheckResult {
    CheckResult {
        tests: printed.map(|it| tests(it, 0, 0)),
        reported,
        exit: Some(0),
        ..CheckResult::new(criterion("pytest", Vec::new()).id, Status::Pass, "3 pass")
    }
}

#[test]
fn faults_turn_a_pass_into_a_failure() {
    let check = |command: &str, result: CheckResult, expect: Option<(Status, &str)>| {
        let criterion = criterion(command, Vec::new());
        let fault = ReportFault::of_result(&criterion, &result);
        let found = fault.map(|it| {
            let mut result = result.clone();
            it.apply(&mut result);
            (result.status, result.fact)
        });
        let found = found.as_ref().map(|(status, fact)| (*status, fact.as_str()));
        assert_eq!(found, expect, "{command}");
    };
    check("pytest", result(Some(3), Some(tests(3, 0, 0))), None);
    check("pytest", result(Some(3), Some(tests(5, 0, 0))), None);
    check("pytest -qq", result(None, Some(tests(3, 0, 0))), None);
    let fewer = "prints 3 passed, and the runner's report has 1";
    check("pytest", result(Some(3), Some(tests(1, 0, 2))), Some((Status::Fail, fewer)));
    check("pytest a; pytest b", result(Some(3), Some(tests(1, 0, 0))), None);
    let failing = "1 of 3 fail in the runner's report, exit 0";
    check("pytest | tail -1", result(None, Some(tests(2, 1, 0))), Some((Status::Fail, failing)));
    let missing =
        "could not be judged: the test runner writes no report, and it does on the files of the start";
    check("pytest", result(Some(3), None), Some((Status::CouldNotRun, missing)));
    let failed = CheckResult { status: Status::Fail, ..result(Some(3), None) };
    check("pytest", failed, None);
    let expected = criterion("pytest", vec![Expect::Exit { code: 1 }]);
    assert_eq!(ReportFault::of_result(&expected, &result(None, Some(tests(0, 1, 0)))), None);
}

#[test]
fn a_fault_of_the_start_is_not_the_agent_s() {
    let pytest = criterion("pytest", Vec::new());
    let is_new = |now: &CheckResult, start: Option<&CheckResult>| {
        ReportFault::of_result(&pytest, now).unwrap().is_new(&pytest, start)
    };
    let (missing, good) = (result(Some(3), None), result(Some(3), Some(tests(3, 0, 0))));
    assert!(is_new(&missing, Some(&good)));
    assert!(!is_new(&missing, Some(&missing)), "no report at the start either");
    assert!(!is_new(&missing, None));
    let fewer = result(Some(3), Some(tests(1, 0, 0)));
    assert!(is_new(&fewer, Some(&good)) && is_new(&fewer, Some(&missing)));
    assert!(!is_new(&fewer, Some(&fewer)), "the runner always counts that way");
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(<|>|/|\"|testcase|testsuites|!--|-->|\\PC){0,40}") {
        let _ = ReportingRunner::Pytest.read(&text);
    }
}
