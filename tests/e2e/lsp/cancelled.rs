//! `cancelChecks`: ends the processes of a round, records nothing, and touches no round of anybody else.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;

use super::studio::Studio;
use crate::support::scenario::Scenario;
use crate::support::world::wait_until;

/// A check that leaves its pid behind and does not end.
const ENDLESS: &str = "It ends: `$ echo $$ > pid; sleep 600`";

fn endless() -> Studio {
    let criteria = &["It is made: `exists made`", ENDLESS];
    let mut studio = Studio::open(&Scenario { criteria, ..Scenario::default() });
    studio.trust("PROMPT.md");
    studio
}

/// The pid of the check in its own namespace, once it runs.
fn until_running(studio: &Studio) {
    let pid = studio.world.root().join("pid");
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
    let mut studio = endless();
    let task = json!({"task": "PROMPT.md"});
    let refused = studio.refused("cancelChecks", &task, "conflict");
    assert!(refused["message"].as_str().unwrap().contains("No checks of this task"), "{refused:#}");
    studio.done("check", &task);
    until_running(&studio);
    let before = studio.status(|it| it["tasks"][0]["checking"] == true)["tasks"][0].clone();
    assert!(!processes_in(&studio.world.root()).is_empty());
    let cancelled = studio.done("cancelChecks", &task);
    assert_eq!(cancelled["effect"], "The checks are cancelled. Earlier results are kept.");
    assert_eq!(cancelled["status"]["tasks"][0]["checking"], false, "{cancelled:#}");
    wait_until(
        || processes_in(&studio.world.root()).is_empty(),
        || format!("still there: {:?}", processes_in(&studio.world.root())),
    );
    let after = studio.status(|it| it["tasks"][0]["checking"] == false)["tasks"][0].clone();
    assert_eq!((&after["rounds"], &after["criteria"]), (&before["rounds"], &before["criteria"]));
    // The tree is free for the next round.
    studio.save("PROMPT.md", "# Pay\n\nDone when:\n\n- It is made: `exists made`\n");
    studio.done("check", &task);
    studio.status(|it| it["tasks"][0]["criteria"]["failed"] == 1);
    studio.refused("cancelChecks", &task, "conflict");
}

/// A round of checks that was started in a terminal.
fn check_in_terminal(studio: &Studio) -> Child {
    let mut command = studio.world.terminal.command(&["check", "--trust"]);
    command.current_dir(studio.world.root());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let terminal = command.spawn().unwrap();
    until_running(studio);
    terminal
}

#[test]
fn checks_of_a_terminal_are_not_cancelled() {
    let mut studio = endless();
    let mut terminal = check_in_terminal(&studio);
    let refused = studio.refused("cancelChecks", &json!({"task": "PROMPT.md"}), "conflict");
    assert!(refused["message"].as_str().unwrap().contains("not started from this editor"), "{refused:#}");
    assert!(terminal.try_wait().unwrap().is_none(), "it still runs");
    terminal.kill().unwrap();
    terminal.wait().unwrap();
}

#[test]
fn a_cancelled_request_for_checks_starts_nothing() {
    let mut studio = endless();
    let mut terminal = check_in_terminal(&studio);
    // It waits for the round in the terminal.
    let order = json!({"command": "loopkeeper.server.check", "arguments": [{"task": "PROMPT.md"}]});
    let id = studio.editor.ask("workspace/executeCommand", &order);
    std::thread::sleep(Duration::from_millis(300));
    studio.editor.notify("$/cancelRequest", &json!({"id": id}));
    assert_eq!(studio.editor.answer(id)["error"]["code"], -32800);
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    std::fs::remove_file(studio.world.root().join("pid")).unwrap();
    studio.status(|it| it["tasks"][0]["checking"] == false);
    std::thread::sleep(Duration::from_secs(1));
    assert!(!studio.world.has("pid"), "a check ran");
    studio.done("check", &json!({"task": "PROMPT.md"}));
    until_running(&studio);
    studio.done("cancelChecks", &json!({"task": "PROMPT.md"}));
}
