//! Plan edits from the editor: in its buffer if the document is open, otherwise in the file.

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, everything, is_in};
use crate::support::lsp::Reply;
use crate::support::scenario::Scenario;

const PRD: &str = "{\n  \"userStories\": [\n    { \"id\": \"A\", \"title\": \"Äpfel\", \"priority\": 1 },\n    { \"id\": \"B\", \"title\": \"Birnen\", \"priority\": 2 }\n  ]\n}\n";

fn fixture(applies: bool) -> EditorFixture {
    let scenario =
        Scenario { files: &[("PROMPT.md", "# Fruit\n"), ("prd.json", PRD)], ..Scenario::default() };
    let mut all = everything();
    all["workspace"]["applyEdit"] = json!(applies);
    all["workspace"]["workspaceEdit"] = json!({"documentChanges": true});
    all["textDocument"]["codeAction"] =
        json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}});
    let fixture = EditorFixture::open_as(&scenario, &json!({"capabilities": all}));
    fixture.editor.answers("workspace/applyEdit", Reply::With(json!({"applied": true})));
    fixture
}

fn item(id: &str) -> Value {
    json!({"task": "PROMPT.md", "item": id})
}

#[test]
fn an_open_plan_is_changed_in_its_buffer() {
    let mut fixture = fixture(true);
    fixture.show("prd.json");
    let typed = PRD.replace("Birnen", "Pflaumen");
    fixture.type_into("prd.json", 2, &typed);
    let done = fixture.done("skip", &item("B"));
    assert_eq!((&done["uri"], &done["saved"]), (&json!(fixture.uri("prd.json")), &json!(false)));
    let asked = fixture.editor.wait_for("workspace/applyEdit", |_| true);
    let change = &asked["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": fixture.uri("prd.json"), "version": 2}));
    let behind = typed.lines().nth(3).unwrap().find(" }").unwrap();
    let place = json!({"line": 3, "character": behind});
    let edit = json!([{"range": {"start": place, "end": place}, "newText": ", \"skipped\": true"}]);
    assert_eq!(change["edits"], edit);
    assert_eq!(fixture.world.terminal.read("prd.json"), PRD, "the file is the user's to save");
    let by_lens = json!({"textDocument": {"uri": fixture.uri("prd.json")}});
    let lenses = fixture.editor.request("textDocument/codeLens", &by_lens);
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().filter_map(|it| it["command"]["title"].as_str()).collect();
    assert_eq!(titles, ["Skip", "Raise", "Lower", "Skip", "Raise", "Lower"]);
}

/// An editor that knows versions refuses an edit of a text that changed since.
#[test]
fn a_quick_fix_names_the_version_of_its_text() {
    let mut fixture = fixture(true);
    fixture.show("PROMPT.md");
    fixture.type_into("PROMPT.md", 7, "# Fruit\n\n## Done when\n\n- Tests: `cargo test`\n");
    let at = json!({"start": {"line": 4, "character": 10}, "end": {"line": 4, "character": 10}});
    let context = json!({"diagnostics": [], "only": ["quickfix"]});
    let params = json!({"textDocument": {"uri": fixture.uri("PROMPT.md")}, "range": at, "context": context});
    let all = fixture.editor.request("textDocument/codeAction", &params);
    let is_check = |it: &&Value| it["title"] == "Make it a check: `$ cargo test`";
    let action = all.as_array().unwrap().iter().find(is_check).unwrap_or_else(|| panic!("{all:#}"));
    let edit = &action["edit"];
    assert_eq!(edit["changes"], Value::Null);
    let document = json!({"uri": fixture.uri("PROMPT.md"), "version": 7});
    assert_eq!(edit["documentChanges"][0]["textDocument"], document);
    assert_eq!(edit["documentChanges"][0]["edits"][0]["newText"], "`$ cargo test`");
    fixture.editor.quit();
}

#[test]
fn a_plan_that_is_not_open_is_changed_in_its_file() {
    let mut fixture = fixture(true);
    let done = fixture.done("prioritize", &json!({"task": "PROMPT.md", "item": "B", "by": 1}));
    assert_eq!((&done["uri"], &done["saved"]), (&json!(fixture.uri("prd.json")), &json!(true)));
    let swapped = PRD.replace("1 }", "x }").replace("2 }", "1 }").replace("x }", "2 }");
    assert_eq!(fixture.world.terminal.read("prd.json"), swapped);
    fixture.done("skip", &item("A"));
    assert!(fixture.world.terminal.read("prd.json").contains("\"priority\": 2, \"skipped\": true }"));
    fixture.done("skip", &item("A"));
    assert_eq!(fixture.world.terminal.read("prd.json"), swapped, "twice is as before");
    fixture.refused("prioritize", &json!({"task": "PROMPT.md", "item": "B", "by": 1}), "conflict");
    fixture.refused("skip", &item("C"), "badArgument");
}

#[test]
fn an_unsaved_plan_is_not_changed_behind_an_editor_without_edits() {
    let mut fixture = fixture(false);
    fixture.show("prd.json");
    fixture.type_into("prd.json", 2, &PRD.replace("Birnen", "Pflaumen"));
    let error = fixture.refused("skip", &item("A"), "unsaved");
    assert_eq!(error["data"]["uri"], fixture.uri("prd.json"));
    assert_eq!(fixture.world.terminal.read("prd.json"), PRD);
    fixture.type_into("prd.json", 3, PRD);
    assert_eq!(fixture.done("skip", &item("A"))["saved"], true);
    assert!(fixture.world.terminal.read("prd.json").contains("\"priority\": 1, \"skipped\": true }"));
}

#[test]
fn a_refused_edit_changes_nothing() {
    let mut fixture = fixture(true);
    let refuses = json!({"applied": false, "failureReason": "read-only"});
    fixture.editor.answers("workspace/applyEdit", Reply::With(refuses));
    fixture.show("prd.json");
    let error = fixture.refused("skip", &item("A"), "conflict");
    assert!(error["message"].as_str().unwrap().contains("read-only"), "{error:#}");
}

#[test]
fn a_loop_is_exported_beside_the_tree() {
    let scenario =
        Scenario { criteria: &["Is there: `exists done`"], acts: &["touch done"], ..Scenario::default() };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "done"));
    let done = fixture.done("export", &json!({"loopId": id}));
    let path = done["uri"].as_str().unwrap().trim_start_matches("file://").to_owned();
    assert!(path.ends_with(&format!("ralph-{id}.tar.gz")) && std::path::Path::new(&path).is_file(), "{path}");
    let said = fixture
        .editor
        .wait_for("window/showMessage", |it| it["message"].as_str().unwrap().contains("Exported loop"));
    assert!(said["message"].as_str().unwrap().contains("(removed: 0 secrets"), "{said:#}");
    fixture.done("export", &json!({"loopId": id}));
    assert!(!fixture.world.has(&format!("ralph-{id}.tar.gz")), "the work tree is left alone");
}

#[test]
fn the_receipt_of_a_loop_is_a_page_beside_the_tree() {
    let scenario =
        Scenario { criteria: &["Is there: `exists done`"], acts: &["touch done"], ..Scenario::default() };
    let mut fixture = EditorFixture::open(&scenario);
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "done"));
    let alert = fixture.editor.wait_for("loopkeeper/alert", |it| it["kind"] == "ended");
    let titles: Vec<_> = alert["actions"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["Review all changes", "Undo", "Receipt"]);
    let done = fixture.done("receipt", &json!({"loopId": id}));
    let path = done["uri"].as_str().unwrap().trim_start_matches("file://").to_owned();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(
        path.ends_with(&format!("receipt-{id}.md")) && page.contains("Is there: passes"),
        "{path}: {page}"
    );
    assert!(!fixture.world.has(&format!("receipt-{id}.md")), "the work tree is left alone");
    fixture.refused("receipt", &json!({"loopId": "20200101-zzzzzz"}), "badArgument");
    let done = fixture.done("report", &json!({"loopId": id}));
    let path = done["uri"].as_str().unwrap().trim_start_matches("file://").to_owned();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(path.ends_with(&format!("report-{id}.html")) && page.contains("Is there"), "{path}: {page}");
}
