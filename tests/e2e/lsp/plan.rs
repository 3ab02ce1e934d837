//! Plan edits from the editor: in its buffer if the document is open, otherwise in the file.

use serde_json::{Value, json};

use super::studio::{Studio, everything, is_in};
use crate::support::lsp::Reply;
use crate::support::scenario::Scenario;

const PRD: &str = "{\n  \"userStories\": [\n    { \"id\": \"A\", \"title\": \"Äpfel\", \"priority\": 1 },\n    { \"id\": \"B\", \"title\": \"Birnen\", \"priority\": 2 }\n  ]\n}\n";

fn studio(applies: bool) -> Studio {
    let scenario =
        Scenario { files: &[("PROMPT.md", "# Fruit\n"), ("prd.json", PRD)], ..Scenario::default() };
    let mut all = everything();
    all["workspace"]["applyEdit"] = json!(applies);
    all["workspace"]["workspaceEdit"] = json!({"documentChanges": true});
    let studio = Studio::open_as(&scenario, &json!({"capabilities": all}));
    studio.editor.answers("workspace/applyEdit", Reply::With(json!({"applied": true})));
    studio
}

fn item(id: &str) -> Value {
    json!({"task": "PROMPT.md", "item": id})
}

#[test]
fn an_open_plan_is_changed_in_its_buffer() {
    let mut studio = studio(true);
    studio.show("prd.json");
    let typed = PRD.replace("Birnen", "Pflaumen");
    studio.type_into("prd.json", 2, &typed);
    let done = studio.done("skip", &item("B"));
    assert_eq!((&done["uri"], &done["saved"]), (&json!(studio.uri("prd.json")), &json!(false)));
    let asked = studio.editor.wait_for("workspace/applyEdit", |_| true);
    let change = &asked["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": studio.uri("prd.json"), "version": 2}));
    let behind = typed.lines().nth(3).unwrap().find(" }").unwrap();
    let place = json!({"line": 3, "character": behind});
    let edit = json!([{"range": {"start": place, "end": place}, "newText": ", \"skipped\": true"}]);
    assert_eq!(change["edits"], edit);
    assert_eq!(studio.world.terminal.read("prd.json"), PRD, "the file is the user's to save");
    let by_lens = json!({"textDocument": {"uri": studio.uri("prd.json")}});
    let lenses = studio.editor.request("textDocument/codeLens", &by_lens);
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().filter_map(|it| it["command"]["title"].as_str()).collect();
    assert_eq!(titles, ["Skip", "Raise", "Lower", "Skip", "Raise", "Lower"]);
}

#[test]
fn a_plan_that_no_editor_holds_is_changed_in_its_file() {
    let mut studio = studio(true);
    let done = studio.done("prioritize", &json!({"task": "PROMPT.md", "item": "B", "by": 1}));
    assert_eq!((&done["uri"], &done["saved"]), (&json!(studio.uri("prd.json")), &json!(true)));
    let swapped = PRD.replace("1 }", "x }").replace("2 }", "1 }").replace("x }", "2 }");
    assert_eq!(studio.world.terminal.read("prd.json"), swapped);
    studio.done("skip", &item("A"));
    assert!(studio.world.terminal.read("prd.json").contains("\"priority\": 2, \"skipped\": true }"));
    studio.done("skip", &item("A"));
    assert_eq!(studio.world.terminal.read("prd.json"), swapped, "twice is as before");
    studio.refused("prioritize", &json!({"task": "PROMPT.md", "item": "B", "by": 1}), "conflict");
    studio.refused("skip", &item("C"), "badArgument");
}

#[test]
fn an_editor_that_cannot_be_asked_keeps_what_it_has_not_saved() {
    let mut studio = studio(false);
    studio.show("prd.json");
    studio.type_into("prd.json", 2, &PRD.replace("Birnen", "Pflaumen"));
    let error = studio.refused("skip", &item("A"), "unsaved");
    assert_eq!(error["data"]["uri"], studio.uri("prd.json"));
    assert_eq!(studio.world.terminal.read("prd.json"), PRD);
    studio.type_into("prd.json", 3, PRD);
    assert_eq!(studio.done("skip", &item("A"))["saved"], true);
    assert!(studio.world.terminal.read("prd.json").contains("\"priority\": 1, \"skipped\": true }"));
}

#[test]
fn a_refused_edit_changes_nothing() {
    let mut studio = studio(true);
    let refuses = json!({"applied": false, "failureReason": "read-only"});
    studio.editor.answers("workspace/applyEdit", Reply::With(refuses));
    studio.show("prd.json");
    let error = studio.refused("skip", &item("A"), "conflict");
    assert!(error["message"].as_str().unwrap().contains("read-only"), "{error:#}");
}

#[test]
fn a_loop_is_exported_beside_the_tree() {
    let scenario =
        Scenario { criteria: &["Is there: `exists done`"], acts: &["touch done"], ..Scenario::default() };
    let mut studio = Studio::open(&scenario);
    let id = studio.start("PROMPT.md");
    studio.status(|it| is_in(it, &id, "done"));
    let done = studio.done("export", &json!({"loopId": id}));
    let path = done["uri"].as_str().unwrap().trim_start_matches("file://").to_owned();
    assert!(path.ends_with(&format!("ralph-{id}.tar.gz")) && std::path::Path::new(&path).is_file(), "{path}");
    let said = studio
        .editor
        .wait_for("window/showMessage", |it| it["message"].as_str().unwrap().contains("Exported loop"));
    assert!(said["message"].as_str().unwrap().contains("(removed: 0 secrets"), "{said:#}");
    studio.done("export", &json!({"loopId": id}));
    assert!(!studio.world.has(&format!("ralph-{id}.tar.gz")), "the work tree is left alone");
}

#[test]
fn the_receipt_of_a_loop_is_a_page_beside_the_tree() {
    let scenario =
        Scenario { criteria: &["Is there: `exists done`"], acts: &["touch done"], ..Scenario::default() };
    let mut studio = Studio::open(&scenario);
    let id = studio.start("PROMPT.md");
    studio.status(|it| is_in(it, &id, "done"));
    let alert = studio.editor.wait_for("loopkeeper/alert", |it| it["kind"] == "ended");
    let titles: Vec<_> = alert["actions"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["Review all changes", "Undo", "Receipt"]);
    let done = studio.done("receipt", &json!({"loopId": id}));
    let path = done["uri"].as_str().unwrap().trim_start_matches("file://").to_owned();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(
        path.ends_with(&format!("receipt-{id}.md")) && page.contains("Is there: passes"),
        "{path}: {page}"
    );
    assert!(!studio.world.has(&format!("receipt-{id}.md")), "the work tree is left alone");
    studio.refused("receipt", &json!({"loopId": "20200101-zzzzzz"}), "badArgument");
    let done = studio.done("report", &json!({"loopId": id}));
    let path = done["uri"].as_str().unwrap().trim_start_matches("file://").to_owned();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(path.ends_with(&format!("report-{id}.html")) && page.contains("Is there"), "{path}: {page}");
}
