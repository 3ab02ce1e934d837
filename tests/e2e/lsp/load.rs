//! Clients that send faster than they are served or do not read: answered eventually, in bounded memory.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{greeted, server};
use crate::cli::Terminal;
use crate::support::lsp::{Editor, frame, uri};
use crate::support::world::{TIMEOUT, wait_until};

/// Maximum growth of a server's memory over its idle state, in KiB.
const GROWTH: u64 = 40 << 10;

#[test]
fn a_hundred_thousand_requests_in_one_go_are_answered_in_bounded_memory() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    let before = memory(&editor, "VmHWM");
    let writer = editor.writer();
    let thread = thread::spawn(move || {
        for begin in (0..100_000).step_by(1000) {
            let requests = (begin..begin + 1000).flat_map(|it| frame(&request(1_000_000 + it)));
            assert!(writer.write(&requests.collect::<Vec<_>>()));
        }
    });
    thread.join().unwrap();
    editor.answer(1_099_999);
    let grown = memory(&editor, "VmHWM") - before;
    assert!(grown < GROWTH, "grew by {grown} KiB");
    editor.quit();
    assert_eq!(editor.all_messages().len(), 1 + 100_000 + 1);
}

#[test]
fn a_client_that_does_not_read_can_still_exit() {
    let terminal = Terminal::new();
    for says_exit in [true, false] {
        let mut editor = Editor::start_unread(server(&terminal));
        editor.send(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}),
        );
        // More responses than a pipe's capacity.
        let requests: Vec<u8> = (1..4000).flat_map(|it| frame(&request(it))).collect();
        editor.write(&requests);
        if says_exit {
            editor.notify("exit", &Value::Null);
        } else {
            editor.close_stdin();
        }
        assert_eq!(editor.exit_within(TIMEOUT).code(), Some(1), "exit: {says_exit}");
    }
}

#[test]
fn a_client_that_never_reads_does_not_grow_the_server() {
    let terminal = Terminal::new();
    let mut editor = Editor::start_unread(server(&terminal));
    editor.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}));
    let writer = editor.writer();
    thread::spawn(move || {
        let mut id = 0;
        // Eventually this blocks on the server, which blocks on the client.
        while writer.write(&frame(&request(id))) {
            id += 1;
        }
    });
    wait_until(|| is_stuck(&editor), || "the server takes everything".to_owned());
    let taken = memory(&editor, "VmHWM");
    assert!(taken < GROWTH, "takes {taken} KiB");
    // It was only blocked.
    editor.start_reading();
    editor.until("late answers", |it| it["id"] == 8000);
}

#[test]
fn unread_large_responses_do_not_accumulate() {
    let terminal = Terminal::new();
    let criteria = "- a criterion of some length: `exists a`\n".repeat(2000);
    let text = format!("# T\n\nDone when:\n\n{criteria}");
    terminal.file("PROMPT.md", &text);
    let mut editor = Editor::start_unread(server(&terminal));
    let root = uri(&terminal.root());
    let greeting = json!({"capabilities": {}, "rootUri": root});
    editor.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting}));
    editor.notify("initialized", &json!({}));
    let document = uri(&terminal.root().join("PROMPT.md"));
    let opened = json!({"uri": document, "version": 1, "languageId": "markdown", "text": text});
    editor.notify("textDocument/didOpen", &json!({"textDocument": opened}));
    let writer = editor.writer();
    let asked = document.clone();
    thread::spawn(move || {
        let mut id = 1;
        while writer.write(&frame(&json!({
            "jsonrpc": "2.0",
            "id": id,
            "method": "textDocument/documentSymbol",
            "params": {"textDocument": {"uri": asked}},
        }))) {
            id += 1;
        }
    });
    wait_until(|| is_stuck(&editor), || "the server takes everything".to_owned());
    let taken = memory(&editor, "VmHWM");
    // Each response has 1.5 MB as JSON and ten times that as values.
    assert!(taken < 160 << 10, "takes {taken} KiB");
    editor.start_reading();
    editor.until("late answers", |it| it["id"] == 100);
}

#[test]
fn changes_keep_their_order_among_requests() {
    let terminal = Terminal::new();
    let task = |version| format!("# {version}\n\nDone when:\n\n- made: `exists made`\n");
    terminal.file("PROMPT.md", &task(0));
    let mut editor = greeted(&terminal);
    let uri = uri(&terminal.root().join("PROMPT.md"));
    let document = json!({"uri": uri, "version": 0, "languageId": "markdown", "text": task(0)});
    editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
    let mut last = 0;
    let mut outlines = Vec::new();
    for version in 1..3000 {
        let text = format!("{}{}", task(version), "text\n".repeat(version % 50));
        let change =
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]});
        editor.notify("textDocument/didChange", &change);
        if version % 100 == 99 {
            let symbols = json!({"textDocument": {"uri": uri}});
            outlines.push((version as u64, editor.ask("textDocument/documentSymbol", &symbols)));
        }
        last = editor.ask("no/such", &json!({}));
    }
    editor.answer(last);
    // A request sees the changes before it, and possibly later ones.
    let seen: Vec<(u64, u64)> =
        outlines.iter().map(|(version, id)| (*version, version_of(&editor.answer(*id)["result"]))).collect();
    assert!(seen.iter().all(|(version, seen)| seen >= version), "{seen:?}");
    assert_eq!(seen.last(), Some(&(2999, 2999)));
    editor.quit();
    let ids: Vec<i64> = outlines.iter().map(|it| it.1).collect();
    let answered: Vec<i64> = editor
        .all_messages()
        .iter()
        .filter_map(|it| it["id"].as_i64())
        .filter(|it| !ids.contains(it))
        .collect();
    assert!(answered.is_sorted(), "answers that need nothing come in the order of their requests");
}

#[test]
fn an_idle_server_sends_nothing_and_does_not_wake() {
    let terminal = Terminal::new();
    let editor = greeted(&terminal);
    wait_until(|| is_asleep(&editor), || "the server does not come to rest".to_owned());
    assert_eq!(editor.messages().len(), 1, "only the answer to initialize");
}

/// The title of the task, which is the version of its text.
fn version_of(symbols: &Value) -> u64 {
    let title = symbols[0]["name"].as_str().and_then(|it| it.split(" · ").next());
    title.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("no version in {symbols:#}"))
}

fn request(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "no/such", "params": {}})
}

/// A line of `/proc/PID/status`.
fn memory(editor: &Editor, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", editor.pid())).unwrap();
    let line = status.lines().find(|it| it.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Number of context switches, over all threads.
fn switches(editor: &Editor) -> u64 {
    let threads = fs::read_dir(format!("/proc/{}/task", editor.pid())).unwrap().flatten();
    let of_thread = |status: String| {
        let lines = status.lines().filter(|it| it.contains("ctxt_switches"));
        lines.filter_map(|it| it.split_whitespace().nth(1)?.parse::<u64>().ok()).sum::<u64>()
    };
    threads.filter_map(|it| fs::read_to_string(it.path().join("status")).ok()).map(of_thread).sum()
}

/// Nothing ran for a while, so no periodic work is due.
fn is_asleep(editor: &Editor) -> bool {
    let before = switches(editor);
    thread::sleep(Duration::from_secs(2));
    switches(editor) == before
}

/// It reads no more bytes: neither its read count nor its memory changes.
fn is_stuck(editor: &Editor) -> bool {
    let read = || {
        let io = fs::read_to_string(format!("/proc/{}/io", editor.pid())).unwrap();
        io.lines().next().unwrap().to_owned()
    };
    let before = read();
    thread::sleep(Duration::from_secs(1));
    read() == before
}
