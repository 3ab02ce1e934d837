//! Responses to requests before, during and after a conversation.

use serde_json::{Value, json};

use super::{code, greeted, server};
use crate::cli::Terminal;
use crate::support::lsp::{Editor, uri};

#[test]
fn before_initialize_requests_are_refused_and_notifications_dropped() {
    let terminal = Terminal::new();
    let mut editor = Editor::start(server(&terminal));
    editor.notify("textDocument/didOpen", &json!({"textDocument": {}}));
    assert_eq!(code(&editor.call("textDocument/hover", &json!({}))), -32002);
    assert_eq!(code(&editor.call("shutdown", &Value::Null)), -32002);
    editor.initialize(&terminal.root(), &json!({}));
    assert_eq!(code(&editor.call("initialize", &json!({"capabilities": {}}))), -32600, "only once");
    editor.quit();
}

#[test]
fn a_failed_initialize_may_be_repeated() {
    let terminal = Terminal::new();
    let mut editor = Editor::start(server(&terminal));
    assert_eq!(code(&editor.call("initialize", &Value::Null)), -32602);
    assert_eq!(code(&editor.call("initialize", &json!({"capabilities": 7}))), -32602);
    editor.initialize(&terminal.root(), &json!({}));
    editor.quit();
}

#[test]
fn unknown_methods_are_answered_and_unknown_notifications_ignored() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    for method in ["no/such", "$/noSuch", "", "textDocument/didOpen/"] {
        assert_eq!(code(&editor.call(method, &json!({}))), -32601, "{method:?}");
        editor.notify(method, &json!({}));
    }
    assert_eq!(code(&editor.call("textDocument/didOpen", &json!({}))), -32600, "a notification with an id");
    editor.notify("$/setTrace", &json!({"value": "off"}));
    editor.send(&json!({"jsonrpc": "2.0", "id": 999, "result": null}));
    editor.send(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}}));
    editor.quit();
    let answers = editor.all_messages();
    assert_eq!(answers.len(), 1 + 4 + 1 + 1, "{answers:#?}");
}

#[test]
fn ids_may_be_numbers_and_strings_and_used_again() {
    let terminal = Terminal::new();
    let editor = greeted(&terminal);
    for id in [json!("a"), json!("7"), json!(7), json!(-1), json!(i64::MAX), json!(0)] {
        for round in 1..4 {
            editor.send(&json!({"jsonrpc": "2.0", "id": id, "method": "no/such"}));
            // `initialize` had the id 1, so none of these has a response yet.
            let seen = std::cell::Cell::new(0);
            editor.until(&format!("answer {round} to {id}"), |it| {
                seen.set(seen.get() + usize::from(it["id"] == id));
                seen.get() == round
            });
        }
    }
}

#[test]
fn cancelling_a_finished_request_has_no_effect() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    for id in [json!(1), json!("x"), json!(null), json!({})] {
        editor.notify("$/cancelRequest", &json!({"id": id}));
    }
    editor.notify("$/cancelRequest", &Value::Null);
    editor.quit();
}

#[test]
fn columns_are_counted_in_bytes_where_the_editor_can() {
    let terminal = Terminal::new();
    let check = |general: Value, expect: &str| {
        let mut editor = Editor::start(server(&terminal));
        let answer = editor.initialize(&terminal.root(), &json!({"capabilities": {"general": general}}));
        assert_eq!(answer["capabilities"]["positionEncoding"], expect);
        editor.quit();
    };
    check(json!({"positionEncodings": ["utf-16", "utf-8"]}), "utf-8");
    check(json!({"positionEncodings": ["utf-32", "utf-16"]}), "utf-16");
    check(json!({}), "utf-16");
}

#[test]
fn no_document_event_stops_the_server() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    let file = uri(&terminal.root().join("PROMPT.md"));
    let uris =
        [file.as_str(), "untitled:Untitled-1", "vscode-userdata:/x", "file:///no/such/%F0%9F%98%80%FF.md"];
    for uri in uris {
        let document = json!({"uri": uri, "version": 1, "languageId": "markdown", "text": "# T\n"});
        editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
        let id = json!({"uri": uri, "version": 2});
        editor.notify(
            "textDocument/didChange",
            &json!({"textDocument": id, "contentChanges": [{"text": "# U\r\n"}]}),
        );
        let range = json!({"start": {"line": 9, "character": 9}, "end": {"line": 0, "character": 0}});
        let reversed = json!({"range": range, "text": "😀"});
        editor.notify("textDocument/didChange", &json!({"textDocument": id, "contentChanges": [reversed]}));
        editor.notify("textDocument/didSave", &json!({"textDocument": {"uri": uri}}));
        editor.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
        editor.notify(
            "textDocument/didChange",
            &json!({"textDocument": id, "contentChanges": [{"text": "gone"}]}),
        );
    }
    editor.notify("textDocument/didOpen", &json!({"textDocument": {"uri": "no uri"}}));
    editor.quit();
}
