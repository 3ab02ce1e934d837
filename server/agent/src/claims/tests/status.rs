//! Status blocks in every form in use, and texts that only resemble one.

use super::claims;
use crate::claims::status::{StatusBlock, TestsState, WorkState, WorkType};

const REAL: &str = "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n";

fn signal(text: &str, expect: Option<bool>) {
    assert_eq!(claims(text).exit_signal, expect, "{text}");
}

fn block(text: &str) -> StatusBlock {
    claims(text).status.unwrap_or_else(|| panic!("no block: {text}"))
}

#[test]
fn every_field_is_parsed() {
    let text = "---RALPH_STATUS---\nSTATUS: in_progress\nTASKS_COMPLETED_THIS_LOOP: 2\nFILES_MODIFIED: 7 files\n\
                TESTS_STATUS: Failing (3 of 40)\nWORK_TYPE: debugging\nEXIT_SIGNAL: FALSE\nPROGRESS: 40%\n\
                NOTES: half way\nRECOMMENDATION: fix Vec<T> first\nMOOD: fine\n---END_RALPH_STATUS---";
    let expect = StatusBlock {
        state: Some(WorkState::InProgress),
        exit_signal: Some(false),
        tests: Some(TestsState::Failing),
        work_type: Some(WorkType::Debugging),
        files_modified: Some(7),
        tasks_completed: Some(2),
        recommendation: Some("fix Vec<T> first".to_owned()),
        progress: Some(40),
        notes: Some("half way".to_owned()),
        others: vec![("MOOD".to_owned(), "fine".to_owned())],
    };
    assert_eq!(block(text), expect);
}

#[test]
fn forms_that_count() {
    signal(REAL, Some(true));
    signal(&REAL.to_lowercase(), Some(true));
    signal(&format!("All good.\n\n```\n{REAL}```\n"), Some(true));
    signal(&format!("~~~text\n{REAL}~~~\nBye."), Some(true));
    signal(&REAL.replace('\n', "\r\n"), Some(true));
    signal("RALPH_STATUS:\nEXIT_SIGNAL: true\nSTATUS: COMPLETE\n\nBye.", Some(true));
    signal("**RALPH_STATUS:**\n- **STATUS**: COMPLETE\n- **EXIT_SIGNAL:** true\n", Some(true));
    signal("## RALPH_STATUS\n\nSTATUS: COMPLETE\nEXIT_SIGNAL: true", Some(true));
    signal("RALPH_STATUS:\n    STATUS: COMPLETE\n    EXIT_SIGNAL: true", Some(true));
    signal("{\"exit_signal\": true, \"status\": \"COMPLETE\"}", Some(true));
    signal("{\n  \"RALPH_STATUS\": {\n    \"EXIT_SIGNAL\": \"true\"\n  }\n}", Some(true));
    signal("Here it is:\n```json\n{\"ralph_status\": {\"exitSignal\": true}}\n```", Some(true));
    signal("RALPH_STATUS: {\"exit_signal\": false}", Some(false));
    signal("---RALPH_STATUS---\n{\"exit_signal\": true}\n---END_RALPH_STATUS---", Some(true));
    signal("EXIT_SIGNAL: true", Some(true));
    signal("Work is over.\n\n**EXIT_SIGNAL: true**", Some(true));
    signal("exit_signal=false", Some(false));
    signal("EXIT_SIGNAL: true # everything holds", Some(true));
    signal("EXIT_SIGNAL: false, two tests fail", Some(false));
}

#[test]
fn texts_without_a_claim() {
    let template = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS | COMPLETE | BLOCKED\nFILES_MODIFIED: <n>\n\
                    EXIT_SIGNAL: false | true\n---END_RALPH_STATUS---\n";
    signal(template, None);
    signal(&format!("{REAL}\nThe form was:\n{template}"), Some(true));
    signal("---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n", None);
    signal("STATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---", Some(true));
    signal("```\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n", None);
    signal(&format!("```\nsome example\n{REAL}```\n"), None);
    signal(&format!("````\n```\n{REAL}```\n````\n"), None);
    signal(&format!("> {}", REAL.replace('\n', "\n> ")), None);
    signal(&format!("When everything is done I will print:\n\n{REAL}"), None);
    signal(&format!("The format, for example:\n```\n{REAL}```"), None);
    signal(&format!("例如：\n{REAL}"), None);
    signal("When done, print this line:\nEXIT_SIGNAL: true", None);
    signal("`EXIT_SIGNAL: true`\n", None);
    signal("I set EXIT_SIGNAL: true at the end.", None);
    signal("EXIT_SIGNAL: true when all tests pass", None);
    signal("EXIT_SIGNAL: true | false", None);
    signal("EXIT_SIGNAL: true or false", None);
    signal("EXIT_SIGNAL: maybe", None);
    signal("{\"exit_signal\": true", None);
    signal("I would return {\"exit_signal\": true} here.", None);
    signal("{\"status\": \"complete\"}", None);
    signal("{\"exit_signal\": \"true | false\"}", None);
    signal("```json\n{\"name\": \"x\", \"version\": 1}\n```", None);
    assert_eq!(claims("{\"status\": \"complete\"}").status, None);
}

#[test]
fn the_last_complete_block_wins() {
    let other = REAL.replace("true", "false").replace("COMPLETE\n", "IN_PROGRESS\n");
    signal(&format!("{REAL}\n{other}"), Some(false));
    signal(&format!("{other}\n{REAL}"), Some(true));
    signal(&format!("{other}\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n"), Some(false));
    signal(&format!("---RALPH_STATUS---\nEXIT_SIGNAL: false\n{REAL}"), Some(true));
    signal(&format!("{other}\n```json\n{{\"exit_signal\": true}}\n```"), Some(true));
    // A separate line and a block that differ are no claim.
    signal(&format!("{REAL}\nEXIT_SIGNAL: false"), Some(false));
    // Nor is a block that contains both.
    signal("RALPH_STATUS:\nEXIT_SIGNAL: false\nEXIT_SIGNAL: true", Some(false));
}

#[test]
fn fields_are_not_confused() {
    let text = "RALPH_STATUS:\nTESTS_STATUS: PASSING\nEXIT_SIGNAL: false\n";
    assert_eq!(block(text).state, None);
    assert_eq!(block(text).tests, Some(TestsState::Passing));
    let state = |value: &str| block(&format!("RALPH_STATUS:\nSTATUS: {value}\n")).state.unwrap();
    assert_eq!(state("Complete ✅ (all of it)"), WorkState::Complete);
    assert_eq!(state("almost complete"), WorkState::Other("almost complete".to_owned()));
    assert_eq!(state("Complete (all of it)"), WorkState::Complete);
    assert_eq!(state("not complete"), WorkState::Other("not complete".to_owned()));
    assert_eq!(state("incomplete"), WorkState::InProgress);
    let tests = |value: &str| block(&format!("RALPH_STATUS:\nTESTS_STATUS: {value}\n")).tests.unwrap();
    assert_eq!(tests("PASSING (42 passed, 0 failed)"), TestsState::Passing);
    assert_eq!(tests("PASSING, 10 failed"), TestsState::Failing);
    assert_eq!(tests("NOT_RUN"), TestsState::NotRun);
}

#[test]
fn block_content_is_not_prose() {
    let text = "RALPH_STATUS:\nSTATUS: IN_PROGRESS\nRECOMMENDATION: all tests pass, everything is done\n";
    assert_eq!(claims(text).indicators, []);
    assert_eq!(claims(text).indicator_count(), 0);
}
