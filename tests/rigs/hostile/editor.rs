//! The same work trees, opened by an editor that trusts them and sends every request: the server starts no program,
//! makes no connection, and none of its messages contains hidden text or a sequence that a terminal would interpret.

use std::time::Duration;

use serde_json::{Value, json};

use super::corpus::CORPUS;
use super::{Visit, is_dangerous, strace, unavailable};
use crate::lsp::editor_fixture::everything;
use crate::support::lsp::{Editor, Reply, uri};

#[test]
fn strace_finds_no_started_program_when_an_editor_opens_hostile_work_trees() {
    if let Some(why) = strace::missing() {
        return unavailable("untrusted work trees in an editor", &why);
    }
    let mut faults = Vec::new();
    for trap in CORPUS {
        let visit = Visit::to(trap);
        let before = visit.contents();
        let mut editor = Editor::start(visit.traced(&visit.terminal.command(&["--stdio"])));
        session(&mut editor, &visit);
        let said = editor.all_messages();
        let mut found = visit.trace().faults();
        if before != visit.contents() {
            found.push("the tree changed".to_owned());
        }
        found.extend(said.iter().flat_map(|it| obeyed(it, "")));
        if said.iter().any(|it| it["error"]["code"] == -32603) {
            found.push("a handler failed".to_owned());
        }
        faults.extend(found.into_iter().map(|it| format!("{}: {it}", trap.name)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every request that an editor may send without the user's trust.
fn session(editor: &mut Editor, visit: &Visit) {
    editor.answers("window/showMessageRequest", Reply::Never);
    editor.initialize(&visit.terminal.root(), &json!({"capabilities": everything()}));
    let status = editor.wait_for("loopkeeper/status", |_| true);
    for task in status["tasks"].as_array().unwrap() {
        let name = &task["uri"];
        let path = lsp_types::Url::parse(name.as_str().unwrap()).unwrap().to_file_path().unwrap();
        let text = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let opened = json!({"uri": uri(&path), "languageId": "markdown", "version": 1, "text": text});
        editor.notify("textDocument/didOpen", &json!({"textDocument": opened}));
        let document = json!({"uri": name});
        for command in ["start", "check", "output", "untrust"] {
            for id in [name, &task["id"]] {
                let command = format!("loopkeeper.server.{command}");
                editor.call(
                    "workspace/executeCommand",
                    &json!({"command": command, "arguments": [{"task": id}]}),
                );
            }
        }
        editor.call("loopkeeper/trustPage", &json!({"task": name}));
        editor.call("textDocument/codeLens", &json!({"textDocument": document}));
        editor.call("textDocument/documentSymbol", &json!({"textDocument": document}));
        let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let context = json!({"diagnostics": []});
        editor.call(
            "textDocument/codeAction",
            &json!({"textDocument": document, "range": all, "context": context}),
        );
        for line in 0..8 {
            let position = json!({"line": line, "character": 3});
            let at = json!({"textDocument": document, "position": position});
            editor.call("textDocument/hover", &at);
            editor.call("textDocument/completion", &at);
        }
        editor.notify("textDocument/didSave", &json!({"textDocument": document}));
        editor.notify("textDocument/didClose", &json!({"textDocument": document}));
    }
    editor.request("loopkeeper/loops", &json!({"all": true}));
    editor.request("shutdown", &Value::Null);
    editor.notify("exit", &Value::Null);
    editor.exit_within(Duration::from_secs(30));
}

/// Every text below a value that contains forbidden characters.
fn obeyed(value: &Value, path: &str) -> Vec<String> {
    match value {
        Value::String(text) => {
            let found = text.chars().find(|it| is_dangerous(*it));
            found.map(|it| format!("{it:?} in {path}: {text:?}")).into_iter().collect()
        }
        Value::Array(items) => items.iter().flat_map(|it| obeyed(it, path)).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| {
                let named = obeyed(&json!(name), path);
                named.into_iter().chain(obeyed(value, &format!("{path}.{name}")))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Control: a message with a hidden character deep inside.
#[test]
fn a_hidden_character_in_a_message_is_found() {
    let message = json!({"params": [{"a": {"b": ["fine", "not \u{202e}fine"]}}]});
    assert_eq!(obeyed(&message, "").len(), 1);
    assert_eq!(obeyed(&json!({"\u{1b}": 1}), "").len(), 1);
    assert_eq!(obeyed(&json!({"text": "two\nlines"}), ""), [""; 0]);
}
