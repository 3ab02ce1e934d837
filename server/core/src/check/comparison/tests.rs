use super::FailedComparison;
use crate::check::{CheckResult, Status, words};
use loopkeeper_task::criterion::{Check, Criterion, Expect, PatternKind, TextPattern};
use loopkeeper_text::language::Language;

fn criterion(check: Check) -> Criterion {
    let task = loopkeeper_task::parse_inline_task("Do it", &["It works: `$ true`".to_owned()]);
    let first = task.criteria.into_iter().next().expect("a criterion");
    Criterion { check: Some(check), ..first }
}

fn regex(source: &str) -> TextPattern {
    TextPattern { source: source.to_owned(), kind: PatternKind::Regex }
}

fn command(expect: Expect) -> Check {
    Check::Command { command: "true".to_owned(), expect: vec![expect] }
}

fn compare(check: Check, status: Status, fact: &str, output: &str) -> Option<(String, String)> {
    let criterion = criterion(check);
    let mut result = CheckResult::new(criterion.id.clone(), status, fact);
    output.clone_into(&mut result.head);
    let found = result.failed_comparison(&criterion);
    found.map(|FailedComparison { expected, actual }| (expected, actual))
}

#[test]
fn a_failed_comparison_has_two_sides() {
    let wants = |source| command(Expect::Matches { pattern: regex(source) });
    let forbids = |source| command(Expect::MatchesNot { pattern: regex(source) });
    let text = || TextPattern { source: "hello".to_owned(), kind: PatternKind::Literal };
    let globs = || vec!["a.txt".to_owned(), "b.txt".to_owned()];
    let check = |check: Check, fact: &str, output: &str, expect: Option<(&str, &str)>| {
        let found = compare(check, Status::Fail, fact, output);
        assert_eq!(found, expect.map(|(one, other)| (one.to_owned(), other.to_owned())), "{fact}");
    };
    let exit = || command(Expect::Exit { code: 2 });
    check(exit(), "76.4, needs >= 80", "", Some((">= 80", "76.4")));
    check(exit(), "exit 1, needs exit 2", "", Some(("exit 2", "exit 1")));
    check(exit(), "3 of 214 fail", "", None);
    check(wants("OK$"), "/OK$/ not found", "one\n\nnot OK!\n", Some(("a match of /OK$/", "one\nnot OK!")));
    check(
        wants("OK$"),
        "/OK$/ not found, 3 MiB of output not kept",
        "end\n",
        Some(("a match of /OK$/", "end")),
    );
    check(wants("OK$"), "/OK$/ not found", "", Some(("a match of /OK$/", "no output")));
    check(wants("OK$"), "exit 1", "OK\n", None);
    check(forbids("TODO"), "/TODO/ found", "fine\nTODO: x\n", Some(("no match of /TODO/", "TODO: x")));
    check(forbids("a\\nb"), "/a\\nb/ found", "a\nb\n", Some(("no match of /a\\nb/", "a match of /a\\nb/")));
    let has = Check::Has { pattern: text(), globs: globs() };
    check(has, "\"hello\" not found in 2 files", "", Some(("\"hello\" in a.txt b.txt", "not found")));
    let lacks = || Check::Lacks { pattern: text(), globs: globs() };
    check(
        lacks(),
        "\"hello\" found in a.txt:3",
        "",
        Some(("no \"hello\" in a.txt b.txt", "found in a.txt:3")),
    );
    check(lacks(), "a.txt cannot be read", "", None);
}

#[test]
fn passing_and_unrunnable_checks_have_no_comparison() {
    for status in [Status::Pass, Status::CouldNotRun, Status::TimedOut, Status::NoTestsRan] {
        let pattern = || regex("x");
        assert_eq!(
            compare(command(Expect::Matches { pattern: pattern() }), status, "/x/ not found", ""),
            None
        );
        assert_eq!(compare(command(Expect::Exit { code: 0 }), status, "81, needs >= 80", ""), None);
    }
}

#[test]
fn long_output_is_cut() {
    let lines = format!("{}\n", "x".repeat(1000)).repeat(100);
    let wants = command(Expect::Matches { pattern: regex("OK") });
    let (_, actual) = compare(wants, Status::Fail, "/OK/ not found", &lines).expect("a comparison");
    assert_eq!(actual.lines().count(), 10);
    assert!(actual.lines().all(|it| it.len() <= 200));
}

#[test]
fn facts_in_every_language_have_two_sides() {
    for language in [Language::English, Language::SimplifiedChinese] {
        let fact = language.during(|| words::needs_exit(words::exit(1), 2));
        let sides = language.during(|| (words::exit(2), words::exit(1)));
        let found = compare(command(Expect::Exit { code: 2 }), Status::Fail, &fact, "");
        assert_eq!(found, Some(sides), "{fact}");
        let fact = language.during(|| words::needs(76.4, ">= 80"));
        let found = compare(command(Expect::Exit { code: 0 }), Status::Fail, &fact, "");
        assert_eq!(found, Some((">= 80".to_owned(), "76.4".to_owned())), "{fact}");
    }
    let chinese = |check: Check, fact: &str| {
        Language::SimplifiedChinese.during(|| compare(check, Status::Fail, fact, "")).expect("a comparison")
    };
    let pattern = || regex("OK");
    let sides = chinese(command(Expect::Matches { pattern: pattern() }), "未找到 /OK/");
    assert_eq!(sides, ("/OK/ 的匹配".to_owned(), "没有输出".to_owned()));
    let lacks = Check::Lacks { pattern: pattern(), globs: vec!["a.txt".to_owned()] };
    let sides = chinese(lacks, "a.txt:3 中有 /OK/");
    assert_eq!(sides, ("a.txt 中没有 /OK/".to_owned(), "a.txt:3 中有 /OK/".to_owned()));
}
