//! Sessions of the agent: fresh by default, resumed if configured, abandoned for a documented reason.

use super::detached::{WAITS, detached, end, go};
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::{Scenario, task};

/// Records how it was started, with Claude Code's output format.
const CLAUDE: &str = r#"echo "$1 $2" >> starts
if [ "$1 $(wc -l < starts)" = "--resume ${forgets:-0}" ]; then
  echo "No conversation found with session ID: $2" >&2
  echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"]}'
  exit 1
fi
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$2\",\"model\":\"m\"}"
echo '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"ok"}'
"#;
const OF_AGENT: &str =
    "output = \"claude\"\ncommand = [\"/bin/sh\", \"agent.sh\", \"--session-id\", \"{session}\"]\n";

/// Runs until the agent was started four times.
fn four(settings: &str, agent: &str) -> EndedLoop {
    let task = task(&["Enough: `$ wc -l < starts` `>= 4`"]);
    Scenario {
        files: &[("PROMPT.md", &task), ("agent.sh", agent)],
        settings,
        of_agent: OF_AGENT,
        before: "touch starts",
        ends: Verified(4, ""),
        ..Scenario::default()
    }
    .play()
}

/// `1 1+ 3`: for each start, the start whose session it was given, with `+` if it was resumed.
fn starts(played: &EndedLoop) -> String {
    let text = played.world.terminal.read("starts");
    let ids: Vec<(&str, &str)> = text.lines().filter_map(|it| it.split_once(' ')).collect();
    let first = |id: &str| ids.iter().position(|it| it.1 == id).unwrap() + 1;
    let one = |(how, id): &(&str, &str)| match *how {
        "--resume" => format!("{}+", first(id)),
        _ => first(id).to_string(),
    };
    ids.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn reasons(played: &EndedLoop) -> Vec<&str> {
    played.all("session-changed").iter().filter_map(|it| it["reason"].as_str()).collect()
}

#[test]
fn sessions_are_fresh_unless_set_to_continue() {
    let fresh = four("", CLAUDE);
    assert_eq!((starts(&fresh).as_str(), reasons(&fresh)), ("1 2 3 4", vec![]));
    fresh
        .world
        .run(&["log", "--sessions"])
        .expect(0)
        .out("Every iteration of this loop starts a fresh session.");
    fresh.world.run(&["reset", "session"]).expect(0).out("there is nothing to reset");
    let on = four("session.continue = true", CLAUDE);
    assert_eq!((starts(&on).as_str(), reasons(&on)), ("1 1+ 1+ 1+", vec!["started", "ended"]));
    assert_eq!(on.record("iteration-intended", 2)["resumed"], true);
    on.world.run(&["log", "--sessions"]).expect(0).out("begins").out("is closed: the loop ended");
}

#[test]
fn an_unused_session_is_not_resumed() {
    let played =
        four("session.continue = true\nsession.expires = \"1ms\"\nlimits.between = \"20ms\"", CLAUDE);
    assert_eq!(starts(&played), "1 2 3 4");
    assert_eq!(reasons(&played), ["started", "expired", "expired", "expired", "ended"]);
}

#[test]
fn a_lost_session_is_replaced_without_a_crash() {
    let forgets = format!("forgets=2\n{CLAUDE}");
    let played = four("session.continue = true", &forgets);
    assert_eq!(
        (starts(&played).as_str(), reasons(&played)),
        ("1 1+ 3 3+", vec!["started", "refused", "started", "ended"])
    );
    assert_eq!(played.record("agent-ended", 2)["run"]["sessionLost"], true);
    assert!(played.all("waiting").is_empty(), "nothing is waited for");
}

#[test]
fn the_environment_names_the_session_and_a_reset_starts_another() {
    let act =
        format!("echo \"$LOOPKEEPER_SESSION ${{LOOPKEEPER_SESSION_RESUMED:-0}}\" >> $folder/ids\n{WAITS}");
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 3`"],
        settings: "session.continue = true",
        before: "touch log",
        acts: &[&act],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    go(&world, 1);
    world.until_shared("up.2");
    let status = world.status();
    assert_eq!(status["session"]["resets"], 0);
    world.run(&["reset", "session", &id]).expect(0).out("begins a fresh session");
    go(&world, 2);
    world.until_shared("up.3");
    assert_eq!(world.status()["session"]["resets"], 1);
    go(&world, 3);
    assert_eq!(end(&world), ("completed".to_owned(), true, 3));
    let ids = std::fs::read_to_string(world.shared("ids")).unwrap();
    let ids: Vec<(&str, &str)> = ids.lines().filter_map(|it| it.split_once(' ')).collect();
    assert_eq!(ids.iter().map(|it| it.1).collect::<Vec<_>>(), ["0", "1", "0"]);
    assert!(ids[0].0 == ids[1].0 && ids[1].0 != ids[2].0, "{ids:?}");
    assert_eq!(status["session"]["id"], ids[0].0);
    world.run(&["log", "--sessions"]).expect(0).out("a fresh one was requested");
}
