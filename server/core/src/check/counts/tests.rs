//! Real outputs of real runners, and documented ones of those that were not at hand (`go_*`).

use proptest::prelude::*;

use super::{TestCounts, read};
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::sanitize::strip_escapes;

macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../tests/fixtures/runner_output/", $name, ".txt")))),*]
    };
}

/// Every captured output by name.
pub(crate) fn fixtures() -> Vec<(&'static str, &'static str)> {
    fixtures![
        "cargo_warnings",
        "eslint_fail",
        "jest_console_fail",
        "make_fail",
        "node_spec_details",
        "node_tap_details",
        "pytest_details",
        "vitest_details",
        "cargo_pass",
        "cargo_none",
        "cargo_fail",
        "cargo_fail_nff",
        "cargo_fail_color",
        "cargo_fail_quiet",
        "nextest_pass",
        "nextest_none",
        "nextest_fail",
        "rustc_error",
        "node_tap_pass",
        "node_tap_fail",
        "node_spec_pass",
        "node_spec_fail",
        "node_spec_color",
        "node_none",
        "node_filtered",
        "node_crash",
        "pytest_pass",
        "pytest_pass_q",
        "pytest_fail",
        "pytest_fail_q",
        "pytest_fail_short_color",
        "pytest_none",
        "pytest_skip",
        "pytest_nofile",
        "pytest_error",
        "python_crash",
        "unittest_pass",
        "unittest_fail",
        "unittest_none",
        "jest_pass",
        "jest_fail",
        "jest_none",
        "jest_filtered",
        "vitest_pass",
        "vitest_fail",
        "vitest_none",
        "vitest_filtered",
        "mocha_pass",
        "mocha_fail",
    ]
    .into_iter()
    .chain(more_fixtures())
    .collect()
}

fn more_fixtures() -> Vec<(&'static str, &'static str)> {
    fixtures![
        "mocha_none",
        "go_pass",
        "go_fail",
        "go_none",
        "go_verbose",
        "go_unbuilt",
        "tsc_plain",
        "tsc_pretty",
        "rspec_pass",
        "rspec_fail",
        "rspec_none",
        "minitest_fail",
        "phpunit_pass",
        "phpunit_fail",
        "phpunit_skipped",
        "phpunit_none",
        "prove_pass",
        "prove_fail",
        "prove_none",
        "ava_fail",
        "ava_skip",
        "bats_fail",
        "bats_skip",
        "bun_fail",
        "bun_skip",
        "busted_fail",
        "busted_skip",
        "junit4_fail",
        "junit4_pass",
        "tap_fail",
        "tap_pass",
    ]
    .to_vec()
}

pub(crate) fn fixture(name: &str) -> String {
    let found = fixtures().into_iter().find(|it| it.0 == name);
    strip_escapes(found.unwrap_or_else(|| panic!("no fixture {name}")).1)
}

#[test]
fn redaction_leaves_the_output_of_runners_alone() {
    let redactor = Redactor::new(std::iter::empty());
    for (name, output) in fixtures() {
        assert_eq!(redactor.redact(output), output, "{name}");
    }
}

#[test]
fn summaries_of_real_runs() {
    let check = |name: &str, expect: Option<(u64, u64, u64)>| {
        let expect = expect.map(|(passed, failed, skipped)| TestCounts { passed, failed, skipped });
        assert_eq!(read(&fixture(name)), expect, "{name}");
    };
    check("cargo_pass", Some((4, 0, 1)));
    check("cargo_none", Some((0, 0, 4)));
    check("cargo_fail", Some((2, 2, 1)));
    check("cargo_fail_nff", Some((3, 2, 1)));
    check("cargo_fail_color", Some((2, 2, 1)));
    check("cargo_fail_quiet", Some((2, 2, 1)));
    check("nextest_pass", Some((3, 0, 1)));
    check("nextest_none", Some((0, 0, 4)));
    check("nextest_fail", Some((2, 2, 1)));
    check("rustc_error", None);
    check("node_tap_pass", Some((1, 0, 1)));
    check("node_tap_fail", Some((3, 2, 2)));
    check("node_spec_pass", Some((1, 0, 1)));
    check("node_spec_fail", Some((3, 2, 2)));
    check("node_none", Some((0, 0, 0)));
    check("node_filtered", Some((0, 0, 7)));
    check("node_crash", None);
    check("pytest_pass", Some((1, 0, 4)));
    check("pytest_pass_q", Some((1, 0, 4)));
    check("pytest_fail", Some((1, 2, 2)));
    check("pytest_fail_q", Some((1, 2, 2)));
    check("pytest_fail_short_color", Some((1, 2, 2)));
    check("pytest_none", Some((0, 0, 5)));
    check("pytest_skip", Some((0, 0, 5)));
    check("pytest_nofile", Some((0, 0, 0)));
    check("pytest_error", Some((0, 1, 0)));
    check("python_crash", None);
    check("unittest_pass", Some((1, 0, 0)));
    check("unittest_fail", Some((2, 2, 1)));
    check("unittest_none", Some((0, 0, 0)));
    check("jest_pass", Some((1, 0, 0)));
    check("jest_fail", Some((4, 2, 2)));
    check("jest_none", Some((0, 0, 0)));
    check("jest_filtered", Some((0, 0, 8)));
    check("vitest_pass", Some((1, 0, 0)));
    check("vitest_fail", Some((2, 1, 1)));
    check("vitest_none", Some((0, 0, 0)));
    check("vitest_filtered", Some((0, 0, 4)));
    check("mocha_pass", Some((1, 0, 0)));
    check("mocha_fail", Some((1, 1, 1)));
    check("mocha_none", Some((0, 0, 0)));
    check("go_pass", Some((2, 0, 0)));
    check("go_fail", Some((1, 1, 0)));
    check("go_none", Some((0, 0, 0)));
    check("go_verbose", Some((1, 1, 1)));
    check("go_unbuilt", Some((1, 1, 0)));
    check("tsc_plain", None);
    check("tsc_pretty", None);
}

#[test]
fn summaries_in_one_line() {
    let check = |name: &str, expect: Option<(u64, u64, u64)>| {
        let expect = expect.map(|(passed, failed, skipped)| TestCounts { passed, failed, skipped });
        assert_eq!(read(&fixture(name)), expect, "{name}");
    };
    check("rspec_pass", Some((3, 0, 1)));
    check("rspec_fail", Some((1, 2, 1)));
    check("rspec_none", Some((0, 0, 0)));
    check("minitest_fail", Some((1, 1, 1)));
    check("phpunit_pass", Some((1, 0, 0)));
    check("phpunit_fail", Some((1, 2, 1)));
    check("phpunit_skipped", Some((3, 0, 1)));
    check("phpunit_none", Some((0, 0, 0)));
    check("prove_pass", Some((2, 0, 0)));
    check("prove_fail", Some((0, 2, 0)));
    check("prove_none", Some((0, 0, 0)));
}

#[test]
fn summaries_as_runners_document_them() {
    let check = |output: &str, passed: u64, failed: u64, skipped: u64| {
        assert_eq!(read(output), Some(TestCounts { passed, failed, skipped }), "{output:?}");
    };
    check("all.tcl:\tTotal\t3\tPassed\t1\tSkipped\t0\tFailed\t2\n", 1, 2, 0);
    check("Ran 3 tests in 0.001 seconds, 1 success, 2 failures\n", 1, 2, 0);
    check("Ran 2 tests in 0.001 seconds, 2 successes, 0 failures\nOK\n", 2, 0, 0);
    check("testA\n\nRan 3 tests.\n\nOK\n", 3, 0, 0);
    check("testA\nASSERT:expected\n\nRan 2 tests.\n\nFAILED (failures=4)\n", 0, 2, 0);
    check(
        "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.04 s -- in ATest\n\
         [ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n",
        2,
        2,
        1,
    );
    check("Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 8 ms", 3, 0, 1);
    check("75% tests passed, 1 tests failed out of 4\n", 3, 1, 0);
    check("2 doctests, 5 tests, 1 failure, 1 skipped\n", 3, 1, 1);
    check("ok | 2 passed (1 step) | 0 failed | 1 ignored (12ms)\n", 2, 0, 1);
    check("4 specs, 1 failure, 1 pending spec\n", 2, 1, 1);
    check("3 examples, 0 failures, 1 error occurred outside of examples\n", 2, 1, 0);
}

#[test]
fn edge_cases_of_summaries() {
    let check = |output: &str, expect: Option<(u64, u64, u64)>| {
        let expect = expect.map(|(passed, failed, skipped)| TestCounts { passed, failed, skipped });
        assert_eq!(read(output), expect, "{output:?}");
    };
    check("", None);
    check("0 tests", None);
    check("all tests passed in 3 s", None);
    check("built 3 modules in 0.5s", None);
    check("5 passed", None);
    check("# pass 3", None);
    check("  1 failing", None);
    check("# tests 0\n# pass  0\n\n# ok", Some((0, 0, 0)));
    check("test result: ok. 99999999999999999999999 passed; 0 failed", None);
    check(
        "     Summary [   0.1s] 2/3 tests run: 1 passed (1 slow, 1 leaky), 1 timed out, 4 skipped",
        Some((1, 1, 5)),
    );
    check("     Summary [   0.1s] 1 test run: 1 passed, 0 skipped", Some((1, 0, 0)));
    check("=== 3 passed, 2 warnings in 61.07s (0:01:01) ===", Some((3, 0, 0)));
    check("Ran 2 tests in 0.1s\n\nOK (expected failures=1)", Some((1, 0, 1)));
    check("Ran 2 tests in 0.1s\n\nOK (skipped=1, expected failures=1)", Some((0, 0, 2)));
    check("2 passed, 1 xfailed, 1 xpassed, 3 deselected in 0.01s", Some((3, 0, 4)));
    check("      Tests  1 passed | 2 expected fail (3)", Some((1, 0, 2)));
    check("Ran 0 tests in 0.000s\n\nNO TESTS RAN", Some((0, 0, 0)));
    check("      Tests  no tests", Some((0, 0, 0)));
    check("1 passed in 0.01s\n2 passed in 0.02s", Some((3, 0, 0)));
    check("1 passed in 0.01s\n# tests 2\n# pass 2", Some((3, 0, 0)));
}

proptest! {
    #[test]
    fn any_output_is_read(output in "(\\PC|\n|\t){0,200}") {
        let _ = read(&output);
    }

    #[test]
    fn any_mixture_of_fixtures_is_read(
        picks in prop::collection::vec((prop::sample::select(fixtures()), 0usize..400), 0..4),
    ) {
        let text: String = picks.iter().map(|((_, output), skip)| output.chars().skip(*skip).collect::<String>()).collect();
        let _ = read(&text);
    }
}

#[test]
fn summaries_of_runners_with_their_own_words() {
    let check = |name: &str, (passed, failed, skipped)| {
        assert_eq!(read(&fixture(name)), Some(TestCounts { passed, failed, skipped }), "{name}");
    };
    // It prints no tests that passed where others failed.
    check("ava_fail", (0, 2, 0));
    check("ava_skip", (2, 0, 1));
    check("bats_fail", (1, 2, 0));
    check("bats_skip", (2, 0, 1));
    check("bun_fail", (1, 2, 0));
    check("bun_skip", (2, 0, 1));
    check("busted_fail", (1, 2, 0));
    check("busted_skip", (2, 0, 1));
    check("junit4_fail", (1, 2, 0));
    check("junit4_pass", (3, 0, 0));
    check("tap_fail", (1, 2, 0));
    check("tap_pass", (3, 0, 0));
    assert_eq!(read("ok 1\nok 2\n"), None, "no plan");
    assert_eq!(read(" 3 pass\n"), None);
}

#[test]
fn runners_that_always_report_counts() {
    let check =
        |command: &str, expect: bool| assert_eq!(super::always_prints_counts(command), expect, "{command}");
    for command in [
        "python3 -m unittest",
        "python -m unittest discover -s tests",
        "pytest -q",
        "cargo test --offline",
        "node --test",
        "cd app && pytest",
        "CI=1 python3.11 -m pytest tests",
        "uv run pytest -q",
        "bundle exec rspec",
        "vendor/bin/phpunit tests",
        "prove -l t",
        "npx vitest run",
        "npm test",
        "yarn run test:unit",
        "./mvnw -B test",
        "dotnet test",
        "deno test",
        "busted spec",
        "npx ava",
        "tclsh tests/all.tcl",
        "sh tests/calc_test.sh",
    ] {
        check(command, true);
    }
    for command in [
        "pytest -qq",
        "cargo test --no-run",
        "pytest | tail -1",
        "pytest > log",
        "make test",
        "npm test --silent",
        "npm run build",
        "npx jest --listTests",
        "cargo test -- --list",
        "pytest; true",
        "sh -c pytest",
        "cargo testing",
    ] {
        check(command, false);
    }
}
