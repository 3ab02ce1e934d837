//! Clients that announce little, or less than others: nothing is sent that was not announced, and a loop is started,
//! watched and finished all the same.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, everything, everything_but, remarks, show};
use crate::support::lsp::uri;
use crate::support::scenario::Scenario;

/// The messages that a server may send only to a client that announced their support.
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
fn methods_of_a_loop(fixture: &mut EditorFixture, at_work: impl FnOnce(&EditorFixture)) -> BTreeSet<String> {
    fixture.show("PROMPT.md");
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    fixture.start("PROMPT.md");
    at_work(fixture);
    fixture.world.until("end", |it| it["type"] == "ended");
    fixture.remarks("PROMPT.md", |all| {
        all.iter().any(|it| it["message"].as_str().unwrap().starts_with("completed and verified"))
    });
    // The last message of a loop.
    let announces_end = |it: &Value| match it["method"].as_str() {
        Some("loopkeeper/alert") => it["params"]["kind"] == "ended",
        Some("window/showMessage") => it["params"]["message"].as_str().unwrap().contains("verified"),
        _ => false,
    };
    fixture.editor.until("the end is announced", announces_end);
    fixture.editor.messages().iter().filter_map(|it| it["method"].as_str().map(str::to_owned)).collect()
}

#[test]
fn nothing_is_sent_that_was_not_announced() {
    let known: BTreeSet<&str> = ANNOUNCED.iter().flat_map(|it| it.1).copied().chain(BASE).collect();
    for (path, methods) in ANNOUNCED {
        let mut fixture = EditorFixture::open_as(&made(), &everything_but(path));
        let seen = methods_of_a_loop(&mut fixture, |_| ());
        assert!(!methods.iter().any(|it| seen.contains(*it)), "without {path}: {seen:?}");
        assert!(seen.iter().all(|it| known.contains(it.as_str())), "without {path}: {seen:?}");
    }
    // Control: a client that announces them all receives them, except those that this loop does not cause.
    let mut fixture = EditorFixture::open(&made_later());
    let seen = methods_of_a_loop(&mut fixture, |fixture| {
        // A loop that ends at once has no progress to show.
        fixture.editor.until_count("window/workDoneProgress/create", 1);
        fixture.world.terminal.file("go", "");
    });
    let unsent =
        ["window/showDocument", "loopkeeper/output", "$/progress", "window/showMessage", "$/cancelRequest"];
    for method in known.iter().filter(|it| !unsent.contains(it)) {
        assert!(seen.contains(*method), "{method}: {seen:?}");
    }
}

#[test]
fn a_client_without_questions_is_shown_why_a_command_was_refused() {
    let mut simple = everything();
    simple.as_object_mut().unwrap().remove("experimental");
    simple["window"].as_object_mut().unwrap().remove("showMessage");
    let mut fixture = EditorFixture::open_as(&made(), &json!({"capabilities": simple}));
    let nowhere = json!({"loopId": "20200101-aaaaaa"});
    fixture.refused("pause", &nowhere, "badArgument");
    fixture.editor.until_count("window/showMessage", 1);
    let shown = fixture
        .editor
        .messages()
        .iter()
        .filter_map(|it| it["params"]["message"].as_str().map(str::to_owned))
        .collect::<String>();
    assert!(shown.contains("no loop yet"), "{shown}");
    // The commands are shown with their own message.
    fixture.show("PROMPT.md");
    fixture.refused("start", &json!({"task": "PROMPT.md"}), "untrusted");
    fixture.editor.until_count("window/showMessage", 2);
    // Control: other clients show the error themselves.
    let mut fixture = EditorFixture::open(&made());
    fixture.refused("pause", &nowhere, "badArgument");
    // Messages keep their order.
    fixture.editor.request("loopkeeper/loops", &json!({}));
    assert_eq!(fixture.editor.count("window/showMessage"), 0);
}

#[test]
fn columns_are_utf16_for_a_client_that_wants_another_unit() {
    let mut capabilities = everything();
    capabilities["general"] = json!({"positionEncodings": ["utf-32"]});
    let mut fixture = EditorFixture::open_as(&made(), &json!({"capabilities": capabilities}));
    fixture.show("PROMPT.md");
    let line = std::fs::read_to_string(fixture.path("PROMPT.md")).unwrap();
    let row = line.lines().position(|it| it.contains("😀")).unwrap();
    let width = line.lines().nth(row).unwrap().encode_utf16().count();
    fixture.trust("PROMPT.md");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    let all = fixture.remarks("PROMPT.md", |all| all.iter().any(|it| it["code"] == "failing"));
    let failing = all.iter().find(|it| it["code"] == "failing").unwrap();
    assert_eq!(failing["range"]["start"], json!({"line": row, "character": 2}));
    assert_eq!(failing["range"]["end"], json!({"line": row, "character": width}));
}

#[test]
fn a_file_opened_without_a_folder_is_a_task_that_can_be_run() {
    let mut fixture = EditorFixture::open_as(&made(), &json!({"rootUri": null, "workspaceFolders": null}));
    let document = fixture.path("PROMPT.md");
    show(&fixture.editor, &document);
    let lenses = |fixture: &mut EditorFixture| {
        let at = json!({"textDocument": {"uri": uri(&document)}});
        fixture.editor.request("textDocument/codeLens", &at).to_string()
    };
    remarks(&fixture.editor, &uri(&document), |it| !it.is_empty());
    assert!(lenses(&mut fixture).contains("Start loop"), "{}", lenses(&mut fixture));
    let task = uri(&document);
    fixture.start(&task);
    fixture.world.until("end", |it| it["type"] == "ended");
    remarks(&fixture.editor, &uri(&document), |all| {
        all.iter().any(|it| it["message"].as_str().unwrap().starts_with("completed and verified"))
    });
}

#[test]
fn files_created_outside_are_noticed_where_the_client_watches_none() {
    let fixture = EditorFixture::open_as(&made(), &everything_but("workspace/didChangeWatchedFiles"));
    fixture.status(|it| it["tasks"].as_array().unwrap().len() == 1);
    let text = "# Other\n\n## Done when\n\n- It is there: `exists x`\n";
    fixture.world.terminal.file("other.ralph.md", text);
    fixture.status(|it| it["tasks"].as_array().unwrap().len() == 2);
    // A folder that did not exist is seen with the first file that is opened there.
    fixture.world.terminal.file("docs/deep/third.ralph.md", text);
    fixture.show("docs/deep/third.ralph.md");
    fixture.status(|it| it["tasks"].as_array().unwrap().len() == 3);
}

#[test]
fn completion_has_no_snippets_for_a_client_without_them() {
    let mut fixture = EditorFixture::open_as(&made(), &json!({"capabilities": {}}));
    fixture.world.terminal.file("loopkeeper.toml", "\n");
    fixture.show("loopkeeper.toml");
    let at = json!({"textDocument": {"uri": fixture.uri("loopkeeper.toml")}, "position": {"line": 0, "character": 0}});
    let offered = fixture.editor.request("textDocument/completion", &at);
    let items = offered.as_array().or_else(|| offered["items"].as_array()).cloned().unwrap_or_default();
    assert!(!items.is_empty());
    for it in &items {
        assert_ne!(it["insertTextFormat"], 2, "{it}");
        let plain = it.get("documentation").is_none_or(|it| it.is_string() || it["kind"] == "plaintext");
        assert!(plain, "{it}");
    }
    assert_ne!(items[0]["label"], Value::Null);
}
