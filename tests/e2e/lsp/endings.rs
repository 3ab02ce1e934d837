//! The server ends on the editor's request or when the editor has ended, and in no other case.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{code, greeted, server};
use crate::cli::Terminal;
use crate::support::lsp::{Editor, frame};

#[test]
fn exit_after_shutdown_ends_with_0_while_stdin_stays_open() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    assert_eq!(editor.request("shutdown", &Value::Null), Value::Null);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.exit_code(), Some(0));
}

#[test]
fn exit_without_shutdown_ends_with_1() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    editor.notify("exit", &json!({}));
    assert_eq!(editor.exit_code(), Some(1));
    let mut editor = Editor::start(server(&terminal));
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.exit_code(), Some(1), "before initialize");
}

#[test]
fn an_exit_after_refused_requests_ends_the_server() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    editor.request("shutdown", &Value::Null);
    for _ in 0..100 {
        let refused = editor.call("textDocument/hover", &json!({}));
        assert_eq!(code(&refused), -32600);
    }
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.exit_code(), Some(0));
}

#[test]
fn the_end_of_stdin_ends_the_server() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    editor.close_stdin();
    assert_eq!(editor.exit_code(), Some(1));
    let mut editor = greeted(&terminal);
    editor.request("shutdown", &Value::Null);
    editor.close_stdin();
    assert_eq!(editor.exit_code(), Some(0), "after shutdown");
    let mut editor = Editor::start(server(&terminal));
    editor.write(b"Content-Length: 100\r\n\r\n{\"jsonrpc\"");
    editor.close_stdin();
    assert_eq!(editor.exit_code(), Some(1), "in the middle of a message");
}

#[test]
fn requests_before_the_end_of_stdin_are_answered() {
    let terminal = Terminal::new();
    let mut editor = Editor::start(server(&terminal));
    let mut text =
        frame(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}));
    for id in 1..2000 {
        text.extend(frame(&json!({"jsonrpc": "2.0", "id": id, "method": "no/such", "params": {}})));
    }
    editor.write(&text);
    editor.close_stdin();
    assert_eq!(editor.exit_code(), Some(1));
    assert_eq!(editor.all_messages().len(), 2000);
}

#[test]
fn a_second_shutdown_is_refused() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    assert_eq!(editor.request("shutdown", &json!({})), Value::Null);
    assert_eq!(code(&editor.call("shutdown", &Value::Null)), -32600);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.exit_code(), Some(0));
}

#[test]
fn the_exit_of_the_editors_process_ends_the_server() {
    let terminal = Terminal::new();
    let mut process = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let mut editor = Editor::start(server(&terminal));
    editor.initialize(&terminal.root(), &json!({"processId": process.id()}));
    process.kill().unwrap();
    process.wait().unwrap();
    // Its pipes are still open, because another process inherited them.
    assert_eq!(editor.exit_code(), Some(1));
}

#[test]
fn an_unusable_pid_of_the_editor_does_not_end_the_server() {
    let terminal = Terminal::new();
    for pid in [json!(null), json!(0), json!(-1), json!(i64::MAX), json!(i32::MAX)] {
        let mut editor = Editor::start(server(&terminal));
        let answer = editor.call("initialize", &json!({"processId": pid, "capabilities": {}}));
        // A pid that does not fit in 32 bits is the editor's error, and is reported.
        if pid.as_i64().is_none_or(|it| (0..=i64::from(u32::MAX)).contains(&it)) {
            assert!(answer["result"].is_object(), "{pid}: {answer:#}");
            editor.quit();
        } else {
            assert_eq!(code(&answer), -32602, "{pid}");
        }
    }
}

#[test]
fn a_closed_stdout_ends_the_server() {
    let terminal = Terminal::new();
    let mut editor = Editor::start_unread(server(&terminal));
    editor.close_stdout();
    editor.ask("initialize", &json!({"capabilities": {}}));
    assert_eq!(editor.exit_code(), Some(1));
}

#[test]
fn every_command_line_of_the_server_starts_it() {
    let terminal = Terminal::new();
    for args in [
        &[][..],
        &["--stdio"],
        &["serve"],
        &["serve", "--stdio"],
        &["serve", "--stdio", "--clientProcessId=1"],
    ] {
        let mut editor = Editor::start(terminal.command(args));
        let answer = editor.initialize(&terminal.root(), &json!({}));
        assert_eq!(answer["serverInfo"]["name"], "loopkeeper");
        editor.quit();
    }
}
