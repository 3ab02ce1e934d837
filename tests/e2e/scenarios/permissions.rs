//! `permissions = "ask"`: an agent that implements the Agent Client Protocol waits for permission.

use std::process::Stdio;

use serde_json::{Value, json};

use super::detached::{detached, end};
use super::recovery::kill;
use crate::cli::Ran;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::Scenario;
use crate::support::world::{World, wait_until};

const ASK: &str = "output = \"acp\"\npermissions = \"ask\"\n";
const DONE: &[&str] = &["It is there: `exists done`"];
/// The response is written to `$folder/reply`.
const WANTS: &str = r#"may '"kind":"execute","rawInput":{"command":"git push\u001b[2J"}' && touch done
printf '%s\n' "$reply" > "$folder/reply.new"; mv "$folder/reply.new" "$folder/reply"
"#;
const WORKS: &str = "touch done; over end_turn";
const REQUEST: &str = "run a command (neither a check of the task nor its test runner): git push^[[2J";

fn wants() -> String {
    format!("{WANTS}over end_turn")
}

/// A loop whose agent waits for its user.
fn asked(acts: &[&str], settings: &str) -> (World, String) {
    let scenario = Scenario { criteria: DONE, of_agent: ASK, acts, settings, ..Scenario::default() };
    let (world, id) = detached(&scenario);
    world.until("question", |it| it["type"] == "asked");
    (world, id)
}

fn replied(world: &World) -> Value {
    world.until_shared("reply");
    let reply = std::fs::read_to_string(world.shared("reply")).unwrap();
    serde_json::from_str::<Value>(&reply).unwrap()["result"]["outcome"].clone()
}

fn all(world: &World, kind: &str) -> Vec<Value> {
    world.journal().into_iter().filter(|it| it["type"] == kind).collect()
}

#[test]
fn the_user_allows_a_request_once() {
    let (world, id) = asked(&[&wants()], "");
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&json!("needsYou"), &json!("needsAnswer")), "{status}");
    let question = &status["question"];
    assert_eq!((&question["kind"], &question["text"]), (&json!("permission"), &json!(REQUEST)));
    assert!(question["expiresAt"].is_string() && !world.has("done"), "{question}");
    world
        .run(&["status"])
        .expect(0)
        .out(&format!(
            "Needs you: iteration 1/25, its one criterion does not pass, the agent wants to {REQUEST}"
        ))
        .out(&format!("`loopkeeper answer {id} allow`"));
    let watch = world.terminal.command(&["watch", &id]).stdout(Stdio::piped()).spawn().unwrap();
    world.run(&["answer", &id, "yes"]).expect(2).err("Answer `allow`, `always` or `deny`");
    world.run(&["answer", &id, "allow"]).expect(0).out(&format!("Allowed once: {REQUEST}"));
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert_eq!(replied(&world), json!({"outcome": "selected", "optionId": "yes"}));
    let run = &all(&world, "agent-ended")[0]["run"];
    assert_eq!(run["denials"], 0, "{run}");
    world.run(&["log"]).expect(0).out(&format!("): the agent wants to {REQUEST}")).out("answered: allow");
    let watched = Ran::of(&watch.wait_with_output().unwrap());
    watched.out(&format!(
        "): the agent wants to {REQUEST}\nHint: `loopkeeper answer {id} allow`, `always` or `deny`"
    ));
}

#[test]
fn the_user_denies_a_request() {
    let (world, id) = asked(&[&wants(), WORKS], "");
    world.run(&["answer", &id, "deny"]).expect(0).out(&format!("Denied: {REQUEST}"));
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    assert_eq!(replied(&world), json!({"outcome": "selected", "optionId": "no"}));
    let run = &all(&world, "agent-ended")[0]["run"];
    assert_eq!(
        (&run["denials"], all(&world, "asked").len()),
        (&json!(1), 1),
        "its denial is asked about no more"
    );
}

#[test]
fn a_permission_for_the_loop_is_not_asked_again() {
    let twice = format!("{WANTS}rm -f done\n{WANTS}over end_turn");
    let (world, id) = asked(&[&twice], "");
    world.run(&["answer", &id, "always"]).expect(0).out(&format!("Allowed for the whole loop: {REQUEST}"));
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert_eq!((all(&world, "asked").len(), all(&world, "answered").len()), (1, 1));
}

#[test]
fn an_unanswered_request_and_later_ones_are_denied() {
    let twice = format!("{WANTS}{WANTS}over end_turn");
    // An agent that worked for this long would be ended, idle or over its time limit.
    let settings = "questions.timeout = \"6s\"\nlimits.idle_time = \"3s\"\nlimits.iteration_time = \"5s\"\n";
    let (world, _) = asked(&[&twice, WORKS], settings);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    assert_eq!((all(&world, "asked").len(), all(&world, "answered").len()), (1, 1));
    let ended = &all(&world, "agent-ended")[0]["run"];
    assert_eq!((&ended["ending"], &ended["denials"]), (&json!("exited"), &json!(2)), "{ended}");
    assert_eq!(replied(&world), json!({"outcome": "selected", "optionId": "no"}));
}

#[test]
fn a_stop_or_pause_cancels_the_question() {
    for order in [["stop"].as_slice(), &["stop", "--now"], &["pause"]] {
        let act = format!("trap '' TERM\n{}", wants());
        let (world, id) = asked(&[&act, WORKS], "limits.grace = \"30s\"\n");
        let (word, now) = order.split_first().unwrap();
        world.run(&[&[*word, id.as_str()], now].concat()).expect(0);
        assert_eq!(replied(&world), json!({"outcome": "cancelled"}), "{order:?}");
        if order == ["pause"] {
            world.until("rest", |it| it["type"] == "iteration-ended");
            wait_until(|| world.status()["state"] == "paused", || world.status().to_string());
            world.run(&["resume", &id]).expect(0);
            assert_eq!(end(&world), ("completed".to_owned(), true, 2));
        } else {
            assert_eq!(end(&world).0, "stopped", "{order:?}");
            assert!(!world.has("done"), "{order:?}");
        }
        assert_eq!(all(&world, "answered").len(), 1);
    }
}

#[test]
fn a_killed_keeper_allows_nothing() {
    let (world, id) = asked(&[&wants(), WORKS], "");
    kill(&world, "loopkeeper keeper ");
    wait_until(|| world.status()["phase"] == "interrupted", || world.status().to_string());
    world.assert_no_process_left();
    let status = world.status();
    assert!(status.get("question").is_none() && !world.has("done"), "{status}");
    world.run(&["answer", &id, "allow"]).expect(1).err("is interrupted");
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    assert_eq!(all(&world, "answered").len(), 0);
}

#[test]
fn unattended_loops_ask_no_permission() {
    let act = wants();
    let acts = [act.as_str(), WORKS];
    let scenario = || Scenario {
        criteria: DONE,
        of_agent: ASK,
        acts: &acts,
        ends: Verified(2, ""),
        ..Scenario::default()
    };
    let played = scenario().play();
    assert_eq!(played.all("asked").len(), 0);
    // Control: without `ask` the policy alone decides, attended or not; the user is informed afterwards.
    let (world, id) = detached(&Scenario { of_agent: "output = \"acp\"\n", ..scenario() });
    assert_eq!(replied(&world), json!({"outcome": "selected", "optionId": "no"}));
    assert_eq!(world.until("question", |it| it["type"] == "asked")["kind"], "denied");
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
}

#[test]
fn only_agents_by_protocol_may_ask() {
    let world = Scenario { criteria: DONE, acts: &[WORKS], ..Scenario::default() }.world();
    world.terminal.file("loopkeeper.toml", "agent = \"claude\"\n[agents.claude]\npermissions = \"ask\"\n");
    world.run(&["run"]).expect(2).err("cannot be `ask`").err("output = \"acp\"");
}
