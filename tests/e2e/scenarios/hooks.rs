//! `[on]`: the user's own commands run once for each event, and the loop does not depend on them.

use std::fs;

use serde_json::Value;

use super::detached::{WAITS, detached, end, go};
use crate::support::scenario::Ends::{Breaker, Limit, Verified};
use crate::support::scenario::Scenario;
use crate::support::world::World;

const TWICE: &str = "Enough: `$ wc -l < log` `>= 2`";

/// Each command appends its event to a file next to the work tree.
const HOOKS: &str = r#"
[on]
iteration_start = ["sh", "-c", "cat >> ../agent/told; echo $LOOPKEEPER_EVENT >> ../agent/events"]
iteration_end = ["sh", "-c", "cat >> ../agent/told; echo $LOOPKEEPER_EVENT >> ../agent/events"]
needs_you = ["sh", "-c", "cat >> ../agent/told; echo $LOOPKEEPER_EVENT >> ../agent/events"]
ended = ["sh", "-c", "sleep 0.3; cat >> ../agent/told; echo $LOOPKEEPER_EVENT >> ../agent/events"]
"#;

fn payloads(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(world.shared("told")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn events(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.shared("events")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The log of a detached loop's keeper.
fn notes(world: &World) -> String {
    fs::read_to_string(world.loops().pop().unwrap().join("keeper.log")).unwrap()
}

#[test]
fn every_event_runs_its_hook_once_with_its_payload() {
    let played = Scenario {
        criteria: &[TWICE],
        before: "touch log",
        settings: HOOKS,
        acts: &["grep -c . $folder/events >> $folder/before; echo $n >> log"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    let payloads = payloads(&played.world);
    let mut words: Vec<&str> = payloads.iter().map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!(words[0], "iteration-start");
    // Commands of different kinds run concurrently, without a defined order.
    words.sort_unstable();
    assert_eq!(words, ["ended", "iteration-end", "iteration-end", "iteration-start", "iteration-start"]);
    let mut events = events(&played.world);
    events.sort_unstable();
    assert_eq!(events, words, "the environment says the same");
    let of = |event: &str| payloads.iter().find(|it| it["event"] == event).unwrap();
    let first_line = fs::read_to_string(played.world.shared("before")).unwrap();
    assert!(first_line.starts_with("1\n"), "the agent starts after its hook: {first_line}");
    let end = of("iteration-end");
    assert_eq!((&end["iteration"], &end["changed"]["files"][0]), (&1.into(), &"log".into()));
    assert_eq!(end["root"], played.world.root().canonicalize().unwrap().to_str().unwrap());
    assert_eq!((&end["criteria"]["failed"], &end["criteria"]["total"]), (&1.into(), &1.into()));
    let last = of("ended");
    assert_eq!((&last["outcome"]["kind"], &last["spent"]["calls"]), (&"completed".into(), &2.into()));
}

#[test]
fn a_hook_that_hangs_fails_or_leaves_daemons_delays_nothing() {
    let (world, _) = detached(&Scenario {
        criteria: &["Far away: `exists nowhere`"],
        settings: "limits.iterations = 2\n[on]\ntimeout = \"5s\"\n\
            iteration_start = [\"sh\", \"-c\", \"setsid sleep 600 & exit 0\"]\n\
            iteration_end = [\"sh\", \"-c\", \"echo stuck >&2; sleep 600\"]\n\
            ended = [\"sh\", \"-c\", \"echo its last word >&2; exit 3\"]",
        acts: &["echo $n >> log"],
        ..Scenario::default()
    });
    world.until("end", |it| it["type"] == "ended");
    world.assert_no_process_left();
    let ended = world.journal();
    let at = |kind: &str, n: u64| {
        let found = ended.iter().find(|it| it["type"] == kind && it["iteration"] == n).unwrap();
        found["up"].as_u64().unwrap()
    };
    assert!(at("iteration-intended", 2) - at("iteration-ended", 1) < 4_500, "the loop waited for its hook");
    let notes = notes(&world);
    let has = |text: &str| assert!(notes.contains(text), "no {text:?} in:\n{notes}");
    has("`on.iteration_start` left processes behind, which were ended: ");
    has("`on.iteration_end` took longer than 5000 ms and was ended: stuck");
    has("`on.ended` failed with exit 3: its last word");
    let mut failed: Vec<&str> = ended
        .iter()
        .filter(|it| it["type"] == "hook-failed")
        .map(|it| it["event"].as_str().unwrap())
        .collect();
    failed.sort_unstable();
    assert_eq!(failed, ["ended", "iteration-end", "iteration-start"], "each is told once");
    let last_word = "the command of `on.ended` failed with exit 3: its last word";
    world.run(&["log"]).expect(0).out(last_word);
    world.run(&["status"]).expect(0).out(last_word);
}

#[test]
fn a_stop_does_not_wait_for_what_comes_before_the_agent() {
    let (world, id) = detached(&Scenario {
        criteria: &["Far away: `exists nowhere`"],
        settings: "[on]\niteration_start = [\"sh\", \"-c\", \"touch ../agent/begun; sleep 600\"]",
        acts: &["echo $n >> log"],
        ..Scenario::default()
    });
    world.until_shared("begun");
    world.run(&["stop", "--now", &id]).expect(0);
    assert_eq!(end(&world).0, "stopped");
    assert_eq!(world.starts(), 0, "the agent was never started");
}

#[test]
fn a_new_keeper_runs_hooks_only_for_new_events() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 3`"],
        before: "touch log",
        settings: HOOKS,
        acts: &[WAITS],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    go(&world, 1);
    world.until_shared("up.2");
    let pid = world.status()["keeper"]["pid"].to_string();
    world.shell(&format!("kill -9 {pid}; while kill -0 {pid} 2>/dev/null; do sleep 0.02; done"));
    world.acts(&["echo $n >> log"]);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 3));
    let payloads = payloads(&world);
    let ends: Vec<&Value> = payloads.iter().filter(|it| it["event"] == "iteration-end").collect();
    let numbers: Vec<u64> = ends.iter().map(|it| it["iteration"].as_u64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "told again: {numbers:?}");
    assert_eq!((numbers.first(), numbers.last()), (Some(&1), Some(&3)));
    assert_eq!(payloads.iter().filter(|it| it["event"] == "ended").count(), 1);
}

#[test]
fn the_hook_of_a_pause_has_the_reason() {
    let (world, id) = detached(&Scenario {
        criteria: &["Far away: `exists nowhere`"],
        settings: &format!("breaker.no_progress = 1\nbreaker.max_trips = 1\n{HOOKS}"),
        acts: &["true"],
        ..Scenario::default()
    });
    world.until_shared("told");
    crate::support::world::wait_until(
        || events(&world).contains(&"needs-you".to_owned()),
        || format!("no question was asked: {:?}\n{:#?}", payloads(&world), world.journal()),
    );
    let payloads = payloads(&world);
    let asked = payloads.iter().find(|it| it["event"] == "needs-you").unwrap();
    assert!(!asked["text"].as_str().unwrap().is_empty() && asked["reason"].is_string(), "{asked}");
    world.run(&["stop", "--now", &id]).expect(0);
    world.until("end", |it| it["type"] == "ended");
    world.assert_no_process_left();
}

#[test]
fn the_warning_hook_runs_once_before_the_loop_stops() {
    let played = Scenario {
        criteria: &["Far away: `exists nowhere`"],
        settings: "[breaker]\nfast_failures = 99\nmax_trips = 1\n[on]\nwarning = [\"sh\", \"-c\", \"cat >> ../agent/told\"]",
        acts: &["true"],
        ends: Breaker(3, "3 iterations without a file change"),
        ..Scenario::default()
    }
    .play();
    let payloads = payloads(&played.world);
    assert_eq!(payloads.len(), 1, "{payloads:#?}");
    assert_eq!((&payloads[0]["event"], &payloads[0]["warning"]), (&"warning".into(), &"stall-ahead".into()));
    assert_eq!(payloads[0]["text"], "2 iterations without a file change; the breaker opens at 3");
}

#[test]
fn hooks_of_the_user_need_no_trust_and_those_of_the_tree_do() {
    let scenario = Scenario {
        criteria: &["Far away: `exists nowhere`"],
        settings: "limits.iterations = 1",
        acts: &["echo $n >> log"],
        ..Scenario::default()
    };
    let world = scenario.world();
    // The user's own commands are trusted; only the others need trust.
    let own = world.terminal.folder().join("home/.config/loopkeeper/config.toml");
    let hook = "[on]\nended = [\"sh\", \"-c\", \"touch ../agent/mine\"]\n";
    fs::write(&own, format!("limits.grace = \"300ms\"\n{hook}")).unwrap();
    let page = world.run(&["trust"]);
    assert!(page.stdout.lines().all(|it| !it.starts_with("hook ")), "{}", page.stdout);
    world.run(&["run", "--trust"]).expect(4);
    assert!(world.shared("mine").exists());
    // Commands of the tree need trust, and nothing starts without it.
    let file = world.root().join("loopkeeper.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, before + "[on]\niteration_end = [\"touch\", \"../agent/theirs\"]\n").unwrap();
    let starts = world.starts();
    world.run(&["run"]).expect(5);
    world.run(&["trust"]).expect(5).out("hook        iteration_end\n    touch ../agent/theirs\n");
    assert_eq!((world.starts(), world.shared("theirs").exists()), (starts, false));
    world.run(&["run", "--trust"]).expect(4);
    assert!(world.shared("theirs").exists());
}

#[test]
fn dry_run_and_check_start_no_hook() {
    let world = Scenario {
        criteria: &["It is there: `exists PROMPT.md`"],
        settings: HOOKS,
        acts: &["true"],
        ends: Limit(0, ""),
        ..Scenario::default()
    }
    .world();
    world.run(&["run", "--dry-run"]).expect(0);
    world.run(&["check"]).expect(0);
    assert_eq!(payloads(&world), Vec::<Value>::new());
}
