use proptest::prelude::{any, prop_assert, proptest};

use super::{AgentOutputReader, ProcessEnd};
use crate::kind::Dialect;
use crate::provider::LocalClock;
use crate::{AgentEnding, AgentEvent, AgentRun, FINAL_TEXT_BYTES, ProviderClass};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
const DONE: &str = r#"{"type":"result","is_error":false,"terminal_reason":"completed","result":"ok"}"#;
const RETRY: &str = r#"{"type":"system","subtype":"api_retry","attempt":2,"error_status":null}"#;
const RETRY_401: &str = r#"{"type":"system","subtype":"api_retry","attempt":2,"error_status":401}"#;
const ABORTED: &str = r#"{"type":"result","is_error":true,"terminal_reason":"aborted_tools","errors":["x"]}"#;

fn end() -> ProcessEnd {
    ProcessEnd { duration_ms: 1, ..ProcessEnd::exited(Some(0)) }
}

fn run(dialect: Dialect, lines: &[&str], end: ProcessEnd) -> AgentRun {
    let mut reader = AgentOutputReader::new(dialect);
    for line in lines {
        reader.read_line(line);
    }
    reader.finish(end, &LocalClock::utc(0))
}

fn check(dialect: Dialect, lines: &[&str], end: ProcessEnd, expect: Option<(ProviderClass, &str)>) {
    let debug_text = format!("{lines:?} {end:?}");
    let error = run(dialect, lines, end).error;
    assert_eq!(error.as_ref().map(|it| (it.class, it.message.as_str())), expect, "{debug_text}");
}

#[test]
fn a_run_of_claude_needs_a_result() {
    use ProviderClass::{Crash, Login, Refused, Transient};
    let claude = |lines: &[&str], end, expect| check(Dialect::Claude, lines, end, expect);
    claude(&[INIT, DONE], end(), None);
    // Late exits by signal or code take nothing back.
    claude(&[INIT, DONE], ProcessEnd { exit: Some(143), ..end() }, None);
    claude(&[INIT], end(), Some((Crash, "crashed: it printed no result")));
    claude(&[INIT], ProcessEnd { exit: Some(143), ..end() }, Some((Crash, "exit 143")));
    claude(&[INIT], ProcessEnd { exit: None, signal: Some(9), ..end() }, Some((Crash, "ended by signal 9")));
    claude(
        &[],
        ProcessEnd { exit: Some(1), stderr: "a\nError: Session ID 1 is already in use.\n\n".into(), ..end() },
        Some((Crash, "exit 1: Error: Session ID 1 is already in use.")),
    );
    claude(&[], ProcessEnd { exit: Some(127), ..end() }, Some((Crash, "could not be started (exit 127)")));
    claude(
        &[],
        ProcessEnd { exit: Some(1), stderr: "No conversation found with session ID x".into(), ..end() },
        Some((Refused, "the session to continue no longer exists")),
    );
    let not_started =
        ProcessEnd { ending: AgentEnding::NotStarted, exit: None, reason: "no such file".into(), ..end() };
    claude(&[], not_started, Some((Crash, "could not be started: no such file")));
    for ending in [AgentEnding::TimedOut, AgentEnding::Idle] {
        let ended = || ProcessEnd { ending, exit: Some(143), ..end() };
        claude(&[INIT], ended(), None);
        claude(&[INIT, RETRY], ended(), Some((Transient, "the provider did not answer")));
        claude(&[INIT, RETRY_401], ended(), Some((Login, "the provider repeatedly answered 401")));
        claude(&[INIT, ABORTED], ended(), None);
    }
    let stopped = || ProcessEnd { ending: AgentEnding::Stopped, exit: Some(143), ..end() };
    claude(&[INIT], stopped(), None);
    claude(&[INIT, ABORTED], stopped(), None);
    claude(&[INIT, RETRY], stopped(), None);
    claude(&[INIT, ABORTED], end(), Some((Crash, "x")));
}

#[test]
fn a_reader_is_idle_between_turns() {
    let mut reader = AgentOutputReader::new(Dialect::Claude);
    for (line, is_idle) in [(INIT, false), (DONE, true), ("", true), (INIT, false), (DONE, true)] {
        reader.read_line(line);
        assert_eq!(reader.is_idle(), is_idle, "{line}");
    }
    let mut text = AgentOutputReader::new(Dialect::Text);
    text.read_line(DONE);
    assert!(!text.is_idle());
}

#[test]
fn events_are_read_from_every_form_in_which_json_is_printed() {
    let read = |output: &str| {
        let mut reader = AgentOutputReader::new(Dialect::Claude);
        output.split('\n').for_each(|line| drop(reader.read_line(line)));
        let run = reader.finish(end(), &LocalClock::utc(0));
        (run.session.unwrap_or_default(), run.final_text, run.error.map(|it| it.message), run.note)
    };
    let expect = ("s".to_owned(), "ok".to_owned(), None, None);
    let pretty = |lines: &[&str]| {
        let events: Vec<serde_json::Value> =
            lines.iter().map(|it| serde_json::from_str(it).unwrap()).collect();
        serde_json::to_string_pretty(&events).unwrap()
    };
    for output in [
        format!("{INIT}\r\n{DONE}\r\n"),
        format!("\u{feff}{INIT}\n{DONE}"),
        format!("\u{1b}[2K\u{1b}[1G{INIT}\n\u{1b}[?25h{DONE}\u{1b}[0m"),
        format!("\0\0{INIT}\n{DONE}\0"),
        format!("⠋ Working\r⠙ Working\r{INIT}\n[=> ]\r{DONE}\r"),
        format!("[{INIT},{DONE}]"),
        pretty(&[INIT, DONE]),
    ] {
        assert_eq!(read(&output), expect, "{output:?}");
    }
    let quoted = format!("the log says: {DONE}");
    assert_eq!(read(&quoted).1, quoted, "an event within other text is text");
}

#[test]
fn an_overlong_last_line_is_not_a_crash() {
    let read = |lines: &[&str], exit| {
        let mut reader = AgentOutputReader::new(Dialect::Claude);
        reader.read_line(INIT);
        reader.record_oversize_line(1 << 21);
        for line in lines {
            reader.read_line(line);
        }
        reader.finish(ProcessEnd { exit, ..end() }, &LocalClock::utc(0)).error.map(|it| it.class)
    };
    assert_eq!(read(&[], Some(0)), None);
    assert_eq!(read(&[], Some(1)), Some(ProviderClass::Crash));
    assert_eq!(read(&[RETRY], Some(0)), Some(ProviderClass::Crash));
}

#[test]
fn a_refused_root_names_the_remedy() {
    let stderr =
        "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons";
    let error = run(Dialect::Claude, &[], ProcessEnd { exit: Some(1), stderr: stderr.into(), ..end() })
        .error
        .unwrap();
    assert_eq!(error.class, ProviderClass::Refused);
    assert!(error.message.contains("permissions = \"edits\""), "{}", error.message);
}

#[test]
fn text_agents_fail_only_by_their_exit() {
    use ProviderClass::Crash;
    let text = |end, expect| check(Dialect::Text, &["hello"], end, expect);
    text(end(), None);
    text(ProcessEnd { exit: Some(3), stderr: "one\ntwo\n".into(), ..end() }, Some((Crash, "exit 3: two")));
    text(ProcessEnd { exit: Some(127), ..end() }, Some((Crash, "could not be started (exit 127)")));
    text(ProcessEnd { exit: None, signal: Some(11), ..end() }, Some((Crash, "ended by signal 11")));
    for ending in [AgentEnding::TimedOut, AgentEnding::Idle, AgentEnding::Stopped] {
        text(ProcessEnd { ending, exit: None, signal: Some(15), ..end() }, None);
    }
}

#[test]
fn the_end_of_a_text_agents_output_is_kept() {
    let long = "ü".repeat(1000);
    let mut reader = AgentOutputReader::new(Dialect::Text);
    for _ in 0..200 {
        reader.read_line(&long);
    }
    reader.read_line("last");
    let run = reader.finish(end(), &LocalClock::utc(0));
    assert!(run.final_text.ends_with("ü\nlast"));
    assert!(run.final_text.len() <= FINAL_TEXT_BYTES && run.final_text.len() > FINAL_TEXT_BYTES / 2);
}

#[test]
fn agent_text_is_sanitised() {
    let mut reader = AgentOutputReader::new(Dialect::Text);
    reader.read_line("\u{1b}[31mred\u{202e} evil\u{7}");
    let end = ProcessEnd { exit: Some(1), stderr: "\u{1b}[1mbad\tthing\u{202e}\n".into(), ..end() };
    let run = reader.finish(end, &LocalClock::utc(0));
    assert_eq!(run.final_text, "red evil");
    assert_eq!(run.error.unwrap().message, "exit 1: bad thing");
}

#[test]
fn errors_come_from_text_failed_tools_and_stderr() {
    let texts = |run: AgentRun| run.errors.into_iter().map(|it| it.text).collect::<Vec<_>>();
    let mut reader = AgentOutputReader::new(Dialect::Text);
    for line in ["Working.", "error: one", "```", "error: quoted", "```"] {
        reader.read_line(line);
    }
    reader.stderr_line("fatal: two");
    let run = reader.finish(end(), &LocalClock::utc(0));
    assert_eq!(run.output_bytes, 42);
    assert_eq!(texts(run), ["error: one", "fatal: two"]);

    let result = |is_error: bool, content: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","is_error":{is_error},"content":{content}}}]}}}}"#
        )
    };
    let lines = [
        INIT.to_owned(),
        result(false, r#""error: of a file that was read""#),
        result(true, r#""Exit code 1\nerror: one\n  --> a.rs:1:1""#),
        result(true, r#"[{"type":"text","text":"bash: x: command not found"},{"type":"image"}]"#),
        result(true, "7"),
        r#"{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":"Error: said"}]}}"#.to_owned(),
        DONE.to_owned(),
    ];
    let mut reader = AgentOutputReader::new(Dialect::Claude);
    for line in &lines {
        reader.read_line(line);
    }
    let run = reader.finish(end(), &LocalClock::utc(0));
    assert_eq!(run.output_bytes, 11);
    assert_eq!(texts(run), ["Error: said", "error: one", "bash: x: command not found"]);
}

#[test]
fn tools_and_commands_are_listed() {
    let call = |tool: &str, command: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{{"command":"{command}"}}}}]}}}}"#
        )
    };
    let mut reader = AgentOutputReader::new(Dialect::Claude);
    let odd = call("Read ", "no command");
    for line in [call("Bash", "cargo test"), call("Bash", "cargo test"), odd.clone(), odd] {
        reader.read_line(&line);
    }
    (0..100).for_each(|n| drop(reader.read_line(&call(&format!("T{n}"), ""))));
    (0..100).for_each(|n| drop(reader.read_line(&call("Bash", &"x".repeat(n + 100)))));
    let run = reader.finish(end(), &LocalClock::utc(0));
    assert_eq!((run.tools.len(), run.commands.len()), (50, 50));
    assert_eq!(run.tools[..3], ["Bash", "Read", "T0"]);
    assert_eq!(run.commands[..2], ["cargo test", "cargo test"]);
    assert!(run.commands.iter().all(|it| it.chars().count() <= 120));
}

const DIALECTS: [Dialect; 5] =
    [Dialect::Claude, Dialect::Codex, Dialect::Gemini, Dialect::Opencode, Dialect::Acp];

#[test]
fn lines_without_a_type_are_returned_unparsed() {
    for dialect in DIALECTS {
        let mut reader = AgentOutputReader::new(dialect);
        for line in ["x", "1", "[]", "{}", r#"{"type":null}"#, r#"{"type":""}"#, r#"[{"type":"result"},1]"#] {
            assert_eq!(reader.read_line(line), [AgentEvent::Unread(line.to_owned())], "{dialect:?}");
        }
        assert_eq!(reader.read_line(" \r"), [], "{dialect:?}");
    }
}

proptest! {
    #[test]
    fn any_line_is_at_most_one_event(line in any::<String>()) {
        for dialect in DIALECTS {
            let mut reader = AgentOutputReader::new(dialect);
            let events = reader.read_line(&line);
            prop_assert!(events.len() <= 1, "{events:?}");
            reader.stderr_line(&line);
        }
    }
}

#[test]
fn an_end_is_described_in_the_language_of_the_user() {
    let error = |end: ProcessEnd, lines: &[&str]| {
        let described = || run(Dialect::Claude, lines, end).error.map(|it| it.message);
        loopkeeper_text::language::Language::SimplifiedChinese.during(described).unwrap_or_default()
    };
    assert_eq!(error(ProcessEnd { exit: Some(127), ..end() }, &[]), "无法启动（退出码 127）");
    assert_eq!(error(ProcessEnd { exit: Some(1), stderr: "no".into(), ..end() }, &[]), "退出码 1：no");
    assert_eq!(error(end(), &[INIT]), "崩溃：没有输出结果");
    assert_eq!(error(ProcessEnd { ending: AgentEnding::Idle, ..end() }, &[INIT, RETRY]), "提供商没有响应");
}

#[test]
fn half_an_emoji_does_not_lose_a_result() {
    let result = r#"{"type":"result","is_error":false,"terminal_reason":"completed","result":"cut \ud83d","session_id":"s","total_cost_usd":0.25}"#;
    let run = run(Dialect::Claude, &[INIT, result], end());
    assert_eq!((run.cost_micros, run.error), (Some(250_000), None));
    assert_eq!((run.final_text.as_str(), run.session.as_deref()), ("cut \u{fffd}", Some("s")));
}

#[test]
fn a_printed_error_object_is_no_reason() {
    let crashed = |stderr: &str| ProcessEnd { exit: Some(1), stderr: stderr.to_owned(), ..end() };
    let check = |stderr: &str, expect: &str| {
        let expect = Some((ProviderClass::Crash, expect));
        check(Dialect::Gemini, &[], crashed(stderr), expect);
    };
    check(
        "An unexpected critical error occurred:\nFatalInputError: No input provided via stdin.\n    at main (file:///gemini.js:41:15)\n    at process.processTicksAndRejections (node:internal:105:5) {\n  exitCode: 42,\n  [cause]: undefined\n})\n",
        "exit 1: FatalInputError: No input provided via stdin.",
    );
    check("Fatal: bad flag\n}\n\nNode.js v22.1.0\n", "exit 1: Fatal: bad flag");
    check("Error: one\n  hint: use two words here\n", "exit 1: Error: one");
    check("})\n", "exit 1: })");
}
