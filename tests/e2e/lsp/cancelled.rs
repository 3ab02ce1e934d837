//! `cancelChecks`: ends the processes of a round, records nothing, and affects no other round.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;

use super::editor_fixture::EditorFixture;
use crate::support::scenario::Scenario;
use crate::support::world::wait_until;

/// A check that leaves its pid behind and does not end.
const ENDLESS: &str = "It ends: `$ echo $$ > pid; sleep 600`";

fn endless() -> EditorFixture {
    let criteria = &["It is made: `exists made`", ENDLESS];
    let mut fixture = EditorFixture::open(&Scenario { criteria, ..Scenario::default() });
    fixture.trust("PROMPT.md");
    fixture
}

/// The pid of the check in its own namespace, once it runs.
fn until_running(fixture: &EditorFixture) {
    let pid = fixture.world.root().join("pid");
    wait_until(
        || std::fs::read_to_string(&pid).is_ok_and(|it| !it.trim().is_empty()),
        || "the check does not run".to_owned(),
    );
}

/// Processes that run in this folder.
fn processes_in(root: &Path) -> Vec<String> {
    let root = root.canonicalize().unwrap();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let inside = all.filter(|it| {
        std::fs::read_link(it.path().join("cwd")).is_ok_and(|it| it.starts_with(&root))
            && std::fs::read_to_string(it.path().join("cmdline")).is_ok_and(|it| it.contains("sleep"))
    });
    inside.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn cancelled_checks_end_and_leave_earlier_results() {
    let mut fixture = endless();
    let task = json!({"task": "PROMPT.md"});
    let refused = fixture.refused("cancelChecks", &task, "conflict");
    assert!(refused["message"].as_str().unwrap().contains("No checks of this task"), "{refused:#}");
    fixture.done("check", &task);
    until_running(&fixture);
    let before = fixture.status(|it| it["tasks"][0]["checking"] == true)["tasks"][0].clone();
    assert!(!processes_in(&fixture.world.root()).is_empty());
    let cancelled = fixture.done("cancelChecks", &task);
    assert_eq!(cancelled["effect"], "The checks are cancelled. Earlier results are kept.");
    assert_eq!(cancelled["status"]["tasks"][0]["checking"], false, "{cancelled:#}");
    wait_until(
        || processes_in(&fixture.world.root()).is_empty(),
        || format!("still there: {:?}", processes_in(&fixture.world.root())),
    );
    let after = fixture.status(|it| it["tasks"][0]["checking"] == false)["tasks"][0].clone();
    assert_eq!((&after["rounds"], &after["criteria"]), (&before["rounds"], &before["criteria"]));
    // The tree is free for the next round.
    fixture.save("PROMPT.md", "# Pay\n\nDone when:\n\n- It is made: `exists made`\n");
    fixture.done("check", &task);
    fixture.status(|it| it["tasks"][0]["criteria"]["failed"] == 1);
    fixture.refused("cancelChecks", &task, "conflict");
}

/// A round of checks that was started in a terminal.
fn check_in_terminal(fixture: &EditorFixture) -> Child {
    let mut command = fixture.world.terminal.command(&["check", "--trust"]);
    command.current_dir(fixture.world.root());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let terminal = command.spawn().unwrap();
    until_running(fixture);
    terminal
}

#[test]
fn checks_of_a_terminal_are_not_cancelled() {
    let mut fixture = endless();
    let mut terminal = check_in_terminal(&fixture);
    let refused = fixture.refused("cancelChecks", &json!({"task": "PROMPT.md"}), "conflict");
    assert!(refused["message"].as_str().unwrap().contains("not started from this editor"), "{refused:#}");
    assert!(terminal.try_wait().unwrap().is_none(), "it still runs");
    terminal.kill().unwrap();
    terminal.wait().unwrap();
}

#[test]
fn a_cancelled_request_for_checks_starts_nothing() {
    let mut fixture = endless();
    let mut terminal = check_in_terminal(&fixture);
    // It waits for the round in the terminal.
    let order = json!({"command": "loopkeeper.server.check", "arguments": [{"task": "PROMPT.md"}]});
    let id = fixture.editor.ask("workspace/executeCommand", &order);
    std::thread::sleep(Duration::from_millis(300));
    fixture.editor.notify("$/cancelRequest", &json!({"id": id}));
    assert_eq!(fixture.editor.answer(id)["error"]["code"], -32800);
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    std::fs::remove_file(fixture.world.root().join("pid")).unwrap();
    fixture.status(|it| it["tasks"][0]["checking"] == false);
    std::thread::sleep(Duration::from_secs(1));
    assert!(!fixture.world.has("pid"), "a check ran");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    until_running(&fixture);
    fixture.done("cancelChecks", &json!({"task": "PROMPT.md"}));
}
