//! Checks every captured transcript of the real program against its scenario.

use proptest::prelude::proptest;

use super::GeminiParser;
use crate::ProviderClass::{Crash, Login, Quota, Transient, Unknown};
use crate::kind::Dialect;
use crate::provider::LocalClock;
use crate::reader::{AgentOutputReader, ProcessEnd, StopHookReport};
use crate::transcripts::{ExpectedRun, NOW, OK, captured, end, failed, read, table};
use crate::{AgentEnding, AgentEvent};

fn ok(tokens: u64, final_text: &'static str) -> ExpectedRun {
    ExpectedRun { tokens: Some(tokens), final_text, ..OK }
}

#[test]
fn transcripts_are_read_as_their_scenarios_say() {
    table! { Dialect::Gemini, "gemini",
        "trivial_text" => ok(120, "hi there");
        "success_edit" => ok(5480, "All done <promise>COMPLETE</promise>");
        "hook_tool_deny" => ExpectedRun { denials: 1, ..ok(240, "fin") };
        "hook_after_block" => ok(2160, "again");
        "sess_1" => ok(120, "ok blue");
        "sess_2_resume_id" => ok(120, "two");
        "hook_max_turns" => ExpectedRun { exit: 53, ..ok(240, "") };
        "err_401" => ExpectedRun { exit: 144, tokens: Some(0), ..failed(Login) };
        "err_429" => ExpectedRun { exit: 137, ..failed(Crash) };
        "err_429_then_ok" => ok(120, "fine");
        "err_500_then_ok" => ok(120, "fine");
        "kill_tool_SIGTERM" => ExpectedRun { exit: 137, ..failed(Crash) };
        "stuck_hang" => ExpectedRun { exit: 137, ..failed(Crash) };
    }
}

#[test]
fn retries_are_read_from_stderr() {
    let stderr = captured!("gemini", "err_429", ".stderr.txt");
    let stderr_events: Vec<AgentEvent> = stderr.lines().filter_map(GeminiParser::stderr_line).collect();
    assert_eq!(stderr_events.first(), Some(&AgentEvent::Retry { attempt: 1, status: Some(429) }));
    // An agent that is killed during a retry was waiting for its provider, not working.
    let mut reader = AgentOutputReader::new(Dialect::Gemini);
    captured!("gemini", "err_429").lines().for_each(|line| drop(reader.read_line(line)));
    stderr.lines().for_each(|line| drop(reader.stderr_line(line)));
    let end = ProcessEnd { ending: AgentEnding::Idle, ..end(stderr, 137) };
    let error = reader.finish(end, &LocalClock::utc(NOW)).error.unwrap();
    assert_eq!((error.class, error.status), (Transient, Some(429)), "{error:?}");
}

#[test]
fn a_failure_before_the_first_line_is_read_from_stderr() {
    let run = read(Dialect::Gemini, "", captured!("gemini", "err_no_key", ".stderr.txt"), 41);
    assert_eq!(run.error.map(|it| it.class), Some(Login));
}

#[test]
fn a_cap_of_turns_is_an_early_end_and_no_failure() {
    let run = read(Dialect::Gemini, captured!("gemini", "hook_max_turns"), "", 53);
    assert!(run.note.is_some_and(|it| it.starts_with("Reached max session turns")));
    assert_eq!(run.commands, ["echo hey", "echo hey"]);
}

#[test]
fn files_are_those_that_tools_really_wrote() {
    let run = read(Dialect::Gemini, captured!("gemini", "success_edit"), "", 0);
    assert_eq!(run.files, ["/home/dev/gm/main.rs", "/home/dev/gm/new.txt"]);
    assert_eq!(run.tools, ["read_file", "replace", "write_file", "run_shell_command"]);
    let denied = read(Dialect::Gemini, captured!("gemini", "hook_tool_deny"), "", 0);
    assert_eq!(denied.denied, ["run_shell_command: echo hey"]);
}

#[test]
fn a_shell_that_it_does_not_have_is_denied() {
    let call = |tool: &str| {
        [
            format!(r#"{{"type":"tool_use","tool_name":"{tool}","tool_id":"t","parameters":{{}}}}"#),
            r#"{"type":"tool_result","tool_id":"t","status":"error","error":{"type":"tool_not_registered","message":"not found"}}"#.to_owned(),
        ]
    };
    assert_eq!(read(Dialect::Gemini, &call("run_shell_command").join("\n"), "", 0).denials, 1);
    assert_eq!(read(Dialect::Gemini, &call("made_up").join("\n"), "", 0).denials, 0);
}

/// How version 0.61.0 reported answers that were truncated, empty or not JSON.
#[test]
fn an_unreadable_response_is_a_transient_failure() {
    let check = |result: &str, expect| {
        let error = read(Dialect::Gemini, result, "", 1).error.unwrap();
        assert_eq!(error.class, expect, "{error:?}");
        assert!(!error.message.is_empty());
    };
    let result = |message: &str| {
        format!(r#"{{"type":"result","status":"error","error":{{"type":"unknown","message":"{message}"}}}}"#)
    };
    for message in [
        "[API Error: Expected property name or '}' in JSON at position 1]",
        "[API Error: Incomplete JSON segment at the end]",
        "[API Error: Unexpected token '<', \\\"<html>no<\\\"... is not valid JSON]",
        "[API Error: Unexpected end of JSON input]",
        "[API Error: Unterminated string in JSON at position 7]",
    ] {
        check(&result(message), Transient);
    }
    let ended =
        r#"{"type":"error","severity":"error","message":"Model stream ended without a finish reason."}"#;
    check(&format!("{ended}\n{}", r#"{"type":"result","status":"error"}"#), Transient);
    // Errors about an unreadable file have the same text without that mark.
    check(&result("Unexpected token } in JSON at position 5"), Unknown);
}

#[test]
fn a_daily_quota_is_a_usage_limit() {
    let result = r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later."}}"#;
    let error = read(Dialect::Gemini, result, "", 173).error.unwrap();
    assert_eq!(error.class, Quota, "{error:?}");
}

#[test]
fn a_session_held_by_its_hook_reports_each_iteration() {
    let mut reader = AgentOutputReader::new(Dialect::Gemini);
    let here = LocalClock::utc(NOW);
    let held = || ProcessEnd { ending: AgentEnding::Held, ..ProcessEnd::exited(None) };
    let (mut messages, mut gave_up_after) = (Vec::new(), 0);
    let mut lines = captured!("gemini", "hook_after_block").lines().peekable();
    while let Some(line) = lines.next() {
        reader.read_line(line);
        let asks_hook = lines.peek().is_some_and(|it| it.contains("Agent execution blocked"));
        if asks_hook {
            gave_up_after += u32::from(!reader.is_spent());
            messages.push(reader.so_far(StopHookReport::default(), held(), &here).final_text);
        }
    }
    // Its answer was always the same, until its loop detection stopped it from asking the model.
    assert_eq!((messages.len(), gave_up_after), (30, 18));
    assert!(
        messages[..18].iter().all(|it| it == "again") && messages[18..].iter().all(String::is_empty),
        "{messages:?}"
    );
    let left = reader.finish(ProcessEnd::exited(Some(0)), &here);
    assert_eq!((left.tokens, left.final_text.as_str()), (Some(2160), ""));
}

#[test]
fn chunks_of_one_message_are_one_text() {
    let mut gemini = AgentOutputReader::new(Dialect::Gemini);
    let chunk =
        |text: &str| format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#);
    let lines = [chunk("one "), chunk("two"), r#"{"type":"result","status":"success"}"#.to_owned()];
    let events: Vec<AgentEvent> = lines.iter().flat_map(|line| gemini.read_line(line)).collect();
    assert_eq!(events.first(), Some(&AgentEvent::Text("one two".to_owned())));
    let Some(AgentEvent::Turn(turn)) = events.last() else { panic!("{events:?}") };
    assert_eq!(turn.final_text, "one two");
}

proptest! {
    #[test]
    fn lines_of_any_shape_are_read(
        kind in "init|message|tool_use|tool_result|error|result",
        value in "null|1|\"x\"|\"error\"|\\[\\]|\\{\\}",
    ) {
        let line = format!(
            r#"{{"type":"{kind}","role":"assistant","content":{value},"parameters":{value},"status":{value},
            "error":{value},"stats":{value},"tool_id":{value},"tool_name":{value}}}"#
        );
        AgentOutputReader::new(Dialect::Gemini).read_line(&line);
    }
}

#[test]
fn tokens_of_thoughts_count() {
    let line = r#"{"type":"result","status":"success","stats":{"total_tokens":150,"input_tokens":100,"output_tokens":10,"cached":50}}"#;
    assert_eq!(read(Dialect::Gemini, line, "", 0).tokens, Some(150));
}
