//! Logs of server and keeper: place, amount, and never a secret.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::cli::{Ran, Terminal};
use crate::support::lsp::{Editor, frame, uri};
use crate::support::scenario::Scenario;
use crate::support::world::World;

const SECRET: &str = "orange-elephant-4711";

/// A loop of one iteration whose last command fails and prints a secret.
fn world() -> World {
    let settings = format!("[on]\nended = [\"sh\", \"-c\", \"echo its {SECRET} >&2; exit 3\"]");
    let criteria = &["It is there: `$ test -f done`"];
    Scenario { criteria, settings: &settings, acts: &["touch done"], ..Scenario::default() }.world()
}

fn run(world: &World, args: &[&str], log: Option<&str>) -> Ran {
    let mut command = world.terminal.command(args);
    command.env("MY_TOKEN", SECRET).envs(log.map(|it| ("LOOPKEEPER_LOG", it)));
    Ran::of(&command.output().unwrap())
}

fn log_file(world: &World) -> PathBuf {
    world.loops().pop().unwrap().join("keeper.log")
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    assert!(text.lines().any(|line| parts.iter().all(|it| line.contains(it))), "no {parts:?} in:\n{text}");
}

#[test]
fn a_keeper_logs_iterations_checks_and_agents() {
    let world = world();
    run(&world, &["run", "--trust"], Some("debug")).expect(0);
    let log = fs::read_to_string(log_file(&world)).unwrap();
    assert_has(
        &log,
        &["DEBUG", "iteration{number=1}:check{criterion=", "status=Pass exit=0", "duration_ms="],
    );
    assert_has(&log, &["INFO", "iteration{number=1}", "iteration started"]);
    assert_has(&log, &["INFO", "iteration{number=1}", "agent started", "pid="]);
    assert_has(
        &log,
        &["INFO", "iteration{number=1}", "agent ended", "ending=Exited", "exit=0", "duration_ms="],
    );
    assert_has(&log, &["DEBUG", "iteration{number=1}", "snapshot store used", "duration="]);
    assert_has(&log, &["INFO", "loop ended", "outcome=Completed"]);
    assert_has(&log, &["WARN", "The command of `on.ended` failed with exit 3: its [redacted]"]);
    assert!(!log.contains(SECRET), "{log}");
    assert!(!log.contains("Done when"), "the prompt is not logged: {log}");
    let mode = fs::metadata(log_file(&world)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_keeper_logs_warnings_by_default() {
    let check = |args: &[&str], log: Option<&str>, expect: usize| {
        let world = world();
        let ran = run(&world, args, log);
        ran.expect(0);
        world.until("end", |it| it["type"] == "ended");
        world.assert_no_process_left();
        let text = fs::read_to_string(log_file(&world)).unwrap_or_default();
        assert_eq!(text.lines().count(), expect, "{args:?}, {log:?}: {text}");
        assert_eq!(text.contains("[redacted]"), expect > 0, "{text}");
        if !args.contains(&"--detach") {
            assert_eq!(ran.stderr.matches("The command of `on.ended` failed").count(), 1, "{}", ran.stderr);
        }
    };
    check(&["run", "--trust"], None, 1);
    check(&["run", "--trust", "--detach"], None, 1);
    check(&["run", "--trust"], Some("off"), 0);
    check(&["run", "--trust", "--detach"], Some("off"), 0);
    check(&["run", "--trust"], Some("loopkeeper_lsp=trace"), 0);
}

#[test]
fn a_filter_that_cannot_be_read_starts_nothing() {
    let world = world();
    for args in
        [&["run", "--trust"][..], &["run", "--trust", "--detach"], &["check", "--trust"], &["--stdio"]]
    {
        run(&world, args, Some("debgu"))
            .expect(2)
            .err(
                "error: `LOOPKEEPER_LOG` is \"debgu\": `debgu` is neither a level nor a module of loopkeeper",
            )
            .err("Hint: Set it to off, error, warn, info, debug or trace, or to a list such as");
    }
    assert!(world.loops().is_empty(), "no folder of a loop that did not start");
}

/// A complete conversation, without and with `LOOPKEEPER_LOG`.
fn conversation(log: Option<&str>) -> Output {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# Task\n");
    let mut command = terminal.command(&["--stdio"]);
    command.env("MY_TOKEN", SECRET).envs(log.map(|it| ("LOOPKEEPER_LOG", it)));
    let mut server =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let call = |id: u32, method: &str, params: Value| {
        frame(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let mut input = server.stdin.take().unwrap();
    let command = json!({"command": "loopkeeper.server.stop", "arguments": [{"loopId": SECRET}]});
    for bytes in [
        call(1, "initialize", json!({"capabilities": {}, "rootUri": uri(&terminal.root())})),
        frame(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}})),
        call(2, "workspace/executeCommand", command),
        call(3, &format!("no/such/{SECRET}"), json!({})),
        call(4, "shutdown", Value::Null),
        frame(&json!({"jsonrpc": "2.0", "method": "exit"})),
    ] {
        input.write_all(&bytes).unwrap();
    }
    server.wait_with_output().unwrap()
}

#[test]
fn a_server_logs_requests_and_commands_to_stderr() {
    let output = conversation(Some("debug"));
    let log = String::from_utf8_lossy(&output.stderr);
    assert_has(&log, &["DEBUG request{method=\"initialize\" id=1}", "handled duration="]);
    assert_has(&log, &["request{method=\"workspace/executeCommand\" id=2}", "handled duration=", "error="]);
    assert_has(&log, &["id=2}:command{command=\"loopkeeper.server.stop\"}", "executed is_refused=true"]);
    assert_has(&log, &["request{method=\"no/such/[redacted]\" id=3}", "error=-32601"]);
    assert!(!log.contains(SECRET), "{log}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("window/logMessage"));
    for log in [None, Some("off"), Some("loopkeeper_keeper=trace")] {
        assert_eq!(String::from_utf8_lossy(&conversation(log).stderr), "", "{log:?}");
    }
}

fn trace_lines(editor: &Editor) -> Vec<String> {
    let messages = editor.messages().into_iter().filter(|it| it["method"] == "window/logMessage");
    messages.map(|it| it["params"]["message"].as_str().unwrap().to_owned()).collect()
}

/// Sends more requests than a client may send without reading.
fn ask_often(editor: &mut Editor) {
    for _ in 0..20 {
        editor.call("no/such", &json!({}));
    }
}

#[test]
fn a_client_gets_the_trace_that_it_asks_for() {
    let terminal = Terminal::new();
    let mut editor = Editor::start(terminal.command(&["--stdio"]));
    editor.initialize(&terminal.root(), &json!({}));
    ask_often(&mut editor);
    editor.notify("$/setTrace", &json!({"value": "messages"}));
    editor.call("a/traced", &json!({}));
    let is_of = |method: &'static str| move |it: &Value| it["message"].as_str().unwrap().contains(method);
    let line = editor.wait_for("window/logMessage", is_of("a/traced"));
    assert_eq!(line["type"], 4, "a log message: {line:#}");
    let text = line["message"].as_str().unwrap();
    assert!(text.starts_with("request{method=\"a/traced\" id=22}: handled duration="), "{text}");
    editor.notify("$/setTrace", &json!({"value": "off"}));
    ask_often(&mut editor);
    editor.notify("$/setTrace", &json!({"value": "loud"}));
    editor.notify("$/setTrace", &json!({"value": "verbose"}));
    editor.call("again/traced", &json!({}));
    editor.wait_for("window/logMessage", is_of("again/traced"));
    editor.quit();
    let lines = trace_lines(&editor);
    assert!(!lines.iter().any(|it| it.contains("no/such")), "{lines:#?}");
    assert!(!lines.iter().any(|it| it.contains("logMessage")), "its own messages are not traced: {lines:#?}");
    assert!(lines.len() < 20, "{lines:#?}");
}

#[test]
fn a_client_that_asks_in_initialize_is_traced_from_there() {
    let terminal = Terminal::new();
    let mut editor = Editor::start(terminal.command(&["--stdio"]));
    editor.initialize(&terminal.root(), &json!({"trace": "verbose"}));
    let is_next =
        |it: &Value| it["message"].as_str().unwrap().starts_with("request{method=\"initialized\"}: handled");
    editor.wait_for("window/logMessage", is_next);
    editor.quit();
}
