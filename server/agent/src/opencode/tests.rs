//! Checks every captured transcript of the real program against its scenario.

use proptest::prelude::proptest;

use crate::AgentEvent;
use crate::ProviderClass::{Crash, Login, Quota, Refused, Transient};
use crate::kind::Dialect;
use crate::reader::{AgentOutputReader, KillReason};
use crate::transcripts::{ExpectedRun, NOW, OK, captured, failed, read, table};

fn ok(tokens: u64, cost_micros: u64, final_text: &'static str) -> ExpectedRun {
    ExpectedRun { tokens: Some(tokens), cost_micros: Some(cost_micros), final_text, ..OK }
}

fn none_used(expect: ExpectedRun) -> ExpectedRun {
    ExpectedRun { tokens: Some(0), cost_micros: Some(0), ..expect }
}

#[test]
fn transcripts_are_read_as_their_scenarios_say() {
    table! { Dialect::Opencode, "opencode",
        "trivial_text" => ok(120, 600, "hi there");
        "success_edit" => ok(5480, 2400, "All done <promise>COMPLETE</promise>");
        "plugin_idle" => ok(240, 1200, "one");
        "sess_1" => ok(120, 600, "ok blue");
        "sess_2_session" => ok(120, 600, "two");
        "err_400" => none_used(failed(Refused));
        "err_401" => none_used(failed(Login));
        "err_429_forever" => none_used(ExpectedRun { resets_in: Some(2), ..failed(Transient) });
        "err_429_then_ok" => ok(120, 600, "fine");
        "err_html" => none_used(ExpectedRun { exit: 137, ..failed(Transient) });
        "err_malformed" => none_used(failed(Transient));
        "kill_tool_SIGTERM" => ExpectedRun { exit: 143, ..failed(Crash) };
    }
}

#[test]
fn empty_answers_end_the_run() {
    let mut reader = AgentOutputReader::new(Dialect::Opencode);
    let mut halted = captured!("opencode", "err_html").lines().map(|line| {
        reader.read_line(line);
        reader.kill_reason(1000)
    });
    assert_eq!(halted.position(|it| it == Some(KillReason::Garbage)), Some(19));
}

#[test]
fn steps_are_counted() {
    let mut reader = AgentOutputReader::new(Dialect::Opencode);
    captured!("opencode", "success_edit").lines().for_each(|line| drop(reader.read_line(line)));
    assert_eq!((reader.kill_reason(4), reader.kill_reason(3)), (None, Some(KillReason::Steps)));
}

#[test]
fn edits_commands_and_failures_are_reported() {
    let run = read(Dialect::Opencode, captured!("opencode", "success_edit"), "", 0);
    assert_eq!(run.files, ["/home/dev/oc_edit/main.rs", "/home/dev/oc_edit/new.txt"]);
    assert_eq!(run.commands, ["ls; exit 3"]);
    assert_eq!(run.tools, ["read", "edit", "write", "bash"]);
    assert_eq!(run.session.as_deref(), Some("ses_e06c1f245ffe4197Cuu3vN7Mx4"));
}

#[test]
fn a_lost_session_is_recognised() {
    let run = read(Dialect::Opencode, "", captured!("opencode", "sess_4_unknown", ".stderr.txt"), 1);
    assert!(run.session_lost, "{run:?}");
}

#[test]
fn a_missing_login_is_recognised_by_its_error_name() {
    let line = r#"{"type":"error","sessionID":"s","error":{"name":"ProviderAuthError","data":{"providerID":"a","message":"no key for a"}}}"#;
    let error = read(Dialect::Opencode, line, "", 1).error.unwrap();
    assert_eq!((error.class, error.message.as_str()), (Login, "no key for a"));
    let nameless = r#"{"type":"error","sessionID":"s","error":{"name":"MessageAbortedError"}}"#;
    assert_eq!(read(Dialect::Opencode, nameless, "", 1).error.unwrap().message, "MessageAbortedError");
}

#[test]
fn a_refusal_by_a_rule_is_a_denial() {
    let line = |error: &str| {
        format!(
            r#"{{"type":"tool_use","sessionID":"s","part":{{"tool":"bash","callID":"c","state":{{"status":"error","input":{{"command":"ls"}},"error":"{error}"}}}}}}"#
        )
    };
    let rule = "The user has specified a rule which prevents you from using this specific tool call.";
    let denied = AgentOutputReader::new(Dialect::Opencode).read_line(&line(rule));
    assert!(
        matches!(denied.last(), Some(AgentEvent::Denied { tool, .. }) if tool == "bash: ls"),
        "{denied:?}"
    );
    let failed = AgentOutputReader::new(Dialect::Opencode).read_line(&line("no such file"));
    assert!(matches!(failed.last(), Some(AgentEvent::ToolFailed { .. })), "{failed:?}");
}

#[test]
fn a_shell_that_it_does_not_have_is_denied() {
    let line = |tool: &str| {
        format!(
            r#"{{"type":"tool_use","sessionID":"s","part":{{"tool":"invalid","state":{{"status":"completed","input":{{"tool":"{tool}","error":"unavailable"}}}}}}}}"#
        )
    };
    let denied = AgentOutputReader::new(Dialect::Opencode).read_line(&line("bash"));
    assert!(matches!(denied.last(), Some(AgentEvent::Denied { tool, .. }) if tool == "bash"), "{denied:?}");
    let invalid = AgentOutputReader::new(Dialect::Opencode).read_line(&line("made_up"));
    assert!(matches!(invalid.last(), Some(AgentEvent::ToolUse(_))), "{invalid:?}");
}

proptest! {
    #[test]
    fn lines_of_any_shape_are_read(
        kind in "step_start|step_finish|text|tool_use|error",
        value in "null|1|\"x\"|\"stop\"|\\[\\]|\\{\\}|-1|1e400",
    ) {
        let line = format!(
            r#"{{"type":"{kind}","sessionID":{value},"error":{value},"part":{{"tokens":{value},"cost":{value},
            "reason":{value},"state":{value},"text":{value},"tool":{value}}}}}"#
        );
        AgentOutputReader::new(Dialect::Opencode).read_line(&line);
    }
}

#[test]
fn a_failure_is_classified_by_its_name_and_headers() {
    let class = |error: &str| {
        let line = format!(r#"{{"type":"error","sessionID":"s","error":{error}}}"#);
        let error = read(Dialect::Opencode, &line, "", 1).error.expect("an error");
        (error.class, error.resets_at.map(|at| (at - NOW) / 1000))
    };
    let limited = |header: &str| {
        class(&format!(
            r#"{{"name":"APIError","data":{{"message":"Too Many Requests","statusCode":429,"responseHeaders":{{{header}}}}}}}"#
        ))
    };
    assert_eq!(limited(r#""retry-after":"3600""#), (Quota, Some(3600)));
    assert_eq!(limited(r#""retry-after-ms":"3600000""#), (Quota, Some(3600)));
    assert_eq!(limited(r#""retry-after":"Fri, 20 Nov 2026 15:00:00 GMT""#), (Quota, Some(3600)));
    assert_eq!(limited(r#""retry-after":"20""#), (Transient, Some(20)));
    assert_eq!(class(r#"{"name":"ContextOverflowError","data":{"message":"too much"}}"#), (Refused, None));
}
