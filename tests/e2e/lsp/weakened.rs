//! Tests that the agent removed: reported at their place, restored or accepted from the editor.

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, everything, has, is_in};
use crate::support::scenario::Scenario;

const TESTS: &str = "def test_sum():\n    assert add(1, 2) == 3\n";

/// A loop that is paused because its agent removed a test; its id, and the diagnostic.
#[track_caller]
fn paused_loop() -> (EditorFixture, String, Value) {
    let scenario = Scenario {
        files: &[("tests/test_sum.py", TESTS)],
        criteria: &["Is there: `exists done`"],
        acts: &["rm tests/test_sum.py; touch done", "true"],
        ..Scenario::default()
    };
    let mut all = everything();
    all["textDocument"]["codeAction"] =
        json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}});
    let mut fixture = EditorFixture::open_as(&scenario, &json!({"capabilities": all}));
    fixture.show("PROMPT.md");
    let id = fixture.start("PROMPT.md");
    let status = fixture.status(|it| is_in(it, &id, "needsYou"));
    let lost = json!([{"path": "tests/test_sum.py", "what": "tests/test_sum.py lost 1 test"}]);
    assert_eq!(status["loops"][0]["weakened"], lost);
    let all = fixture.remarks("PROMPT.md", |it| has(it, "weakened"));
    let remark = all.into_iter().find(|it| it["code"] == "weakened").unwrap();
    (fixture, id, remark)
}

/// The quick fix of the diagnostic whose title begins like this.
#[track_caller]
fn offered(fixture: &mut EditorFixture, remark: &Value, title: &str) -> Value {
    let document = json!({"uri": fixture.uri("PROMPT.md")});
    let context = json!({"diagnostics": [remark], "only": ["quickfix"]});
    let params = json!({"textDocument": document, "range": remark["range"], "context": context});
    let all = fixture.editor.request("textDocument/codeAction", &params);
    let begins = |it: &&Value| it["title"].as_str().unwrap().starts_with(title);
    let action = all.as_array().unwrap().iter().find(begins).unwrap_or_else(|| panic!("{all:#}"));
    assert_eq!(action["diagnostics"][0]["code"], "weakened", "editors show it where the remark stands");
    action["command"].clone()
}

/// The client's part when it is chosen.
#[track_caller]
fn choose(fixture: &mut EditorFixture, action: &Value) -> Value {
    let params = json!({"command": action["command"], "arguments": action["arguments"]});
    fixture.editor.request("workspace/executeCommand", &params)
}

#[test]
fn the_alert_offers_to_restore_or_accept() {
    let (mut fixture, id, _) = paused_loop();
    let alert = fixture.editor.wait_for("loopkeeper/alert", |it| it["kind"] == "needsYou");
    let buttons = alert["actions"].as_array().unwrap();
    let titles: Vec<&str> = buttons.iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Restore", "Accept", "Show output"]);
    let message = alert["message"].as_str().unwrap();
    assert!(
        message.starts_with("\"Make it so\" needs you: ") && message.ends_with(": not counted as done"),
        "no words for a terminal: {message}"
    );
    choose(&mut fixture, &buttons[0].clone());
    assert!(fixture.world.has("tests/test_sum.py"));
    fixture.done("resume", &json!({"loopId": id}));
    completes(&fixture, &id);
}

#[track_caller]
fn completes(fixture: &EditorFixture, id: &str) {
    let status = fixture.status(|it| is_in(it, id, "done"));
    assert_eq!(status["loops"][0]["outcome"]["verified"], true, "{status:#}");
    assert_eq!(status["loops"][0]["weakened"], Value::Null);
    fixture.remarks("PROMPT.md", |it| !has(it, "weakened"));
}

#[test]
fn a_weakening_is_accepted_at_its_diagnostic() {
    let (mut fixture, id, remark) = paused_loop();
    let told = "weakened: tests/test_sum.py lost 1 test. Restore it or accept it.";
    assert_eq!((&remark["message"], &remark["severity"]), (&json!(told), &json!(2)));
    let accept = offered(&mut fixture, &remark, "Accept");
    assert_eq!(accept["command"], "loopkeeper.server.acceptWeakening");
    choose(&mut fixture, &accept);
    completes(&fixture, &id);
    assert!(!fixture.world.has("tests/test_sum.py"), "it is taken as it is");
    let journal = fixture.world.journal();
    let by = journal.iter().find(|it| it["type"] == "weakening-accepted").unwrap()["by"].as_str().unwrap();
    assert!(by.contains(" in "), "{by}");
    fixture.refused("acceptWeakening", &json!({"loopId": id}), "conflict");
}

#[test]
fn a_weakening_is_restored_at_its_diagnostic() {
    let (mut fixture, id, remark) = paused_loop();
    let restore = offered(&mut fixture, &remark, "Restore");
    let done = choose(&mut fixture, &restore);
    assert_eq!((&done["written"], &done["removed"]), (&json!(1), &json!(0)), "{done:#}");
    assert!(fixture.world.has("tests/test_sum.py") && fixture.world.has("done"), "nothing else goes back");
    fixture.remarks("PROMPT.md", |it| !has(it, "weakened"));
    let status = fixture.status(|it| it["loops"][0]["weakened"] == Value::Null);
    assert_eq!(status["loops"][0]["outcome"], Value::Null, "it is done when its checks say so");
    fixture.done("resume", &json!({"loopId": id}));
    completes(&fixture, &id);
}
