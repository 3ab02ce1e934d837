//! Servers, keepers, programs and folders that disappear: loops continue, and a returning editor sees their complete
//! history.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor_fixture::{EditorFixture, done, has, is_in, remarks, start};
use super::loop_commands::kill;
use crate::scenarios::detached::{WAITS, go};
use crate::support::lsp::Editor;
use crate::support::scenario::Scenario;
use crate::support::world::{delete, wait_until};

fn thrice() -> Scenario<'static> {
    let criteria = &["Enough: `$ wc -l < log` `>= 3`"];
    Scenario { criteria, before: "touch log", acts: &[WAITS], ..Scenario::default() }
}

/// The way VS Code's client kills its server two seconds after `shutdown`: children first, found by parent pid.
fn kill_tree(pid: u32) {
    let list = Command::new("ps").args(["-e", "-o", "pid=,ppid="]).output().unwrap();
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    let pairs = text.lines().filter_map(|it| {
        let mut words = it.split_whitespace();
        Some((words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u32>().ok()?))
    });
    for (child, _) in pairs.filter(|(_, parent)| *parent == pid) {
        kill_tree(child);
    }
    kill(i64::from(pid));
}

/// The whole history is shown: iterations without a gap, and the outcome.
fn assert_complete_history(editor: &mut Editor, id: &str) {
    let status = editor.until_last("loopkeeper/status", |_| true, |it| is_in(it, id, "done"));
    let shown = status["loops"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(shown["outcome"]["verified"], true, "{shown:#}");
    let history = editor.request("loopkeeper/iterations", &json!({"loopId": id}));
    let numbers: Vec<u64> = history["iterations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["iteration"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(history["criteria"][0]["row"], "✗✗✗✓");
}

#[test]
fn a_killed_server_ends_no_loop_and_the_next_one_has_no_gap() {
    for whole_tree in [false, true] {
        let mut fixture = EditorFixture::open(&thrice());
        let id = fixture.start("PROMPT.md");
        fixture.world.until_shared("up.1");
        if whole_tree {
            kill_tree(fixture.editor.pid());
        } else {
            kill(i64::from(fixture.editor.pid()));
        }
        fixture.editor.exit_code();
        go(&fixture.world, 1);
        fixture.world.until_shared("up.2");
        let mut next = fixture.another();
        next.until_last("loopkeeper/status", |_| true, |it| it["loops"][0]["iteration"] == 2);
        go(&fixture.world, 2);
        go(&fixture.world, 3);
        assert_complete_history(&mut next, &id);
        assert_eq!(fixture.world.starts(), 3);
    }
}

#[test]
fn a_check_outlives_the_processes_of_its_server() {
    let criteria = &["Slow: `$ touch ../up; until [ -f ../go ]; do sleep 0.02; done; test -f never`"];
    let mut fixture = EditorFixture::open(&Scenario { criteria, ..Scenario::default() });
    fixture.trust("PROMPT.md");
    fixture.done("check", &json!({"task": "PROMPT.md"}));
    let folder = fixture.world.terminal.folder().to_owned();
    wait_until(|| folder.join("up").exists(), || "the check does not begin".to_owned());
    fixture.status(|it| it["tasks"][0]["checking"] == true);
    kill_tree(fixture.editor.pid());
    fixture.editor.exit_code();
    let next = fixture.another();
    next.until_last("loopkeeper/status", |_| true, |it| it["tasks"][0]["checking"] == true);
    fs::write(folder.join("go"), "").unwrap();
    remarks(&next, &fixture.uri("PROMPT.md"), |it| has(it, "failing"));
    next.until_last("loopkeeper/status", |_| true, |it| it["tasks"][0]["checking"] == false);
}

#[test]
fn a_killed_keeper_is_noticed_at_once() {
    let mut fixture = EditorFixture::open(&thrice());
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    let status =
        fixture.status(|it| it["loops"][0]["iteration"] == 1 && it["loops"][0]["phase"] == "iterating");
    let pid = status["loops"][0]["keeper"]["pid"].as_i64().unwrap();
    let began = Instant::now();
    kill(pid);
    fixture.remarks("PROMPT.md", |it| has(it, "interrupted"));
    // Detected by the end of its socket; the next poll would happen five seconds after the last.
    assert!(began.elapsed() < Duration::from_millis(4500), "{:?}", began.elapsed());
    fixture.status(|it| is_in(it, &id, "needsYou"));
    fixture.editor.wait_for("loopkeeper/alert", |it| it["kind"] == "needsYou");
    fixture.done("resume", &json!({"loopId": id}));
    (2..=4).for_each(|it| go(&fixture.world, it));
    fixture.status(|it| is_in(it, &id, "done"));
}

#[test]
fn a_deleted_or_replaced_program_does_not_affect_its_loop() {
    let world = thrice().world();
    let folder = world.terminal.folder().join("extension");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("loopkeeper");
    for name in ["loopkeeper", "loopkeeper-warden"] {
        fs::copy(Path::new(env!("CARGO_BIN_EXE_loopkeeper")).with_file_name(name), folder.join(name))
            .unwrap();
    }
    let command = world.terminal.command_of(&program, &["--stdio"]);
    let editor = start(command, &world.root(), &json!({}));
    let mut fixture = EditorFixture { editor, world };
    fixture.trust("PROMPT.md");
    // Before the first start: the state folder contains nothing of it yet.
    fs::remove_dir_all(&folder).unwrap();
    let id = fixture.done("start", &json!({"task": "PROMPT.md"}))["loopId"].as_str().unwrap().to_owned();
    fixture.world.until_shared("up.1");
    fs::create_dir(&folder).unwrap();
    fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
    fixture.done("steer", &json!({"loopId": id, "text": "Go on."}));
    (1..=3).for_each(|it| go(&fixture.world, it));
    assert_complete_history(&mut fixture.editor, &id);
    fixture.done("check", &json!({"task": "PROMPT.md"}));
}

#[test]
fn an_open_state_folder_is_reported_and_repaired_without_a_restart() {
    let world = thrice().world();
    fs::create_dir(world.terminal.state()).unwrap();
    fs::set_permissions(world.terminal.state(), fs::Permissions::from_mode(0o755)).unwrap();
    let editor = start(world.terminal.command(&["--stdio"]), &world.root(), &json!({}));
    let mut fixture = EditorFixture { editor, world };
    let status = fixture.status(|it| it["health"] == "error");
    let message = status["message"].as_str().unwrap();
    assert!(message.contains("755") && message.contains("chmod 700"), "{message}");
    assert_eq!(status["tasks"][0]["id"], "PROMPT.md", "what it can see it shows");
    let error = fixture.refused("start", &json!({"task": "PROMPT.md"}), "conflict");
    assert!(error["message"].as_str().unwrap().contains("chmod 700"), "{error}");
    fs::set_permissions(fixture.world.terminal.state(), fs::Permissions::from_mode(0o700)).unwrap();
    fixture.show("PROMPT.md");
    fixture.status(|it| it["health"] == "ok");
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "working"));
}

#[test]
fn a_state_folder_that_is_deleted_is_made_again_and_watched_again() {
    let mut fixture = EditorFixture::open(&Scenario { acts: &["echo $n >> log"], ..thrice() });
    let id = fixture.start("PROMPT.md");
    fixture.status(|it| is_in(it, &id, "done"));
    delete(&fixture.world.terminal.state());
    fixture.status(|it| it["loops"] == json!([]) && it["tasks"][0]["state"] == "idle");
    fixture.status(|it| it["tasks"][0]["unknownCommands"] != 0);
    // Detected by its own watches: the server gets no notification.
    fs::write(fixture.path("log"), "").unwrap();
    fixture.world.run(&["run", "--trust", "--json"]).expect(0);
    let status = fixture.status(|it| it["loops"][0]["state"] == "done");
    assert_eq!(status["health"], "ok");
}

#[test]
fn two_servers_show_the_same_and_each_stops_the_others_loop() {
    let mut fixture = EditorFixture::open(&thrice());
    let mut other = fixture.another();
    let id = fixture.start("PROMPT.md");
    fixture.world.until_shared("up.1");
    other.until_last("loopkeeper/status", |_| true, |it| is_in(it, &id, "working"));
    remarks(&other, &fixture.uri("PROMPT.md"), |it| has(it, "failing"));
    done(&mut other, "stop", &json!({"loopId": id, "now": true}));
    let ends = |it: &Value| is_in(it, &id, "done");
    let one = fixture.status(ends);
    let two = other.until_last("loopkeeper/status", |_| true, ends);
    for field in ["health", "loops", "tasks", "trusted"] {
        assert_eq!(one[field], two[field]);
    }
    // Its user just ordered it, in one of the two.
    assert_eq!((fixture.editor.count("loopkeeper/alert"), other.count("loopkeeper/alert")), (0, 0));
}

#[test]
fn changes_by_a_terminal_appear() {
    let mut fixture = EditorFixture::open(&Scenario { acts: &["echo $n >> log"], ..thrice() });
    fixture.status(|it| it["tasks"][0]["state"] == "idle");
    fixture.trust("PROMPT.md");
    fixture.world.run(&["check"]).expect(1);
    fixture.remarks("PROMPT.md", |it| has(it, "failing"));
    fixture.status(|it| it["tasks"][0]["criteria"]["failed"] == 1 && it["tasks"][0]["checking"] == false);
    let run = fixture.world.terminal.command(&["run", "--json"]).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    let id =
        fixture.status(|it| it["loops"][0]["state"] == "done")["loops"][0]["id"].as_str().unwrap().to_owned();
    assert_complete_history(&mut fixture.editor, &id);
    fixture.remarks("PROMPT.md", |it| !has(it, "failing"));
}
