//! Subagents share one budget: an agent that calls `loopkeeper hook pre-tool` before it starts one gets the reason of a
//! refusal, however many it requests at once, and recounting gives the same result.

use serde_json::Value;

use super::detached::{WAITS, detached, end, go};
use super::recovery::kill;
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Limit, Verified};
use crate::support::scenario::Scenario;

/// The agent's hook calls: `ask NAME [SUBAGENT]`, `began ID`, `over ID`.
const HOOKS: &str = r#"
tell() { printf '{"session_id":"%s"%s}' "${session:-$LOOPKEEPER_SESSION}" "$2" | "$HOOK" hook "$1" 2>> "$folder/let-through"; }
ask() { tell pre-tool "${2:+,\"agent_id\":\"$2\"},\"tool_use_id\":\"call-$1\",\"tool_input\":{\"description\":\"look $1\"}" > "$folder/answer.$1"; }
began() { tell subagent-start ",\"agent_id\":\"$1\",\"agent_type\":\"general\""; }
over() { tell subagent-stop ",\"agent_id\":\"$1\""; }
"#;

fn settings(spawns: &str) -> String {
    let binary = env!("CARGO_BIN_EXE_loopkeeper");
    format!("limits.iterations = 2\n[spawns]\n{spawns}[env.set]\nHOOK = \"{binary}\"\n")
}

fn act(does: &str) -> String {
    format!("{HOOKS}{does}")
}

fn played(spawns: &str, does: &str) -> EndedLoop {
    Scenario {
        criteria: &["Done: `exists done`"],
        settings: &settings(spawns),
        acts: &[&act(&format!("{does}\ntouch done"))],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play()
}

/// The response to the request of this name; `None`: allowed.
fn answer(played: &EndedLoop, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(played.world.shared(&format!("answer.{name}"))).expect("an answer");
    let answer = serde_json::from_str::<Value>(&text).ok()?;
    let reply = &answer["hookSpecificOutput"];
    assert_eq!(
        (&reply["hookEventName"], &reply["permissionDecision"]),
        (&"PreToolUse".into(), &"deny".into())
    );
    Some(reply["permissionDecisionReason"].as_str().expect("a reason").to_owned())
}

#[test]
fn the_budget_holds_for_concurrent_requests() {
    let many = "for it in 1 2 3 4 5 6 7 8; do ask $it & done; wait";
    let played = played("budget = 3\nper_agent = 9\nchildren = 9\n", many);
    let refused: Vec<String> = (1..=8).filter_map(|it| answer(&played, &it.to_string())).collect();
    assert_eq!(refused.len(), 5, "three may start");
    assert!(refused.iter().all(|it| it.contains("budget, 3 subagents, is used up")), "{refused:?}");
    let asked = played.all("subagent-asked");
    assert_eq!((asked.len(), asked.iter().filter(|it| it["refused"].is_null()).count()), (8, 3));
}

#[test]
fn a_subagents_own_draw_on_its_parents_budget_and_are_shown_below_it() {
    let nested = "ask 1; began a; ask 2 a; began b; ask 3 b; over b; ask 4 a; began c; ask 5; ask 6 a";
    let played = played("budget = 4\n", nested);
    let why = |name: &str| answer(&played, name).unwrap_or_default();
    assert_eq!([why("1"), why("2"), why("4"), why("5")], [""; 4]);
    assert!(why("3").contains("nest 2 deep"), "{}", why("3"));
    assert!(why("6").contains("budget, 4 subagents"), "{}", why("6"));
    let status = played.world.status();
    let spawns = &status["spawns"];
    assert_eq!((&spawns["used"], &spawns["budget"]), (&4.into(), &4.into()), "{spawns}");
    assert_eq!((&spawns["depth"], &spawns["refused"]), (&2.into(), &2.into()), "{spawns}");
    played.world.run(&["status"]).expect(0).out("4 of 4 subagents, 2 deep, 2 refused");
    let log = played.world.run(&["log"]);
    log.expect(0)
        .out("subagent b started by subagent a with call-2: general")
        .out("subagent a asked for a subagent (look 6): not started: the loop's budget")
        .out("subagent b ended");
}

/// Control: calls that are not by the loop's session are counted nowhere.
#[test]
fn other_sessions_are_let_through_uncounted() {
    let nested =
        "session=another; ask 1; began a; session=; LOOPKEEPER_LOOP=${LOOPKEEPER_LOOP%:*}:guessed ask 2";
    let played = played("budget = 1\n", nested);
    assert_eq!([answer(&played, "1"), answer(&played, "2")], [None, None]);
    assert_eq!(played.all("subagent-asked").len() + played.all("subagent-started").len(), 0);
    assert_eq!(played.world.status()["spawns"]["used"], 0);
}

#[test]
fn a_killed_keeper_loses_no_count() {
    let asks = act(&format!("ask $n.1; began a.$n; ask $n.2 a.$n; {WAITS}"));
    let (world, id) = detached(&Scenario {
        criteria: &["Far: `exists nowhere`"],
        settings: &settings("budget = 3\n"),
        acts: &[&asks],
        ends: Limit(2, ""),
        ..Scenario::default()
    });
    world.until_shared("up.1");
    let seen = world.run(&["status"]);
    seen.expect(0)
        .out("2 of 3 subagents, 2 deep")
        .out("\n  look 1.1 (a.1, started)\n    look 1.2 (about to start)\n");
    kill(&world, "loopkeeper keeper ");
    assert_eq!(world.status()["spawns"]["used"], 2);
    world.run(&["resume", &id]).expect(0);
    world.until_shared("up.2");
    let spawns = world.status()["spawns"].clone();
    assert_eq!((&spawns["used"], &spawns["inIteration"]), (&3.into(), &1.into()), "{spawns}");
    assert_eq!(spawns["agents"][0]["id"], "a.2", "those of the killed one are gone: {spawns}");
    let refused = std::fs::read_to_string(world.shared("answer.2.2")).expect("an answer");
    assert!(refused.contains("budget, 3 subagents, is used up"), "{refused}");
    go(&world, 2);
    assert_eq!(end(&world), ("limit".to_owned(), false, 2));
}
