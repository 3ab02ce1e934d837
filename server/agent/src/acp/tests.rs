//! The bridge's output for captured conversations, and single lines of it.

use serde_json::{Value, json};

use super::client::{AcpAction, AcpClient, PromptParams};
use crate::acp::policy::PermissionPolicy;
use crate::acp::start::BridgeOptions;
use crate::kind::Dialect;
use crate::provider::LocalClock;
use crate::reader::{AgentOutputReader, ProcessEnd, StopHookReport};
use crate::transcripts::{ExpectedRun, OK, captured, check as transcript, failed};
use crate::{AgentEnding, AgentEvent, PermissionMode, ProviderClass};

/// The bridge's output for a captured agent.
fn bridged(capture: &str, permissions: PermissionMode) -> String {
    let policy = PermissionPolicy { permissions, commands: Vec::new(), runner: None, commits: false };
    let options = BridgeOptions { policy, model: None, effort: None };
    let params = PromptParams {
        options,
        folder: "/home/dev".to_owned(),
        prompt: "Do it.".to_owned(),
        session: None,
        held: false,
    };
    let (mut client, mut actions) = AcpClient::begin(params);
    for line in capture.lines() {
        actions.extend(client.handle_line(line, &|_| true));
    }
    let report = |it: &AcpAction| match it {
        AcpAction::Report(line) => Some(format!("{line}\n")),
        _ => None,
    };
    actions.iter().filter_map(report).collect()
}

#[test]
fn captured_conversations_are_read() {
    let gemini = captured!("acp", "gemini");
    let expect = ExpectedRun { tokens: Some(240), final_text: "ACP done", ..OK };
    transcript(Dialect::Acp, "gemini", &bridged(gemini, PermissionMode::All), &expect);
    let denied = ExpectedRun { denials: 1, ..expect };
    transcript(Dialect::Acp, "gemini", &bridged(gemini, PermissionMode::Edits), &denied);
    let opencode = ExpectedRun { tokens: None, cost_micros: Some(1200), ..expect };
    transcript(
        Dialect::Acp,
        "opencode",
        &bridged(captured!("acp", "opencode"), PermissionMode::Edits),
        &opencode,
    );
    let claude = ExpectedRun { cost_micros: Some(1600), ..expect };
    transcript(
        Dialect::Acp,
        "claude",
        &bridged(captured!("acp", "claude-agent-acp"), PermissionMode::All),
        &claude,
    );
}

fn events(lines: &[Value]) -> Vec<AgentEvent> {
    let mut reader = AgentOutputReader::new(Dialect::Acp);
    lines.iter().flat_map(|it| reader.read_line(&it.to_string())).collect()
}

/// A short label for each event.
fn labels(lines: &[Value]) -> Vec<String> {
    let word = |it: AgentEvent| match it {
        AgentEvent::Started { session, model } => format!("started {session} {model}"),
        AgentEvent::Text(said) => format!("text {said}"),
        AgentEvent::ToolUse(call) => {
            format!("use {:?} {} {} {:?}", call.act, call.tool, call.detail, call.within)
        }
        AgentEvent::ToolFailed { text } => format!("failed {text}"),
        AgentEvent::FileChange { path, .. } => format!("changed {path}"),
        AgentEvent::Denied { tool, .. } => format!("denied {tool}"),
        AgentEvent::Turn(turn) => format!("turn {:?} {:?}", turn.note, turn.error.map(|it| it.class)),
        other => format!("{other:?}"),
    };
    events(lines).into_iter().map(word).collect()
}

#[test]
fn captured_tools_are_reported_once_and_complete() {
    let tools_of = |capture: &str| {
        let lines: Vec<Value> = bridged(capture, PermissionMode::All)
            .lines()
            .map(|it| serde_json::from_str(it).unwrap())
            .collect();
        labels(&lines).into_iter().filter(|it| it.starts_with("use")).collect::<Vec<_>>()
    };
    assert_eq!(tools_of(captured!("acp", "gemini")), ["use Run execute echo acp > acp.txt None"]);
    assert_eq!(tools_of(captured!("acp", "opencode")), ["use Run execute echo acp > acp.txt None"]);
    assert_eq!(tools_of(captured!("acp", "claude-agent-acp")), ["use Run Bash echo acp > acp.txt None"]);
}

#[test]
fn tools_are_read() {
    let update = |fields: Value| {
        let mut it = json!({"type": "update", "sessionUpdate": "tool_call_update", "toolCallId": "1"});
        it.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        it
    };
    let diff = json!([{"type": "diff", "path": "/t/a", "newText": "x"}]);
    let check = |lines: &[Value], expect: &[&str]| assert_eq!(labels(lines), expect);
    check(
        &[
            update(json!({"kind": "edit", "title": "Write", "status": "pending", "content": diff})),
            update(json!({"status": "in_progress"})),
            update(json!({"status": "completed", "locations": [{"path": "/t/b"}]})),
        ],
        &["use Edit edit /t/a None", "changed /t/a"],
    );
    check(
        &[update(json!({"kind": "edit", "rawInput": {"filePath": "/t/a"}, "status": "failed",
            "content": [{"type": "content", "content": {"type": "text", "text": "disk full"}}]}))],
        &["use Edit edit /t/a None", "failed disk full"],
    );
    let run = json!({"kind": "execute", "rawInput": {"command": "ls"}, "status": "completed",
        "rawOutput": {"output": "no such file", "metadata": {"exit": 2}}});
    check(&[update(run)], &["use Run execute ls None", "failed no such file"]);
    let nested = json!({"_meta": {"claudeCode": {"toolName": "Task", "parentToolUseId": "P"}},
        "rawInput": {"description": "look"}});
    check(&[update(nested)], &["use Spawn Task look Some(\"P\")"]);
}

/// A held agent continues after the end of its turn.
#[test]
fn open_calls_end_with_their_turn() {
    let call = |command: &str| {
        json!({"type": "update", "sessionUpdate": "tool_call", "toolCallId": "1", "kind": "execute",
            "rawInput": {"command": command}})
    };
    let turn = json!({"type": "turn", "stopReason": "end_turn"});
    let used = |command: &str| format!("use Run execute {command} None");
    let over = || "turn None None".to_owned();
    let lines = [call("ls"), turn.clone(), call("make"), turn];
    assert_eq!(labels(&lines), [used("ls"), over(), used("make"), over()]);
}

#[test]
fn chunks_of_a_message_are_joined() {
    let chunk = |text: &str, message: &str| json!({"type": "update", "sessionUpdate": "agent_message_chunk", "messageId": message, "content": {"type": "text", "text": text}});
    let turn = json!({"type": "turn", "stopReason": "end_turn"});
    let usage = json!({"type": "update", "sessionUpdate": "usage_update"});
    let lines = [chunk("a", "1"), usage, chunk("b", "1"), chunk("c", "2"), turn];
    assert_eq!(labels(&lines), ["text ab", "text c", "turn None None"]);
    let AgentEvent::Turn(turn) = events(&lines).pop().unwrap() else { panic!() };
    assert_eq!(turn.final_text, "c");
}

#[test]
fn an_unfinished_message_counts_as_output() {
    let chunk = json!({"type": "update", "sessionUpdate": "agent_message_chunk", "messageId": "1", "content": {"type": "text", "text": "half"}});
    let mut reader = AgentOutputReader::new(Dialect::Acp);
    reader.read_line(&chunk.to_string());
    let end = ProcessEnd { ending: AgentEnding::Idle, ..ProcessEnd::exited(None) };
    let run = reader.finish(end, &LocalClock::utc(0));
    assert_eq!((run.final_text.as_str(), run.error), ("half", None));
}

#[test]
fn an_iteration_without_a_message_has_no_final_text() {
    let chunk = json!({"type": "update", "sessionUpdate": "agent_message_chunk", "messageId": "1", "content": {"type": "text", "text": "done"}});
    let turn = json!({"type": "turn", "stopReason": "end_turn"});
    let mut reader = AgentOutputReader::new(Dialect::Acp);
    for (lines, expect) in [(vec![&chunk, &turn], "done"), (vec![&turn], "")] {
        for line in lines {
            drop(reader.read_line(&line.to_string()));
        }
        let end = ProcessEnd { ending: AgentEnding::Held, ..ProcessEnd::exited(None) };
        let run = reader.so_far(StopHookReport::default(), end, &LocalClock::utc(0));
        assert_eq!(run.final_text, expect);
    }
}

#[test]
fn turns_end_in_different_ways() {
    let check = |reason: &str, expect: &str| {
        assert_eq!(labels(&[json!({"type": "turn", "stopReason": reason})]), [expect], "{reason}");
    };
    check("end_turn", "turn None None");
    check("refusal", "turn None Some(Refused)");
    check("max_tokens", "turn Some(\"its answer was cut off at its token limit\") None");
    check("max_turn_requests", "turn Some(\"it reached its own limit of requests\") None");
    check("cancelled", "turn Some(\"its turn was cancelled\") None");
    check("something new", "turn None None");
}

#[test]
fn errors_of_the_protocol_are_those_of_the_provider() {
    let check = |error: Value, class: ProviderClass| {
        let mut line = error;
        line["type"] = json!("failed");
        transcript(Dialect::Acp, "failed", &line.to_string(), &failed(class));
    };
    check(json!({"code": -32000, "message": "Authentication required."}), ProviderClass::Login);
    check(json!({"code": 429, "message": "Rate limit exceeded. Try again later."}), ProviderClass::Transient);
    check(json!({"code": 500, "message": "oops"}), ProviderClass::Transient);
    check(json!({"code": 401, "message": "oops"}), ProviderClass::Login);
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    check(
        json!({"code": -32603, "message": "Internal error", "data": {"details": quota}}),
        ProviderClass::Quota,
    );
    check(json!({"code": -32603, "message": "Internal error"}), ProviderClass::Unknown);
    let line = json!({"type": "failed", "code": -32000, "message": "No key.", "authMethods": [{"name": "Log in with X"}]});
    let AgentEvent::Turn(turn) = events(&[line]).pop().unwrap() else { panic!() };
    assert_eq!(turn.error.unwrap().message, "it is not logged in: No key. (options: Log in with X)");
}

#[test]
fn other_lines_are_unread_or_ignored() {
    assert_eq!(events(&[json!({"x": 1})]), [AgentEvent::Unread("{\"x\":1}".to_owned())]);
    assert_eq!(
        labels(&[json!({"type": "update", "sessionUpdate": "plan", "entries": []})]),
        Vec::<String>::new()
    );
    assert_eq!(AgentOutputReader::new(Dialect::Acp).read_line("  "), []);
}
