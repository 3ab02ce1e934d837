//! Checks every captured transcript of the real CLI that has an outcome against its scenario.

use proptest::prelude::proptest;

use crate::kind::Dialect;
use crate::provider::LocalClock;
use crate::reader::{AgentOutputReader, ProcessEnd};
use crate::{AgentEvent, AgentRun, ProviderClass, transcripts};

/// The expected result of reading a transcript.
struct Expect {
    exit: i32,
    class: Option<ProviderClass>,
    status: Option<u16>,
    denials: u32,
    cost_micros: Option<u64>,
    tokens: Option<u64>,
    final_text: &'static str,
}

const OK: Expect = Expect {
    exit: 0,
    class: None,
    status: None,
    denials: 0,
    cost_micros: Some(800),
    tokens: Some(120),
    final_text: "",
};

fn read(transcript: &str, stderr: &str, exit: i32) -> AgentRun {
    transcripts::read(Dialect::Claude, transcript, stderr, exit)
}

macro_rules! transcript {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/fixtures/agents/claude/", $name, ".jsonl"))
    };
}

macro_rules! table {
    ($($name:literal => $expect:expr;)*) => { [$(($name, transcript!($name), $expect)),*] };
}

fn failed(class: ProviderClass, status: Option<u16>) -> Expect {
    Expect { exit: 1, class: Some(class), status, cost_micros: Some(0), tokens: Some(0), ..OK }
}

fn ended_without_result(exit: i32) -> Expect {
    Expect { exit, class: Some(ProviderClass::Crash), cost_micros: None, tokens: None, ..OK }
}

#[test]
fn transcripts_are_read_as_their_scenarios_say() {
    use ProviderClass::{Crash, Login, Quota, Refused, Transient};
    let table = table! {
        "trivial_text" => Expect { final_text: "hi there", ..OK };
        "success_edit" => Expect { cost_micros: Some(3840), tokens: Some(5390), final_text: "All done. <promise>COMPLETE</promise>", ..OK };
        "edit_acceptEdits" => Expect { denials: 1, cost_micros: Some(2400), tokens: Some(360), final_text: "ok", ..OK };
        "edit_allowedTools" => Expect { cost_micros: Some(2400), tokens: Some(360), final_text: "ok", ..OK };
        "edit_default_perm" => Expect { denials: 2, cost_micros: Some(2400), tokens: Some(360), final_text: "ok", ..OK };
        "hook_task_deny" => Expect { denials: 1, cost_micros: Some(2400), tokens: Some(360), final_text: "final", ..OK };
        "hook_all_events" => Expect { cost_micros: Some(4800), tokens: Some(720), final_text: "DONE (script exhausted)", ..OK };
        "hook_stop_continue_false" => OK;
        "hook_stop_cap" => Expect { cost_micros: Some(7200), tokens: Some(1080), final_text: "again", ..OK };
        "subagent_foreground" => Expect { cost_micros: Some(2400), tokens: Some(360), final_text: "main", ..OK };
        "subagent_cap_env" => Expect { cost_micros: Some(3200), tokens: Some(480), final_text: "subres", ..OK };
        "bg_bash" => Expect { exit: 137, cost_micros: Some(1600), tokens: Some(240), final_text: "end", ..OK };
        "bg_disabled" => Expect { cost_micros: Some(1600), tokens: Some(240), final_text: "end", ..OK };
        "partial_messages" => Expect { final_text: "abc", ..OK };
        // No line is JSON, so all of it is treated as message text.
        "output_text" => Expect { cost_micros: None, tokens: None, final_text: "hello", ..OK };
        "err_malformed_sse" => Expect { final_text: "DONE (script exhausted)", ..OK };
        "err_429_then_ok" => Expect { final_text: "fine", ..OK };
        "usage_limit_text" => Expect { final_text: "Claude AI usage limit reached|1763700000", ..OK };
        "limit5h_oauth_allowed" => Expect { cost_micros: Some(400), final_text: "ok", ..OK };
        "limit5h_oauth_warning" => Expect { cost_micros: Some(400), final_text: "ok", ..OK };
        "limit5h_oauth_429" => failed(Quota, Some(429));
        "limit_oauth_401" => failed(Login, Some(401));
        "authtoken_401_retries1" => failed(Login, Some(401));
        "err_no_key" => failed(Login, None);
        "err_400_credit" => failed(ProviderClass::Billing, Some(400));
        "err_400" => failed(Refused, Some(400));
        "hook_stopfailure" => failed(Refused, Some(400));
        "err_400_prompt_too_long" => failed(Refused, Some(400));
        "err_429_retries0" => failed(Transient, Some(429));
        "err_429_unified_5h" => failed(Transient, Some(429));
        "err_500_retries0" => failed(Transient, Some(500));
        "err_529_retries0" => failed(Transient, Some(529));
        "err_drop" => failed(Transient, None);
        "err_no_server" => failed(Transient, None);
        "err_not_sse_html" => failed(Transient, None);
        "hang_api_timeout" => failed(Transient, None);
        "stuck_stall" => Expect { cost_micros: Some(2520), tokens: Some(446), ..failed(Transient, None) };
        "max_turns" => Expect { exit: 1, cost_micros: Some(1600), tokens: Some(240), ..OK };
        "kill_tool_SIGINT" => Expect { class: Some(Crash), ..OK };
        "kill_tool_SIGTERM" => ended_without_result(143);
        "kill_tool_SIGHUP" => ended_without_result(129);
        "kill_waiting_SIGTERM" => ended_without_result(143);
        "kill_tool_SIGKILL" => ended_without_result(137);
        // Still retrying when the time was up: without a `result` nothing is known about the provider.
        "err_401" => ended_without_result(137);
        "stuck_hang" => ended_without_result(137);
    };
    for (name, transcript, expect) in table {
        let run = read(transcript, "", expect.exit);
        let error = run.error.as_ref();
        assert_eq!(error.map(|it| it.class), expect.class, "{name}: {error:?}");
        assert_eq!(error.and_then(|it| it.status), expect.status, "{name}: {error:?}");
        assert!(error.is_none_or(|it| !it.message.is_empty()), "{name}");
        assert_eq!(run.denials, expect.denials, "{name}");
        assert_eq!(run.cost_micros, expect.cost_micros, "{name}");
        assert_eq!(run.tokens, expect.tokens, "{name}");
        assert_eq!(run.final_text, expect.final_text, "{name}");
    }
}

/// A result without the fields of newer versions.
#[test]
fn older_versions_are_classified_by_status_and_text() {
    let class = |fields: &str| {
        let line = format!(r#"{{"type":"result","subtype":"success","is_error":true,{fields}}}"#);
        read(&line, "", 1).error.map(|it| (it.class, it.resets_at.is_some()))
    };
    for (fields, expect) in [
        (r#""result":"Invalid API key · Please run /login""#, Some((ProviderClass::Login, false))),
        (r#""api_error_status":401,"result":"no""#, Some((ProviderClass::Login, false))),
        (r#""result":"Claude AI usage limit reached|1795200628""#, Some((ProviderClass::Quota, true))),
        (r#""api_error_status":529,"result":"Overloaded""#, Some((ProviderClass::Transient, false))),
        (r#""result":"API Error: 529 Overloaded""#, Some((ProviderClass::Transient, false))),
        (r#""result":"Something broke""#, Some((ProviderClass::Unknown, false))),
    ] {
        assert_eq!(class(fields), expect, "{fields}");
    }
    let counted =
        r#"{"type":"result","is_error":false,"result":"ok","usage":{"input_tokens":10,"output_tokens":5}}"#;
    assert_eq!(read(counted, "", 0).tokens, Some(15));
}

#[test]
fn the_error_of_qwen_has_its_own_field() {
    let message = "[API Error: 402 You have hit your usage limit. Try again in 50 minutes.]";
    let line = format!(
        r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"error":{{"message":"{message}"}}}}"#
    );
    let error = read(&line, "", 1).error.expect("an error");
    assert_eq!((error.class, error.status), (ProviderClass::Quota, None));
    assert!(error.resets_at.is_some() && error.message == message, "{error:?}");
}

#[test]
fn a_failed_result_is_read_from_the_fields_of_every_version() {
    use ProviderClass::{Billing, Login, Quota, Refused, Transient};
    let turn = |fields: &str| {
        let line = format!(r#"{{"type":"result",{fields}}}"#);
        let run = read(&line, "", 1);
        (run.error.map(|it| (it.class, it.message)), run.note)
    };
    let failed = |class, message: &str| (Some((class, message.to_owned())), None);
    let during = |error: &str| format!(r#""subtype":"error_during_execution","is_error":true,{error}"#);
    for (fields, expect) in [
        // Amp has one text, Qwen Code an object.
        (during(r#""error":"Overloaded""#), failed(Transient, "Overloaded")),
        (during(r#""error":{"message":"Not logged in"}"#), failed(Login, "Not logged in")),
        (
            r#""subtype":"error_during_execution","is_error":false,"errors":["API Error: Connection error."]"#.into(),
            failed(Transient, "API Error: Connection error."),
        ),
        (during(r#""api_error_status":529,"errors":["x"]"#), failed(Transient, "x")),
        (
            r#""subtype":"error_max_turns","is_error":true,"error":"Maximum turns reached""#.into(),
            (None, Some("Maximum turns reached".into())),
        ),
        (r#""subtype":"error_max_turns","is_error":false,"errors":[]"#.into(), (None, Some("max turns".into()))),
        (
            r#""is_error":true,"terminal_reason":"api_error","stop_reason":"refusal","result":"flagged""#.into(),
            failed(Refused, "flagged"),
        ),
        (
            r#""is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"Credit balance is too low""#.into(),
            failed(Billing, "Credit balance is too low"),
        ),
        (
            r#""is_error":true,"terminal_reason":"api_error","result":"API Error: Could not load the default credentials. Browse to x""#.into(),
            failed(Login, "API Error: Could not load the default credentials. Browse to x"),
        ),
        (
            r#""is_error":true,"terminal_reason":"new_reason","result":"You've hit your limit · resets 9pm""#.into(),
            failed(Quota, "You've hit your limit · resets 9pm"),
        ),
    ] {
        assert_eq!(turn(&fields), expect, "{fields}");
    }
    let line = r#"{"type":"error","error":{"type":"overloaded_error","message":"No capacity"}}"#;
    let error = read(line, "", 1).error.expect("an error");
    assert_eq!((error.class, error.message.as_str()), (Transient, "No capacity"));
}

#[test]
fn the_reset_of_a_usage_limit_is_a_number_or_an_instant() {
    for at in [
        "1795200628",
        "1795200628.0",
        "1795200628000",
        "\"2026-11-20T18:50:28Z\"",
        "\"2026-11-20T19:50:28+01:00\"",
    ] {
        let line = format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{at}}}}}"#
        );
        let limit = AgentEvent::Limit { rejected: true, resets_at: Some(1_795_200_628_000) };
        assert_eq!(events(&line), [limit], "{at}");
    }
}

#[test]
fn tokens_are_added_up_under_the_names_of_each_agent() {
    let tokens = |usage: &str| {
        read(&format!(r#"{{"type":"result","is_error":false,"result":"ok","usage":{usage}}}"#), "", 0).tokens
    };
    let cursor = r#"{"inputTokens":1386,"outputTokens":512,"cacheReadTokens":100,"cacheWriteTokens":2}"#;
    let amp = r#"{"input_tokens":200,"output_tokens":60,"cache_read_input_tokens":2000,"cache_creation_input_tokens":40,"max_tokens":168000}"#;
    assert_eq!((tokens(cursor), tokens(amp)), (Some(2000), Some(2300)));
    assert_eq!((tokens("{}"), tokens("null")), (None, None), "nothing is reported");
}

#[test]
fn files_are_named_by_the_tools_of_amp() {
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"create_file","input":{"path":"/w/a.py"}}]}}"#;
    let result =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}"#;
    let end = r#"{"type":"result","is_error":false,"result":"ok"}"#;
    assert_eq!(read(&[call, result, end].join("\n"), "", 0).files, ["/w/a.py"]);
}

#[test]
fn qwen_adds_its_tokens_up_over_the_session() {
    let line = r#"{"type":"result","is_error":false,"result":"ok","usage":{"input_tokens":300,"output_tokens":60,"cache_read_input_tokens":50,"total_tokens":360}}"#;
    let mut reader = AgentOutputReader::for_session(Dialect::Claude, 120);
    reader.read_line(line);
    let run = reader.finish(ProcessEnd::exited(Some(0)), &LocalClock::utc(0));
    assert_eq!((run.tokens, run.session_tokens), (Some(240), Some(360)));
}

#[test]
fn words_on_stderr_explain_an_empty_stdout() {
    let root = include_str!("../../../../tests/fixtures/agents/claude/root_skip_perm_refused.stderr.txt");
    let in_use = include_str!("../../../../tests/fixtures/agents/claude/sess_4_reuse_session_id.stderr.txt");
    for (stderr, class, word) in
        [(root, ProviderClass::Refused, "as root"), (in_use, ProviderClass::Crash, "is already in use")]
    {
        let error = read("", stderr, 1).error.unwrap();
        assert_eq!(error.class, class);
        assert!(error.message.contains(word), "{}", error.message);
    }
}

#[test]
fn a_usage_limit_has_its_reset_in_milliseconds() {
    let error = read(transcript!("limit5h_oauth_429"), "", 1).error.unwrap();
    assert_eq!(error.resets_at, Some(1_795_200_628_000));
}

#[test]
fn an_early_end_is_a_note_and_no_error() {
    let run = read(transcript!("max_turns"), "", 1);
    assert_eq!((run.error, run.note.as_deref()), (None, Some("Reached maximum number of turns (2)")));
}

#[test]
fn neither_subtype_nor_text_classifies_a_result() {
    for (transcript, class) in [
        (transcript!("limit5h_oauth_429"), ProviderClass::Quota),
        (transcript!("err_400_credit"), ProviderClass::Billing),
        (transcript!("err_529_retries0"), ProviderClass::Transient),
        (transcript!("err_400_prompt_too_long"), ProviderClass::Refused),
    ] {
        let lines = transcript.lines().map(|line| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            if value["type"] == "result" {
                value["subtype"] = "error_max_turns".into();
                value["result"] = "Claude AI usage limit reached|1763700000 401 invalid api key".into();
            }
            value.to_string()
        });
        let error = read(&lines.collect::<Vec<_>>().join("\n"), "", 0).error.unwrap();
        assert_eq!(error.class, class, "{error:?}");
    }
}

fn events(transcript: &str) -> Vec<AgentEvent> {
    let mut claude = AgentOutputReader::new(Dialect::Claude);
    transcript.lines().flat_map(|line| claude.read_line(line)).collect()
}

#[test]
fn files_are_those_that_tools_really_wrote() {
    let files = |transcript| read(transcript, "", 0).files;
    assert_eq!(
        files(transcript!("success_edit")),
        ["/home/dev/cl_edit/main.rs", "/home/dev/cl_edit/new.txt"]
    );
    // Its Write was denied.
    assert_eq!(files(transcript!("edit_default_perm")), [""; 0]);
}

#[test]
fn messages_of_subagents_are_ignored() {
    let texts: Vec<AgentEvent> = events(transcript!("subagent_cap_env"))
        .into_iter()
        .filter(|it| matches!(it, AgentEvent::Text(_)))
        .collect();
    let own = transcript!("subagent_cap_env").matches(r#""parent_tool_use_id":null"#).count();
    assert!(own > 0 && texts.len() == 2, "{texts:?}");
}

#[test]
fn retries_limits_and_denials_are_events() {
    let retry = AgentEvent::Retry { attempt: 1, status: Some(429) };
    assert!(events(transcript!("err_429_then_ok")).contains(&retry));
    let limit = AgentEvent::Limit { rejected: true, resets_at: Some(1_795_200_628_000) };
    assert!(events(transcript!("limit5h_oauth_429")).contains(&limit));
    let denied = events(transcript!("edit_default_perm"));
    assert!(denied.iter().any(|it| matches!(it, AgentEvent::Denied { tool, .. } if tool == "Bash")));
    let Some(AgentEvent::Started { session, model }) = denied.into_iter().next() else { panic!("no start") };
    assert_eq!(
        (session.as_str(), model.as_str()),
        ("24546d5a-9bd4-4806-b1f1-b65a853f5aa3", "claude-opus-5-5")
    );
}

#[test]
fn lines_of_another_format_are_unparsed() {
    for line in ["hello", "[1]", "null", "{", "{}", "\u{1b}[31m"] {
        assert_eq!(events(line), [AgentEvent::Unread(line.to_owned())], "{line}");
    }
    assert_eq!(events("\n  \n{\"type\":\"new-thing\"}"), []);
}

#[test]
fn a_lifted_limit_of_an_earlier_turn_is_dropped() {
    let lines = [
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":5}}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":9}}"#,
        r#"{"type":"assistant","message":{"content":[]},"error":"rate_limit","parent_tool_use_id":null}"#,
        r#"{"type":"result","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"x"}"#,
    ];
    let error = read(&lines.join("\n"), "", 1).error.unwrap();
    assert_eq!((error.class, error.resets_at), (ProviderClass::Transient, None));
}

#[test]
fn transient_failures_with_a_retry_time() {
    let check = |limit: &str, status: u16, words: &str, expect: Option<u64>| {
        let line = serde_json::json!({"type": "result", "is_error": true, "terminal_reason": "api_error",
            "api_error_status": status, "result": words});
        let error = read(&format!("{limit}\n{line}"), "", 1).error.unwrap();
        assert_eq!((error.class, error.resets_at), (ProviderClass::Transient, expect), "{status} {words}");
    };
    let limit =
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795197100}}"#;
    check(limit, 529, "Overloaded", Some(1_795_197_100_000));
    check("", 429, "API Error: 429 Retry-After: 20", Some(transcripts::NOW + 20_000));
    check("", 529, "Overloaded", None);
}

proptest! {
    #[test]
    fn total_on_any_shape(
        kind in "system|assistant|user|result|rate_limit_event",
        value in "null|1|\"x\"|\\[\\]|\\[null\\]|\\{\\}|\\[\\{\"type\":\"text\"\\}\\]",
    ) {
        let line = format!(
            r#"{{"type":"{kind}","subtype":{value},"message":{{"content":{value}}},"result":{value},"is_error":true,
            "terminal_reason":{value},"rate_limit_info":{value},"modelUsage":{value},"errors":{value}}}"#
        );
        AgentOutputReader::new(Dialect::Claude).read_line(&line);
    }
}
