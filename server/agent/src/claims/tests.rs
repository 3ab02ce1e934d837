//! Messages as agents write them, and what each claims. The traps are those that ended other tools' loops early
//! or kept them running.

mod corpus;
mod hostile;
mod questions;
mod status;
mod words;

use super::{Claims, WorkState, read};
use loopkeeper_text::language::Language;

pub(super) fn claims(text: &str) -> Claims {
    read(text, "COMPLETE", &[])
}

/// The end of a message, as the prompt asks for it.
#[test]
fn every_form_of_an_honest_claim_is_read() {
    let text = "All features implemented and all tests passing.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\n\
                TASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 3\nTESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\n\
                EXIT_SIGNAL: true\nRECOMMENDATION: Ready for review\n---END_RALPH_STATUS---\n\n\
                <promise>COMPLETE</promise>\n";
    let claims = claims(text);
    assert!(claims.promise);
    assert_eq!(claims.exit_signal, Some(true));
    assert_eq!(claims.status.as_ref().and_then(|it| it.state.clone()), Some(WorkState::Complete));
    assert_eq!(claims.indicator_count(), 3, "{claims:#?}");
    assert_eq!(claims.contradiction(), None);
    let listed: Vec<String> = claims.report_rows().iter().map(ToString::to_string).collect();
    assert_eq!(listed.first().map(String::as_str), Some("the promise · tag · decisive"));
    assert!(listed.contains(&"EXIT_SIGNAL: true · status block · decisive".to_owned()), "{listed:#?}");
    assert!(listed.contains(&"all tests passing · words · 0.7".to_owned()), "{listed:#?}");
    let json = serde_json::to_string(&claims).unwrap();
    assert_eq!(serde_json::from_str::<Claims>(&json).unwrap(), claims);
    assert!(json.contains("\"exitSignal\":true"));
}

#[test]
fn claims_are_described_in_chinese() {
    let described = |text: &str| {
        Language::SimplifiedChinese.during(|| {
            let claims = claims(text);
            let rows: Vec<String> = claims.report_rows().iter().map(ToString::to_string).collect();
            (rows, claims.sentences(), claims.contradiction())
        })
    };
    let (rows, sentences, contradiction) =
        described("Done.\n\nPROGRESS: 80%\n\nEXIT_SIGNAL: true\n\n<promise>COMPLETE</promise>");
    assert_eq!(rows[..2], ["承诺 · 标签 · 决定性", "EXIT_SIGNAL: true · 行 · 决定性"]);
    assert_eq!(sentences[..2], ["代理称已完成（承诺标签）。", "代理称已完成（EXIT_SIGNAL: true）。"]);
    assert_eq!(contradiction.as_deref(), Some("代理声称已完成（承诺），进度却为 80 %"));
    let (_, _, blocked) =
        described("---RALPH_STATUS---\nSTATUS: BLOCKED\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---");
    assert_eq!(blocked.as_deref(), Some("代理声称已完成（EXIT_SIGNAL），同时报告 STATUS: BLOCKED"));
}

#[test]
fn contradictions_between_claims_are_named() {
    let check = |text: &str, expect: Option<&str>| {
        assert_eq!(claims(text).contradiction().as_deref(), expect, "{text}");
    };
    check(
        "Progress: 80%\n<promise>COMPLETE</promise>",
        Some("the agent claims to be done (promise) at 80 %"),
    );
    check("Progress: 100%\n<promise>COMPLETE</promise>", None);
    check("Progress: 80%", None);
    check(
        "RALPH_STATUS:\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: true",
        Some("the agent claims to be done (EXIT_SIGNAL) with STATUS: IN_PROGRESS"),
    );
    check(
        "RALPH_STATUS:\nSTATUS: COMPLETE\nTESTS_STATUS: FAILING",
        Some("the agent claims to be done (STATUS) with TESTS_STATUS: FAILING"),
    );
    check(
        "EXIT_SIGNAL: false\n\n<promise>COMPLETE</promise>",
        Some("the agent claims to be done (promise) with EXIT_SIGNAL: false"),
    );
    check(
        "3 tests are failing.\nEXIT_SIGNAL: true",
        Some("the agent claims to be done (EXIT_SIGNAL) and says that it is not: 3 tests are failing."),
    );
}

#[test]
fn remaining_work_denies_completion() {
    let check = |text: &str, expect: bool| assert_eq!(claims(text).denies_completion(), expect, "{text}");
    let signals = ["EXIT_SIGNAL: true", "<promise>COMPLETE</promise>"];
    for signal in signals {
        for denial in [
            "3 tests are failing.",
            "Two tests fail.",
            "The parser still fails.",
            "Moving to next story.",
            "Now working on the parser.",
            "Progress: 80%",
            "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\n---END_RALPH_STATUS---",
            "---RALPH_STATUS---\nSTATUS: BLOCKED\n---END_RALPH_STATUS---",
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: FAILING\n---END_RALPH_STATUS---",
        ] {
            check(&format!("{denial}\n\n{signal}"), true);
        }
        for fine in ["All tests pass.", "No tests fail.", "Fixed the failing tests.", "Progress: 100%", ""] {
            check(&format!("{fine}\n\n{signal}"), false);
        }
    }
}

#[test]
fn progress_is_parsed_in_percent() {
    let check = |text: &str, expect: Option<u8>| assert_eq!(claims(text).progress, expect, "{text}");
    check("PROGRESS: 80%", Some(80));
    check("Progress: 80 %.", Some(80));
    check("The migration is about 80% done.", Some(80));
    check("The work is 80 percent complete.", Some(80));
    check("进度：60%", Some(60));
    check("目前完成了 75%。", Some(75));
    check("Coverage is 85% and the rest is done.", None);
    check("80% of the tests pass.", None);
    check("We are 40% of the way there.", Some(40));
    check("I stop when it is 100% done.", None);
    check("`Progress: 80%`", None);
    check("RALPH_STATUS:\nSTATUS: IN_PROGRESS\nPROGRESS: 55%", Some(55));
    check("{\"status\":\"IN_PROGRESS\",\"progress\":55,\"exit_signal\":false}", Some(55));
    check("Speed rose by 80%.", None);
}

#[test]
fn decisions_and_notes_are_found() {
    let text = "DECISION: use `serde` for parsing\n- **Learned:** the server needs UTC\n决定：保留旧接口\n\
                > DECISION: quoted\n```\nDECISION: in code\n```\nDECISION: <what>\n\nLearnings:\n- cache is per user\n\
                - locks are advisory\n\nNote: the docs are still thin\n";
    let claims = claims(text);
    assert_eq!(
        claims.decisions,
        [
            "use `serde` for parsing",
            "the server needs UTC",
            "保留旧接口",
            "cache is per user",
            "locks are advisory"
        ]
    );
    assert_eq!(claims.notes, ["the docs are still thin"]);
}

#[test]
fn iterations_that_only_test_are_detected() {
    use super::is_test_only;
    use super::status::WorkType;
    use super::test_only::is_test_file;
    for path in [
        "tests/e2e/main.rs",
        "src/lib/tests.rs",
        "src/parser_test.rs",
        "web/app.test.tsx",
        "web/a.spec.js",
        "src/__tests__/a.js",
        "pkg/test_x.py",
        "pkg/x_test.py",
        "conftest.py",
        "a/b_test.go",
        "AppTest.java",
        "src/test/java/App.java",
        "run.bats",
        "test_install.sh",
        "tests\\a.py",
        "ui/__snapshots__/a.snap",
    ] {
        assert!(is_test_file(path), "{path}");
    }
    for path in [
        "src/lib.rs",
        "latest.py",
        "contest.go",
        "src/testing.ts",
        "attest.rs",
        "Test.java",
        "README.md",
        "",
        "Testimony.java",
        "src/protest/a.rs",
    ] {
        assert!(!is_test_file(path), "{path}");
    }
    let check = |files: &[&str], commands: &[&str], work: Option<WorkType>, expect: bool| {
        let files: Vec<String> = files.iter().map(ToString::to_string).collect();
        let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
        assert_eq!(is_test_only(&files, &commands, work.as_ref()), expect, "{files:?} {commands:?}");
    };
    check(&[], &["cargo test"], None, true);
    check(&["tests/a.rs"], &["cd web && CI=1 npm test -- --run"], None, true);
    check(&["src/a.rs"], &["cargo test"], None, false);
    check(&[], &["ls", "git status"], None, false);
    check(&[], &[], None, false);
    check(&[], &[], Some(WorkType::Testing), true);
    check(&["src/a.rs"], &[], Some(WorkType::Testing), false);
    check(&[], &["cargo testify"], None, false);
    check(&[], &["echo pytest"], None, false);
    check(&["docs/a.md"], &["pytest -q"], Some(WorkType::Testing), false);
}
