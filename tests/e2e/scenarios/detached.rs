//! Loops that outlive the terminal they were started in: displayed, steered, stopped and resumed from others.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::support::scenario::{Scenario, task};
use crate::support::world::World;

/// Signals that it is up, then works until the test releases it.
pub(crate) const WAITS: &str =
    "echo $n >> log; touch $folder/up.$n; until [ -f $folder/go.$n ]; do sleep 0.02; done";

pub(crate) fn detached(scenario: &Scenario<'_>) -> (World, String) {
    let world = scenario.world();
    let ran = world.run(&["run", "--trust", "--detach", "--json"]);
    let started: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
    let id = started["loopId"].as_str().unwrap().to_owned();
    (world, id)
}

pub(crate) fn go(world: &World, number: u32) {
    fs::write(world.shared(&format!("go.{number}")), "").unwrap();
}

/// Pauses a loop whose agent [`WAITS`], and waits for the end of its first iteration.
pub(crate) fn pause_after_the_first(world: &World, id: &str) {
    world.until_shared("up.1");
    world.run(&["pause", id]).expect(0);
    go(world, 1);
    world.until("end of the iteration", |it| it["type"] == "iteration-ended");
}

/// The outcome's kind, whether it was verified, and the iterations of the newest loop, once it has ended.
#[track_caller]
pub(crate) fn end(world: &World) -> (String, bool, u64) {
    let record = world.until("end", |it| it["type"] == "ended");
    let outcome = &record["outcome"];
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&"done".into(), &"ended".into()));
    assert_eq!(&status["outcome"], outcome);
    world.assert_no_process_left();
    let kind = outcome["kind"].as_str().unwrap().to_owned();
    (kind, outcome["verified"].as_bool().unwrap(), status["iteration"].as_u64().unwrap())
}

pub(crate) fn kinds(world: &World) -> Vec<String> {
    world.journal().iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_detached_loop_completes() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 2`"],
        before: "touch log",
        acts: &[WAITS],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    let status = world.status();
    assert_eq!(
        (&status["id"], &status["state"], &status["phase"]),
        (&id.as_str().into(), &"working".into(), &"iterating".into())
    );
    assert_eq!((&status["iteration"], &status["criteria"]["failed"]), (&1.into(), &1.into()));
    assert!(status["keeper"]["alive"].as_bool().unwrap() && status["keeper"]["pid"].is_u64());
    world.run(&["status"]).expect(0).out(&id);
    let watch = world.terminal.command(&["watch", "--json", &id]).stdout(Stdio::piped()).spawn().unwrap();
    go(&world, 1);
    world.until_shared("up.2");
    go(&world, 2);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let watched = watch.wait_with_output().unwrap();
    assert_eq!(watched.status.code(), Some(0));
    let last: Value =
        serde_json::from_str(String::from_utf8_lossy(&watched.stdout).lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["iterations"]), (&"ended".into(), &2.into()));
    assert!(world.status()["keeper"]["pid"].is_null());
}

#[test]
fn a_detached_loop_is_paused_steered_and_resumed() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 2`"],
        before: "touch log",
        acts: &[WAITS],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    world.run(&["pause", &id]).expect(0).out("pauses after this iteration (1)");
    world.run(&["steer", &id, "Mind the gap, please."]).expect(0);
    go(&world, 1);
    world.until("end of the iteration", |it| it["type"] == "iteration-ended");
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&"paused".into(), &"paused".into()));
    // While paused, the checks run immediately, and the files may be restored.
    world.run(&["check"]).expect(1).out("Enough");
    go(&world, 2);
    world.run(&["resume"]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let second_prompt = world.prompt(2);
    assert!(
        second_prompt.contains("## The user says, while you work\n\nMind the gap, please."),
        "{second_prompt}"
    );
    world.run(&["resume", &id]).expect(1).err("has ended");
    world.run(&["steer", &id, "Too late."]).expect(1).err("has ended");
    world.run(&["stop", &id]).expect(1).err("has ended");
}

#[test]
fn a_stop_ends_the_loop_after_its_iteration() {
    let (world, id) =
        detached(&Scenario { criteria: &["Far: `exists nowhere`"], acts: &[WAITS], ..Scenario::default() });
    world.until_shared("up.1");
    world.run(&["stop", &id]).expect(0).out("stops after this iteration (1)");
    assert_eq!(world.status()["phase"], "stopping");
    for order in [&["pause"][..], &["resume"], &["steer", &id, "Mind the gap."]] {
        world.run(order).expect(1).err("the loop is stopping");
    }
    go(&world, 1);
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
    assert_eq!(world.starts(), 1);
    assert!(kinds(&world).contains(&"checks-done".to_owned()));
    world.run(&["watch", &id]).expect(1).out("Stopped after 1 iteration");
}

#[test]
fn a_stop_at_once_ends_the_agent() {
    let (world, _) = detached(&Scenario {
        criteria: &["Far: `exists nowhere`"],
        acts: &["trap '' TERM; (setsid sleep 600 &); touch $folder/up; while :; do sleep 600; done"],
        ..Scenario::default()
    });
    world.until_shared("up");
    world.run(&["stop", "--now"]).expect(0);
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
}

#[test]
fn an_open_breaker_waits_for_its_user() {
    let (world, id) = detached(&Scenario {
        criteria: &["It is there: `exists done`"],
        settings: "breaker.max_trips = 1\nbreaker.fast_failures = 99",
        acts: &["true", "true", "true"],
        ..Scenario::default()
    });
    world.until("pause", |it| it["type"] == "paused" && it["reason"] == "breaker");
    let status = world.status();
    assert_eq!((&status["state"], &status["breaker"]["state"]), (&"needsYou".into(), &"open".into()));
    assert_eq!((world.starts(), &status["pause"]["reason"]), (3, &"breaker".into()));
    // Resuming allows a trial of one iteration: without progress the breaker opens again.
    world.run(&["resume", &id]).expect(0);
    world.until("second pause", |_| world.journal().iter().filter(|it| it["type"] == "paused").count() == 2);
    assert_eq!(world.starts(), 4);
    world.acts(&["true", "touch done"]);
    world.run(&["reset", "breaker", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 6));
}

#[test]
fn iterations_are_logged_compared_and_rolled_back() {
    let world = Scenario {
        files: &[("text", "zero\n")],
        criteria: &["Two: `has \"two\" text`"],
        acts: &["echo one > text; echo new > extra; echo I wrote one", "true", "echo two > text; rm extra"],
        ..Scenario::default()
    }
    .world();
    world.run(&["status"]).expect(0).out("No loops.").out("Tasks here\n  PROMPT.md  ").out("1 criterion\n");
    world.run(&["run", "--trust"]).expect(0).out("Completed, verified");
    world.run(&["log", "--output", "1"]).expect(0).out("I wrote one\n");
    world
        .run(&["log", "--output", "4"])
        .expect(2)
        .err("has no output of iteration 4")
        .err("Its iterations are 1 to 3");
    world.run(&["log"]).expect(0).out("ompleted, verified");
    let log = world.run(&["log", "--json"]);
    let lines: Vec<Value> =
        log.expect(0).stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines, world.journal());
    world.run(&["diff", "latest", "1"]).expect(0).out("-zero\n+one\n").out("+new\n");
    let nothing = world.run(&["diff", "latest", "2"]);
    assert_eq!(nothing.expect(0).err("Iteration 2 changed no file").stdout, "");
    world.run(&["diff", "latest", "3"]).expect(0).out("-one\n+two\n").out("-new\n");
    world.run(&["diff", "latest"]).expect(0).out("-zero\n+two\n");
    world.run(&["diff"]).expect(0).out("-zero\n+two\n");
    world.run(&["diff", "latest", "4"]).expect(2).err("has no iteration 4");
    world.terminal.file("mine", "of the user\n");
    world.run(&["rollback", "latest", "1"]).expect(1).err("mine").err("--anyway");
    world.run(&["rollback", "latest", "1", "--anyway"]).expect(0).out("Restored the files as of iteration 1");
    assert_eq!(
        (world.terminal.read("text"), world.has("extra"), world.has("mine")),
        ("one\n".to_owned(), true, false)
    );
    world.run(&["rollback", "latest", "3"]).expect(0);
    assert_eq!((world.terminal.read("text"), world.has("extra")), ("two\n".to_owned(), false));
    world.run(&["rollback", "latest", "9"]).expect(2).err("has no snapshot after iteration 9");
}

#[test]
fn a_paused_loop_can_be_rolled_back_and_a_working_one_cannot() {
    let (world, id) =
        detached(&Scenario { criteria: &["Far: `exists nowhere`"], acts: &[WAITS], ..Scenario::default() });
    world.until_shared("up.1");
    world.run(&["rollback", &id, "0"]).expect(1).err("the loop is running").err("Hint: `loopkeeper pause` ");
    world.run(&["pause", &id]).expect(0);
    go(&world, 1);
    world.until("end of the iteration", |it| it["type"] == "iteration-ended");
    world.run(&["rollback", &id, "0"]).expect(0);
    assert!(!world.has("log"));
    world.run(&["rollback", &id, "1"]).expect(0);
    assert_eq!(world.terminal.read("log"), "1\n");
    world.run(&["stop", &id]).expect(0);
    assert_eq!(end(&world), ("stopped".to_owned(), false, 1));
}

#[test]
fn the_users_edit_of_the_task_is_taken_up() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ test -f done`"],
        acts: &[WAITS],
        ..Scenario::default()
    });
    pause_after_the_first(&world, &id);
    // A file check and a changed name need no trust.
    world.terminal.file(
        "PROMPT.md",
        &(task(&["Enough: `$ test -f done`", "Also this: `exists also`"]) + "\nBe quick.\n"),
    );
    world.acts(&["touch done", "touch also"]);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 3));
    let second_prompt = world.prompt(2);
    assert!(
        second_prompt.contains("Be quick.") && second_prompt.contains("### Also this"),
        "{second_prompt}"
    );
}

#[test]
fn a_command_that_the_user_adds_needs_trust() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ test -f done`"],
        acts: &[WAITS],
        ..Scenario::default()
    });
    pause_after_the_first(&world, &id);
    world.terminal.file("PROMPT.md", &task(&["Enough: `$ test -f done`", "New: `$ touch $HOME/canary`"]));
    world.acts(&["touch done"]);
    world.run(&["resume", &id]).expect(0);
    let paused = world.until("pause", |it| it["type"] == "paused" && it["reason"] == "trust");
    assert!(paused["message"].as_str().unwrap().contains("New"), "{paused}");
    assert_eq!(
        (&world.status()["state"], &world.status()["phase"]),
        (&"needsYou".into(), &"untrusted".into())
    );
    let canary = world.terminal.folder().join("home/canary");
    assert!(!canary.exists());
    assert_eq!(world.starts(), 1);
    // The user reverts it: no trust is needed any more.
    world.terminal.file("PROMPT.md", &task(&["Enough: `$ test -f done`"]));
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    assert!(!canary.exists());
}

#[test]
fn a_missing_login_waits_for_its_user() {
    let failed = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401,"duration_ms":5,"num_turns":1,"result":"Please run /login","session_id":"0","total_cost_usd":0,"usage":{}}"#;
    let act = format!("echo '{failed}'; exit 1");
    let (world, id) = detached(&Scenario {
        criteria: &["It is there: `exists done`"],
        of_agent: "output = \"claude\"",
        acts: &[&act],
        ..Scenario::default()
    });
    world.until("pause", |it| it["type"] == "paused" && it["reason"] == "agent");
    assert_eq!((world.starts(), &world.status()["state"]), (1, &"needsYou".into()));
    let done = failed.replace("true", "false").replace("api_error\"", "completed\"").replace("401", "null");
    world.acts(&[&format!("touch done; echo '{done}'")]);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn work_finished_by_hand_needs_no_further_start() {
    let (world, id) = detached(&Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &[WAITS],
        ..Scenario::default()
    });
    pause_after_the_first(&world, &id);
    world.terminal.file("done", "by hand\n");
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert_eq!(world.starts(), 1);
}

#[test]
fn after_a_rollback_the_prompt_has_the_current_results() {
    let (world, id) = detached(&Scenario {
        criteria: &["One: `exists one`", "Two: `exists two`"],
        acts: &[&format!("touch one; {WAITS}"), "touch one two"],
        ..Scenario::default()
    });
    pause_after_the_first(&world, &id);
    world.run(&["rollback", &id, "0"]).expect(0);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let second_prompt = world.prompt(2);
    assert!(
        second_prompt.contains("What fails: 2 of 2 checks")
            && second_prompt.contains("Its changes were rolled back"),
        "{second_prompt}"
    );
}
