//! Clients that announce little, or less than others: nothing is sent that was not announced, and a loop is started,
//! watched and finished all the same.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::studio::{Studio, everything, everything_but, remarks, show};
use crate::support::lsp::uri;
use crate::support::scenario::Scenario;

/// What a server may send only to a client that announced it.
const ANNOUNCED: [(&str, &[&str]); 6] = [
    ("window/workDoneProgress", &["window/workDoneProgress/create", "$/progress"]),
    ("window/showMessage", &["window/showMessageRequest"]),
    ("window/showDocument", &["window/showDocument"]),
    ("workspace/codeLens", &["workspace/codeLens/refresh"]),
    ("workspace/didChangeWatchedFiles", &["client/registerCapability"]),
    ("experimental/loopkeeper", &["loopkeeper/status", "loopkeeper/alert", "loopkeeper/output"]),
];
/// What every client takes.
const BASE: [&str; 3] = ["textDocument/publishDiagnostics", "window/showMessage", "$/cancelRequest"];

fn made<'a>() -> Scenario<'a> {
    Scenario { criteria: &["😀 it is made: `exists made`"], acts: &["touch made"], ..Scenario::default() }
}

/// The same, where the agent works until the file `go` exists.
fn made_later<'a>() -> Scenario<'a> {
    Scenario { acts: &["until test -e go; do sleep 0.05; done; touch made"], ..made() }
}

/// A refused start, which asks about trust, then a whole loop; returns the methods of all messages of the server.
fn methods_of_a_loop(studio: &mut Studio, at_work: impl FnOnce(&Studio)) -> BTreeSet<String> {
    studio.show("PROMPT.md");
    studio.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    studio.start("PROMPT.md");
    at_work(studio);
    studio.world.until("end", |it| it["type"] == "ended");
    studio.remarks("PROMPT.md", |all| {
        all.iter().any(|it| it["message"].as_str().unwrap().starts_with("completed and verified"))
    });
    // The last message of a loop.
    let announces_end = |it: &Value| match it["method"].as_str() {
        Some("loopkeeper/alert") => it["params"]["kind"] == "ended",
        Some("window/showMessage") => it["params"]["message"].as_str().unwrap().contains("verified"),
        _ => false,
    };
    studio.editor.until("the end is announced", announces_end);
    studio.editor.messages().iter().filter_map(|it| it["method"].as_str().map(str::to_owned)).collect()
}

#[test]
fn nothing_is_sent_that_was_not_announced() {
    let known: BTreeSet<&str> = ANNOUNCED.iter().flat_map(|it| it.1).copied().chain(BASE).collect();
    for (path, methods) in ANNOUNCED {
        let mut studio = Studio::open_as(&made(), &everything_but(path));
        let seen = methods_of_a_loop(&mut studio, |_| ());
        assert!(!methods.iter().any(|it| seen.contains(*it)), "without {path}: {seen:?}");
        assert!(seen.iter().all(|it| known.contains(it.as_str())), "without {path}: {seen:?}");
    }
    // Control: a client that announces them all receives them, but for what this loop has no reason to send.
    let mut studio = Studio::open(&made_later());
    let seen = methods_of_a_loop(&mut studio, |studio| {
        // A loop that ends at once has no progress to show.
        studio.editor.until_count("window/workDoneProgress/create", 1);
        studio.world.terminal.file("go", "");
    });
    let unsent =
        ["window/showDocument", "loopkeeper/output", "$/progress", "window/showMessage", "$/cancelRequest"];
    for method in known.iter().filter(|it| !unsent.contains(it)) {
        assert!(seen.contains(*method), "{method}: {seen:?}");
    }
}

#[test]
fn a_client_that_cannot_ask_is_told_why_a_command_was_refused() {
    let mut simple = everything();
    simple.as_object_mut().unwrap().remove("experimental");
    simple["window"].as_object_mut().unwrap().remove("showMessage");
    let mut studio = Studio::open_as(&made(), &json!({"capabilities": simple}));
    let nowhere = json!({"loopId": "20200101-aaaaaa"});
    studio.refused("pause", &nowhere, "badArgument");
    studio.editor.until_count("window/showMessage", 1);
    let shown = studio
        .editor
        .messages()
        .iter()
        .filter_map(|it| it["params"]["message"].as_str().map(str::to_owned))
        .collect::<String>();
    assert!(shown.contains("no loop yet"), "{shown}");
    // The commands are shown with their own message.
    studio.show("PROMPT.md");
    studio.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    studio.editor.until_count("window/showMessage", 2);
    // Control: other clients show the error themselves.
    let mut studio = Studio::open(&made());
    studio.refused("pause", &nowhere, "badArgument");
    // Messages keep their order.
    studio.editor.request("loopkeeper/loops", &json!({}));
    assert_eq!(studio.editor.count("window/showMessage"), 0);
}

#[test]
fn columns_are_utf16_for_a_client_that_wants_another_unit() {
    let mut capabilities = everything();
    capabilities["general"] = json!({"positionEncodings": ["utf-32"]});
    let mut studio = Studio::open_as(&made(), &json!({"capabilities": capabilities}));
    studio.show("PROMPT.md");
    let line = std::fs::read_to_string(studio.path("PROMPT.md")).unwrap();
    let row = line.lines().position(|it| it.contains("😀")).unwrap();
    let width = line.lines().nth(row).unwrap().encode_utf16().count();
    studio.trust("PROMPT.md");
    studio.done("check", &json!({"task": "PROMPT.md"}));
    let all = studio.remarks("PROMPT.md", |all| all.iter().any(|it| it["code"] == "failing"));
    let failing = all.iter().find(|it| it["code"] == "failing").unwrap();
    assert_eq!(failing["range"]["start"], json!({"line": row, "character": 2}));
    assert_eq!(failing["range"]["end"], json!({"line": row, "character": width}));
}

#[test]
fn a_file_opened_without_a_folder_is_a_task_that_can_be_run() {
    let mut studio = Studio::open_as(&made(), &json!({"rootUri": null, "workspaceFolders": null}));
    let document = studio.path("PROMPT.md");
    show(&studio.editor, &document);
    let lenses = |studio: &mut Studio| {
        let at = json!({"textDocument": {"uri": uri(&document)}});
        studio.editor.request("textDocument/codeLens", &at).to_string()
    };
    remarks(&studio.editor, &uri(&document), |it| !it.is_empty());
    assert!(lenses(&mut studio).contains("Start loop"), "{}", lenses(&mut studio));
    let task = uri(&document);
    studio.start(&task);
    studio.world.until("end", |it| it["type"] == "ended");
    remarks(&studio.editor, &uri(&document), |all| {
        all.iter().any(|it| it["message"].as_str().unwrap().starts_with("completed and verified"))
    });
}

#[test]
fn files_made_outside_are_seen_where_the_client_watches_none() {
    let studio = Studio::open_as(&made(), &everything_but("workspace/didChangeWatchedFiles"));
    studio.status(|it| it["tasks"].as_array().unwrap().len() == 1);
    let text = "# Other\n\n## Done when\n\n- It is there: `exists x`\n";
    studio.world.terminal.file("other.ralph.md", text);
    studio.status(|it| it["tasks"].as_array().unwrap().len() == 2);
    // A folder that did not exist is seen with the first file that is opened there.
    studio.world.terminal.file("docs/deep/third.ralph.md", text);
    studio.show("docs/deep/third.ralph.md");
    studio.status(|it| it["tasks"].as_array().unwrap().len() == 3);
}

#[test]
fn completion_has_no_snippets_for_a_client_without_them() {
    let mut studio = Studio::open_as(&made(), &json!({"capabilities": {}}));
    studio.world.terminal.file("loopkeeper.toml", "\n");
    studio.show("loopkeeper.toml");
    let at = json!({"textDocument": {"uri": studio.uri("loopkeeper.toml")}, "position": {"line": 0, "character": 0}});
    let offered = studio.editor.request("textDocument/completion", &at);
    let items = offered.as_array().or_else(|| offered["items"].as_array()).cloned().unwrap_or_default();
    assert!(!items.is_empty());
    for it in &items {
        assert_ne!(it["insertTextFormat"], 2, "{it}");
        let plain = it.get("documentation").is_none_or(|it| it.is_string() || it["kind"] == "plaintext");
        assert!(plain, "{it}");
    }
    assert_ne!(items[0]["label"], Value::Null);
}
