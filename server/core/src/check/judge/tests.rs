//! Verdicts on runs of commands, with their facts as people read them.

use std::path::Path;

use proptest::prelude::*;

use super::judge;
use crate::check::counts::{fixture, fixtures};
use crate::check::{CheckResult, CommandExit, CommandRun, GAP, Status};
use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, NumberRule, PatternKind, TextPattern};
use loopkeeper_text::language::Language;
use loopkeeper_text::redact::Redactor;

fn criterion(expect: Vec<Expect>) -> Criterion {
    Criterion::new("0123456789", "tests", Some(Check::Command { command: "make test".to_owned(), expect }))
}

fn exited(code: i32, stdout: &str, stderr: &str) -> CommandRun {
    CommandRun {
        ending: CommandExit::Exited(code),
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.as_bytes().to_vec(),
        ..CommandRun::default()
    }
}

fn judged(expect: Vec<Expect>, run: &CommandRun) -> CheckResult {
    judge(&criterion(expect), run, Path::new("/root/of/it"), &Redactor::new([]))
}

fn regex(source: &str) -> TextPattern {
    TextPattern { source: source.to_owned(), kind: PatternKind::Regex }
}

fn matches(source: &str) -> Vec<Expect> {
    vec![Expect::Matches { pattern: regex(source) }]
}

fn matches_not(source: &str) -> Vec<Expect> {
    vec![Expect::MatchesNot { pattern: regex(source) }]
}

fn number(compare: Compare, value: f64) -> Vec<Expect> {
    vec![Expect::Number { compare, value }]
}

#[test]
fn only_an_expected_exit_code_passes() {
    let check = |expect: &[i32], code: i32, stderr: &str, status: Status, fact: &str| {
        let expect = expect.iter().map(|code| Expect::Exit { code: *code }).collect();
        let result = judged(expect, &exited(code, "", stderr));
        assert_eq!((result.status, result.fact.as_str()), (status, fact), "exit {code} {stderr:?}");
        assert_eq!((result.exit, result.signal), (Some(code), None));
    };
    check(&[], 0, "", Status::Pass, "exit 0");
    check(&[], 1, "", Status::Fail, "exit 1");
    check(&[2], 2, "", Status::Pass, "exit 2");
    check(&[2], 0, "", Status::Fail, "exit 0, needs exit 2");
    check(&[1, 2], 1, "", Status::Fail, "exit 1, needs exit 2");
    check(&[], 139, "", Status::Fail, "exit 139, killed by SIGSEGV");
    check(&[], 127, "sh: 1: cargo-clippy: not found\n", Status::CouldNotRun, "\"cargo-clippy\" not found");
    check(&[], 127, "bash: line 1: foo: command not found\n", Status::CouldNotRun, "\"foo\" not found");
    check(&[], 127, "sh: foo: not found\n", Status::CouldNotRun, "\"foo\" not found");
    check(&[], 127, "zsh:1: command not found: foo\n", Status::CouldNotRun, "\"foo\" not found");
    check(&[], 127, "env: ‘foo’: No such file or directory\n", Status::CouldNotRun, "\"foo\" not found");
    check(&[], 127, "sh: 1: ./run.sh: not found\n", Status::CouldNotRun, "\"./run.sh\" not found");
    check(&[], 127, "", Status::CouldNotRun, "command not found, exit 127");
    check(&[127], 127, "", Status::CouldNotRun, "command not found, exit 127");
    check(
        &[],
        126,
        "sh: 1: ./run.sh: Permission denied\n",
        Status::CouldNotRun,
        "\"./run.sh\" not executable",
    );
    check(&[126], 126, "", Status::CouldNotRun, "not executable, exit 126");
    check(&[], 101, "error: no such command: `clippy`\n", Status::CouldNotRun, "\"cargo-clippy\" not found");
    check(
        &[],
        1,
        "error: 'cargo-clippy' is not installed for the toolchain 'x'\n",
        Status::CouldNotRun,
        "\"cargo-clippy\" not found",
    );
    check(&[], 1, "/usr/bin/python3: No module named pytest\n", Status::CouldNotRun, "\"pytest\" not found");
}

#[test]
fn other_endings_are_never_a_pass() {
    let check = |ending: CommandExit, status: Status, fact: &str| {
        for expect in [vec![], matches("ok"), vec![Expect::Exit { code: 9 }]] {
            let run = CommandRun { ending: ending.clone(), duration_ms: 600_042, ..exited(0, "ok", "") };
            let result = judged(expect, &run);
            assert_eq!((result.status, result.fact.as_str()), (status, fact), "{ending:?}");
        }
    };
    check(CommandExit::TimedOut, Status::TimedOut, "no result after 600 s");
    check(CommandExit::Signalled(11), Status::CouldNotRun, "killed by SIGSEGV");
    check(CommandExit::Signalled(9), Status::CouldNotRun, "killed by SIGKILL");
    check(CommandExit::Signalled(64), Status::CouldNotRun, "killed by signal 64");
    check(CommandExit::NotStarted("no \x1b[31msh".to_owned()), Status::CouldNotRun, "no sh");
    check(CommandExit::NotStarted(String::new()), Status::CouldNotRun, "could not start");
}

#[test]
fn the_last_number_is_compared() {
    let check = |compare: Compare, value: f64, stdout: &str, status: Status, fact: &str| {
        let result = judged(number(compare, value), &exited(0, stdout, "99"));
        assert_eq!((result.status, result.fact.as_str()), (status, fact), "{stdout:?}");
    };
    check(Compare::AtLeast, 80.0, "coverage 76.4%\n", Status::Fail, "76.4, needs >= 80");
    check(Compare::AtLeast, 80.0, "coverage \x1b[32m80\x1b[0m%\n", Status::Pass, "80");
    check(Compare::Below, 0.5, "1e-3", Status::Pass, "0.001");
    check(Compare::Equal, 1000.0, "1,000 lines", Status::Pass, "1000");
    check(Compare::Equal, 0.0, "-0", Status::Pass, "-0");
    check(Compare::NotEqual, 3.0, "3", Status::Fail, "3, needs != 3");
    check(Compare::AtMost, 0.0, "", Status::Fail, "no number");
    check(Compare::Above, -2.5, "-2.5", Status::Fail, "-2.5, needs > -2.5");
    check(Compare::AtMost, 5.0, "6", Status::Fail, "6, needs <= 5");
    check(Compare::Below, 5.0, "5", Status::Fail, "5, needs < 5");
    let result = judged(number(Compare::AtMost, 100.0), &exited(1, "5", ""));
    assert_eq!((result.status, result.fact.as_str()), (Status::Fail, "exit 1"));
}

#[test]
fn patterns_are_searched_in_the_plain_output() {
    let check = |expect: Vec<Expect>, stdout: &str, stderr: &str, status: Status, fact: &str| {
        let result = judged(expect, &exited(0, stdout, stderr));
        assert_eq!((result.status, result.fact.as_str()), (status, fact), "{stdout:?} {stderr:?}");
    };
    check(matches("all good"), "\x1b[32mall\x1b[0m good\n", "", Status::Pass, "exit 0");
    check(matches("all good"), "", "all good\n", Status::Pass, "exit 0");
    check(matches("all good"), "all\n", "good\n", Status::Fail, "/all good/ not found");
    check(matches("^ok$"), "first\r\nok\r\nlast\r\n", "", Status::Pass, "exit 0");
    check(matches("^ok$"), "10%\rok\rlast", "", Status::Pass, "exit 0");
    check(matches("^ok$"), "not ok\n", "", Status::Fail, "/^ok$/ not found");
    check(matches("a\tb"), "a\tb", "", Status::Pass, "exit 0");
    check(matches_not("error"), "fine", "fine", Status::Pass, "exit 0");
    check(matches_not("error"), "fine", "an error", Status::Fail, "/error/ found");
    check(matches_not("error"), "err\x1b[1mor", "", Status::Fail, "/error/ found");
    check(matches_not("error"), "\x1b]0;an error\n", "", Status::Fail, "/error/ found");
    check(matches("("), "(", "", Status::CouldNotRun, "/(/ is not a pattern");
    check(
        vec![Expect::Status { code: 200 }],
        "200",
        "",
        Status::CouldNotRun,
        "a status is expected of GET only",
    );
    let literal = |kind| vec![Expect::Matches { pattern: TextPattern { source: "A.b".to_owned(), kind } }];
    check(literal(PatternKind::Literal), "A.b", "", Status::Pass, "exit 0");
    check(literal(PatternKind::Literal), "Axb", "", Status::Fail, "\"A.b\" not found");
    check(literal(PatternKind::RegexIgnoreCase), "aXB", "", Status::Pass, "exit 0");
    let both: Vec<Expect> = matches("one").into_iter().chain(matches("two")).collect();
    check(both, "one", "", Status::Fail, "/two/ not found");
}

#[test]
fn runs_of_test_runners() {
    let check = |name: &str, code: i32, status: Status, fact: &str| {
        let result = judged(vec![], &exited(code, &fixture(name), ""));
        assert_eq!((result.status, result.fact.as_str()), (status, fact), "{name}");
    };
    check("cargo_pass", 0, Status::Pass, "4 pass");
    check("cargo_fail", 101, Status::Fail, "2 of 4 fail");
    check("cargo_none", 0, Status::NoTestsRan, "0 tests ran");
    check("nextest_none", 4, Status::Fail, "0 tests ran, exit 4");
    check("node_filtered", 0, Status::NoTestsRan, "0 tests ran");
    check("pytest_skip", 0, Status::NoTestsRan, "0 tests ran");
    check("pytest_none", 5, Status::Fail, "0 tests ran, exit 5");
    check("vitest_none", 0, Status::NoTestsRan, "0 tests ran");
    check("rustc_error", 101, Status::Fail, "1 error");
    check("tsc_plain", 2, Status::Fail, "2 errors");
    check("tsc_pretty", 2, Status::Fail, "2 errors");
    check("python_crash", 1, Status::Fail, "exit 1");
    // `cargo test | tail`: the exit code is lost, the summary is not.
    check("cargo_fail", 0, Status::Fail, "2 of 4 fail, exit 0");
    let result = judged(vec![Expect::Exit { code: 0 }], &exited(0, &fixture("cargo_fail"), ""));
    assert_eq!(result.status, Status::Pass, "the user asks for the exit code");
    let result = judged(matches("passed"), &exited(0, &fixture("cargo_none"), ""));
    assert_eq!(result.status, Status::NoTestsRan);
    let result = judged(vec![Expect::Exit { code: 4 }], &exited(4, &fixture("nextest_none"), ""));
    assert_eq!(result.status, Status::NoTestsRan);
}

#[test]
fn output_that_was_not_kept_never_makes_a_pass() {
    let check = |expect: Vec<Expect>, stdout: &str, status: Status, fact: &str| {
        let run = CommandRun { dropped: 3 * 1024 * 1024, ..exited(0, stdout, "") };
        let result = judged(expect, &run);
        assert_eq!((result.status, result.fact.as_str()), (status, fact), "{stdout:?}");
    };
    let around = |head: &str, tail: &str| format!("{head}\n{GAP}\n{tail}\n");
    check(
        matches_not("error"),
        &around("fine", "fine"),
        Status::CouldNotRun,
        "too much output to rule out /error/, 3 MiB not kept",
    );
    check(matches_not("error"), &around("error", "fine"), Status::Fail, "/error/ found");
    check(matches("done"), &around("x", "done"), Status::Pass, "exit 0");
    check(matches("done"), &around("x", "y"), Status::Fail, "/done/ not found, 3 MiB of output not kept");
    check(
        number(Compare::AtLeast, 5.0),
        &around("9", "none"),
        Status::Fail,
        "no number at the end of the output",
    );
    check(number(Compare::AtLeast, 5.0), &around("1", "7"), Status::Pass, "7");
}

#[test]
fn checks_without_a_command_could_not_run() {
    let clean = Criterion { check: Some(Check::Clean), ..criterion(vec![]) };
    let result = judge(&clean, &exited(0, "", ""), Path::new("/"), &Redactor::new([]));
    assert_eq!((result.status, result.fact.as_str()), (Status::CouldNotRun, "not a command"));
}

#[test]
fn texts_are_sanitised_and_redacted() {
    let redactor = Redactor::new(["hunter2-hunter2".to_owned()]);
    let output = "src/hunter2-hunter2.rs:3:5: \x1b[31mhunter2-hunter2\u{202e}\n";
    let run = CommandRun { survivors: vec!["12 hunter2-hunter2".to_owned()], ..exited(1, output, "") };
    let result = judge(&criterion(vec![]), &run, Path::new("/"), &redactor);
    let shown = serde_json::to_string(&result).unwrap();
    assert!(
        !shown.contains("hunter2") && !shown.contains('\u{202e}') && !shown.contains("\\u001b"),
        "{shown}"
    );
    assert_eq!(result.locations[0].message, "[redacted]");
}

fn any_expectation() -> impl Strategy<Value = Expect> {
    prop_oneof![
        (0i32..4).prop_map(|code| Expect::Exit { code }),
        Just(Expect::Number { compare: Compare::AtLeast, value: 1.0 }),
        prop::sample::select(vec!["ok", "^a$", "e.*r", ""])
            .prop_map(|it| Expect::Matches { pattern: regex(it) }),
        prop::sample::select(vec!["ok", "^a$", "x"]).prop_map(|it| Expect::MatchesNot { pattern: regex(it) }),
    ]
}

fn any_run() -> impl Strategy<Value = CommandRun> {
    let ending = prop_oneof![
        (0i32..4).prop_map(CommandExit::Exited),
        (124i32..160).prop_map(CommandExit::Exited),
        (1i32..65).prop_map(CommandExit::Signalled),
        Just(CommandExit::TimedOut),
        Just(CommandExit::NotStarted("gone".to_owned())),
    ];
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        prop::sample::select(fixtures()).prop_map(|(_, output)| output.as_bytes().to_vec()),
        Just(b"ok\na\n12\n".to_vec()),
    ];
    (ending, bytes.clone(), bytes, prop_oneof![Just(0u64), 1u64..9]).prop_map(
        |(ending, stdout, stderr, dropped)| CommandRun {
            ending,
            stdout,
            stderr,
            dropped,
            ..CommandRun::default()
        },
    )
}

proptest! {
    #[test]
    fn only_complete_runs_with_the_expected_code_pass(expect in prop::collection::vec(any_expectation(), 0..3), run in any_run()) {
        let result = judged(expect.clone(), &run);
        prop_assert!(!result.fact.is_empty());
        if result.status == Status::Pass {
            let exits: Vec<i32> = expect.iter().filter_map(|it| match it { Expect::Exit { code } => Some(*code), _ => None }).collect();
            let wanted = exits.first().copied().unwrap_or_default();
            prop_assert_eq!(&run.ending, &CommandExit::Exited(wanted));
            prop_assert!(result.tests.is_none_or(|it| it.ran() > 0));
            let searches = expect.iter().any(|it| matches!(it, Expect::MatchesNot { .. }));
            prop_assert!(!(searches && run.dropped > 0));
        }
    }
}

#[test]
fn numbers_for_later_rounds() {
    let check = |expect: &[Expect], code: i32, stdout: &str, kept: Option<f64>, found: (Status, &str)| {
        let criterion =
            Criterion { number_rules: vec![NumberRule::NotFalling], ..criterion(expect.to_vec()) };
        let result =
            judge(&criterion, &exited(code, stdout, "9 warnings"), Path::new("/"), &Redactor::new([]));
        assert_eq!(
            (result.number, result.status, result.fact.as_str()),
            (kept, found.0, found.1),
            "{stdout}"
        );
    };
    let at_least = number(Compare::AtLeast, 80.0);
    check(&[], 0, "76.4 %", Some(76.4), (Status::Pass, "76.4"));
    check(&[], 0, "nothing", None, (Status::Fail, "no number"));
    check(&[], 1, "error 17", None, (Status::Fail, "exit 1"));
    check(&at_least, 0, "76.4 %", Some(76.4), (Status::Fail, "76.4, needs >= 80"));
    check(&[Expect::Exit { code: 1 }], 1, "17", Some(17.0), (Status::Pass, "17"));
    assert_eq!(judged(at_least, &exited(0, "81", "")).number, None, "nothing compares it");
}

#[test]
fn facts_are_in_the_language_of_the_process() {
    let check = |expect: Vec<Expect>, run: &CommandRun, fact: &str| {
        let result = Language::SimplifiedChinese.during(|| judged(expect, run));
        assert_eq!(result.fact, fact);
    };
    check(Vec::new(), &exited(1, "", ""), "退出码 1");
    check(Vec::new(), &exited(137, "", ""), "退出码 137，被 SIGKILL 终止");
    check(vec![Expect::Exit { code: 2 }], &exited(1, "", ""), "退出码 1，应为退出码 2");
    check(Vec::new(), &exited(1, "== 2 failed, 3 passed in 1.00s ==", ""), "5 个测试中有 2 个失败");
    check(Vec::new(), &exited(127, "", "sh: 1: pytest: not found"), "未找到“pytest”");
    check(matches("OK"), &exited(0, "", ""), "未找到 /OK/");
    let run = CommandRun { ending: CommandExit::TimedOut, duration_ms: 600_000, ..CommandRun::default() };
    check(Vec::new(), &run, "600 秒后没有结果");
}
