//! A loop of Claude Code's plugin in an editor: detected, described, stopped, imported.

use serde_json::{Value, json};

use super::server;
use crate::cli::Terminal;
use crate::foreign::{FILE, STATE};
use crate::support::lsp::{Editor, uri};

fn open_editor() -> (Terminal, Editor, String) {
    let terminal = Terminal::new();
    let mut editor = Editor::start(server(&terminal));
    let capabilities = json!({
        "experimental": {"loopkeeper": {"version": 1}},
        "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}},
    });
    editor.initialize(&terminal.root(), &json!({"capabilities": capabilities}));
    let file = uri(&terminal.root().canonicalize().expect("a real path").join(FILE));
    (terminal, editor, file)
}

/// Waits until the status contains this number of them.
fn foreign(editor: &mut Editor, count: usize) -> Value {
    let told = |it: &Value| it["params"]["foreign"].as_array().map_or(0, Vec::len);
    let is_it = |it: &Value| it["method"] == "loopkeeper/status" && told(it) == count;
    editor.until("a status", is_it)["params"]["foreign"].clone()
}

#[test]
fn a_loop_of_the_plugin_is_detected_described_and_stopped() {
    let (terminal, mut editor, file) = open_editor();
    editor.until("a first status", |it| it["method"] == "loopkeeper/status");
    // Neither the folder nor the file existed before.
    terminal.file(FILE, STATE);
    let told = foreign(&mut editor, 1);
    assert_eq!(
        (&told[0]["uri"], &told[0]["iteration"], &told[0]["maxIterations"]),
        (&json!(file), &json!(3), &json!(20))
    );
    let document = json!({"uri": file, "version": 1, "languageId": "markdown", "text": STATE});
    editor.notify("textDocument/didOpen", &json!({"textDocument": document}));
    let at = json!({"textDocument": {"uri": file}, "position": {"line": 2, "character": 1}});
    let hover = editor.request("textDocument/hover", &at).to_string();
    assert!(hover.contains("iteration 3 of 20") && hover.contains("Build a REST API."), "{hover}");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let ask = json!({"textDocument": {"uri": file}, "range": range, "context": {"diagnostics": []}});
    let actions = editor.request("textDocument/codeAction", &ask);
    let titles: Vec<_> = actions.as_array().expect("actions").iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["Continue this loop under loopkeeper", "Stop this loop"]);
    let stop = &actions[1]["command"];
    editor.request(
        "workspace/executeCommand",
        &json!({"command": stop["command"], "arguments": stop["arguments"]}),
    );
    assert!(!terminal.root().join(FILE).exists());
    foreign(&mut editor, 0);
}

#[test]
fn a_loop_of_the_plugin_is_continued_as_a_task() {
    let (terminal, mut editor, file) = open_editor();
    terminal.file(FILE, STATE);
    let code = |it: &Value| {
        it["params"]["diagnostics"][0]["code"] == "foreign-loop" && it["params"]["uri"] == file.as_str()
    };
    editor.until("a diagnostic", |it| it["method"] == "textDocument/publishDiagnostics" && code(it));
    let import = json!({"command": "loopkeeper.server.import", "arguments": [{"file": file}]});
    let done = editor.request("workspace/executeCommand", &import);
    assert!(done["uri"].as_str().is_some_and(|it| it.ends_with("/ralph-loop.ralph.md")), "{done}");
    let tasks: Vec<_> =
        done["status"]["tasks"].as_array().expect("tasks").iter().map(|it| &it["id"]).collect();
    assert_eq!(tasks, ["ralph-loop.ralph.md"], "{done}");
    assert!(
        !terminal.root().join(FILE).exists() && terminal.read("ralph-loop.ralph.md").contains("ALL DONE")
    );
}

#[test]
fn a_text_is_shown_as_a_task_and_written_by_nothing_but_the_user() {
    let (terminal, mut editor, _) = open_editor();
    terminal.file("cart-loses-items.ralph.md", "# Mine\n");
    let text = "# Cart loses items\n\n## Expected behavior\n\nBoth items stay.\n";
    let import = json!({"command": "loopkeeper.server.import", "arguments": [{"text": text}]});
    let done = editor.request("workspace/executeCommand", &import);
    assert!(done["document"].as_str().is_some_and(|it| it.ends_with("- Both items stay.\n")), "{done}");
    let place = done["uri"].as_str().expect("a URI");
    assert!(place.ends_with("/cart-loses-items-2.ralph.md"), "{done}");
    assert!(!terminal.root().join("cart-loses-items-2.ralph.md").exists());
    let nothing = json!({"command": "loopkeeper.server.import", "arguments": [{"text": " "}]});
    let refused = editor.call("workspace/executeCommand", &nothing);
    assert_eq!(refused["error"]["data"]["code"], "badArgument", "{refused}");
}

#[test]
fn a_task_for_one_sentence_is_shown_and_nothing_is_written() {
    let (terminal, mut editor, _) = open_editor();
    terminal.file("Makefile", "test:\n\ttouch ran\n").file("parse-dates.ralph.md", "# Mine\n");
    let root = terminal.root().canonicalize().unwrap();
    let ask = |more: &Value| {
        let mut argument = json!({"folder": uri(&root), "sentence": "Parse dates"});
        argument.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"command": "loopkeeper.server.newTask", "arguments": [argument]})
    };
    let shown = editor.request("workspace/executeCommand", &ask(&json!({})));
    assert_eq!(shown["uri"], uri(&root.join("parse-dates-2.ralph.md")));
    assert!(shown["document"].as_str().unwrap().contains("- All tests pass: `$ make test`\n"), "{shown}");
    let shown = editor.request("workspace/executeCommand", &ask(&json!({"kind": "research"})));
    assert!(shown["document"].as_str().unwrap().contains("`exists parse-dates-sources.md`"), "{shown}");
    let refused = editor.call("workspace/executeCommand", &ask(&json!({"kind": "poem"})));
    assert_eq!(refused["error"]["data"]["code"], "badArgument", "{refused}");
    let refused = editor.call("workspace/executeCommand", &ask(&json!({"sentence": " "})));
    assert_eq!(refused["error"]["data"]["code"], "badArgument", "{refused}");
    assert!(!root.join("parse-dates-2.ralph.md").exists() && !root.join("ran").exists());
    editor.quit();
}
