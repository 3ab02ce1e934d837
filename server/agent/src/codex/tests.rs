//! Checks every captured transcript of the real program against its scenario.

use proptest::prelude::proptest;

use super::strip_shell_wrapper;
use crate::ProviderClass::{Crash, Login, Quota, Refused, Transient};
use crate::kind::Dialect;
use crate::provider::LocalClock;
use crate::reader::AgentOutputReader;
use crate::transcripts::{ExpectedRun, NOW, OK, captured, end, failed, read, table};
use crate::{AgentEvent, AgentRun};

fn ok(tokens: u64, final_text: &'static str) -> ExpectedRun {
    ExpectedRun { tokens: Some(tokens), final_text, ..OK }
}

#[test]
fn transcripts_are_read_as_their_scenarios_say() {
    table! { Dialect::Codex, "codex",
        "trivial_text" => ok(120, "hi there");
        "success_edit" => ok(5480, "All done <promise>COMPLETE</promise>");
        "hook_stop_cap" => ok(3720, "again");
        "hook_pre_deny" => ok(240, "fin");
        "sess_1" => ok(120, "ok blue");
        "sess_2_resume" => ok(240, "two");
        "err_400" => failed(Refused);
        "err_401" => failed(Login);
        "err_429" => failed(Transient);
        "err_429_then_ok" => ok(120, "fine");
        "err_429_usage_limit" => ExpectedRun { resets_in: Some(3660), ..failed(Quota) };
        "err_500" => failed(Transient);
        "err_drop" => failed(Transient);
        "err_malformed" => failed(Transient);
        "err_no_key" => failed(Login);
        "kill_tool_SIGTERM" => ExpectedRun { exit: 143, ..failed(Crash) };
        "stuck_hang" => ExpectedRun { exit: 137, ..failed(Crash) };
    }
}

#[test]
fn tokens_count_over_the_whole_thread() {
    let mut reader = AgentOutputReader::for_session(Dialect::Codex, 120);
    captured!("codex", "sess_2_resume").lines().for_each(|line| drop(reader.read_line(line)));
    let run = reader.finish(end("", 0), &LocalClock::utc(NOW));
    assert_eq!((run.tokens, run.session_tokens), (Some(120), Some(240)));
}

#[test]
fn edits_commands_and_failures_are_reported() {
    let run = read(Dialect::Codex, captured!("codex", "success_edit"), "", 0);
    let AgentRun { files, commands, tools, session, errors, .. } = run;
    assert_eq!(files, ["/home/dev/cx/main.rs", "/home/dev/cx/new.txt"]);
    assert_eq!(commands, ["cat main.rs", "ls; exit 3"]);
    assert_eq!(tools, ["command_execution", "file_change"]);
    assert_eq!(session.as_deref(), Some("01a1f942-f9d3-7042-a005-59c16413b40f"));
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn retries_are_events_and_no_failures() {
    let mut codex = AgentOutputReader::new(Dialect::Codex);
    let events: Vec<AgentEvent> =
        captured!("codex", "err_429").lines().flat_map(|line| codex.read_line(line)).collect();
    assert!(events.contains(&AgentEvent::Retry { attempt: 2, status: Some(429) }), "{events:?}");
    // Remarks about its own configuration are not part of the agent's text.
    assert!(!events.iter().any(|it| matches!(it, AgentEvent::Text(_) | AgentEvent::Unread(_))), "{events:?}");
}

#[test]
fn refusals_of_its_rules_are_read_from_stderr() {
    let stderr = "2026-11-20T14:00:00.648732Z ERROR codex_core::tools::router: error=patch rejected: writing outside of the project; rejected by user approval settings\nplain words\n";
    let run = read(Dialect::Codex, captured!("codex", "trivial_text"), stderr, 0);
    assert_eq!((run.denials, run.denied, run.error), (1, vec!["file_change".to_owned()], None));
}

#[test]
fn refusals_by_hooks_and_rules_are_denials() {
    for (stderr, expect) in [
        (captured!("codex", "hook_pre_deny", ".stderr.txt"), "command_execution: echo hey"),
        (
            r#"2026-11-23T01:18:06.977693Z ERROR codex_core::tools::router: error=exec_command failed: CreateProcess { message: "Rejected(\"`/bin/bash -lc 'rm -f x'` rejected: rm -f style commands are not permitted.\")" }"#,
            "command_execution",
        ),
    ] {
        let run = read(Dialect::Codex, captured!("codex", "hook_pre_deny"), stderr, 0);
        assert_eq!((run.denials, run.denied, run.error), (1, vec![expect.to_owned()], None));
    }
}

#[test]
fn a_lost_session_is_recognised() {
    let run = read(Dialect::Codex, "", captured!("codex", "sess_4_unknown", ".stderr.txt"), 1);
    assert!(run.session_lost, "{run:?}");
    assert_eq!(run.error.map(|it| it.class), Some(Refused));
    let other = read(Dialect::Codex, "", captured!("codex", "no_git_repo", ".stderr.txt"), 1);
    assert!(!other.session_lost && other.error.is_some_and(|it| it.message.contains("trusted directory")));
}

#[test]
fn commands_are_reported_without_their_shell() {
    for (command, expect) in [
        ("/bin/bash -lc 'cargo test'", "cargo test"),
        ("bash -lc \"cargo test\"", "cargo test"),
        ("/bin/zsh -c ls", "ls"),
        ("cargo test -c 'x'", "cargo test -c 'x'"),
        ("/bin/bash -lc 'echo '\"'\"'a'\"'\"''", "'echo '\"'\"'a'\"'\"''"),
        ("ls", "ls"),
    ] {
        assert_eq!(strip_shell_wrapper(command), expect, "{command}");
    }
}

proptest! {
    #[test]
    fn total_on_any_shape(
        kind in "item.started|item.completed|turn.completed|turn.failed|error|thread.started",
        item in "command_execution|file_change|agent_message|mcp_tool_call|collab_tool_call|error",
        value in "null|1|\"x\"|\\[\\]|\\[null\\]|\\{\\}",
    ) {
        let line = format!(
            r#"{{"type":"{kind}","item":{{"type":"{item}","command":{value},"changes":{value},"status":{value}}},
            "usage":{value},"error":{value},"message":{value},"thread_id":{value}}}"#
        );
        AgentOutputReader::new(Dialect::Codex).read_line(&line);
    }
}

#[test]
fn a_stream_that_ends_with_an_error_has_failed() {
    let limit = r#"{"type":"error","message":"You've hit your usage limit. Try again at 3:05 PM."}"#;
    let retry = r#"{"type":"error","message":"Reconnecting... 5/5 (stream disconnected)"}"#;
    let said = r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"done"}}"#;
    let class = |lines: &[&str], exit| {
        read(Dialect::Codex, &lines.join("\n"), "", exit).error.map(|it| (it.class, it.resets_at.is_some()))
    };
    assert_eq!(class(&[limit], 1), Some((Quota, true)));
    assert_eq!(class(&[limit, said], 1), Some((Crash, false)), "the work went on after it");
    assert_eq!(class(&[retry], 1), Some((Crash, false)));
}
