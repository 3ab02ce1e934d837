//! A list of agents: which one takes over when the previous one cannot work, and which returns when it can again.

use super::detached::{WAITS, detached, end, go};
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Limit, Verified};
use crate::support::scenario::{Ends, Scenario};

const DONE: &[&str] = &["It is there: `exists done`"];
const TWO: &str = "agent = [\"mine\", \"other\"]";
const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"0","model":"m","tools":[]}"#;

/// The provider's refusal in Claude Code's output.
fn refused(event: &str, status: u32, text: &str) -> String {
    let result = format!(
        r#"{{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":{status},"result":"{text}","session_id":"0","total_cost_usd":0}}"#
    );
    format!("cat <<END\n{INIT}\n{event}{result}\nEND\nexit 1\n")
}

/// A usage limit with a reset in this many seconds.
fn limited(seconds: u32) -> String {
    let event = format!(
        r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":$(($(date +%s) + {seconds})),"rateLimitType":"five_hour"}}}}"#
    );
    refused(&format!("{event}\n"), 429, "You have hit your limit")
}

/// Work of the agent that is started, recorded in `log`.
fn works(work: &str) -> String {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Working on it.","session_id":"0","total_cost_usd":0}"#;
    format!("echo ${{WHO:-mine}} >> log; {work}\ncat <<'END'\n{INIT}\n{result}\nEND\n")
}

fn scenario<'a>(settings: &'a str, acts: &'a [&'a str], ends: Ends<'a>) -> Scenario<'a> {
    Scenario { criteria: DONE, settings, of_agent: "output = \"claude\"", acts, ends, ..Scenario::default() }
}

#[track_caller]
fn check(acts: &[String], ends: Ends<'_>, agents: &[&str]) -> EndedLoop {
    let acts: Vec<&str> = acts.iter().map(String::as_str).collect();
    let played = scenario(TWO, &acts, ends).play();
    assert_eq!(played.agents(), agents);
    played
}

#[test]
fn a_usage_limit_hands_over_until_its_reset() {
    let acts = [limited(4), works("sleep 7"), works("touch done")];
    let played = check(&acts, Verified(3, "after 3 iterations"), &["mine", "other", "mine"]);
    assert_eq!(played.all("waiting").len(), 0);
    played.file("log", "other\nmine\n");
    let world = &played.world;
    world
        .run(&["log"])
        .expect(0)
        .out("other takes over from mine until ")
        .out(": its usage limit is reached (You have hit your limit)")
        .out("mine works again and replaces other");
}

#[test]
fn a_failed_login_hands_over_to_the_next_agent() {
    let acts = [refused("", 401, "Invalid API key"), works(""), works("touch done")];
    let played = check(&acts, Verified(3, ""), &["mine", "other", "other"]);
    let changes = played.all("agent-changed");
    assert_eq!((changes.len(), &changes[0]["reason"]), (1, &"login".into()));
    played.file("log", "other\nother\n");
}

#[test]
fn three_crashes_hand_over_to_the_next_agent() {
    let crash = || "echo 'no such model' >&2; exit 1".to_owned();
    let acts = [crash(), crash(), crash(), works("touch done")];
    let played = check(&acts, Verified(4, ""), &["mine", "mine", "mine", "other"]);
    assert_eq!(played.all("waiting").len(), 2, "the next begins at once");
    let log = played.world.run(&["log"]);
    log.expect(0).out("other takes over from mine until ").out(": it does not work (exit 1: no such model)");
}

#[test]
fn if_both_are_limited_the_earliest_reset_counts() {
    let acts = [limited(6), limited(600), works("touch done")];
    let played = check(&acts, Verified(3, ""), &["mine", "other", "mine"]);
    let waits = played.all("waiting");
    assert_eq!((waits.len(), &waits[0]["reason"]), (1, &"quota".into()));
    played.file("log", "mine\n");
}

#[test]
fn the_argument_wins_over_the_list() {
    let (limit, work) = (limited(4), works("true"));
    let played = Scenario {
        args: &["--agent", "other", "--max-iterations", "2"],
        ..scenario(TWO, &[&limit, &work], Limit(2, "limit reached: 2 iterations"))
    }
    .play();
    assert_eq!(played.agents(), ["other", "other"], "nobody takes over from it");
    assert_eq!(played.all("waiting").len(), 1);
}

#[test]
fn a_takeover_survives_a_killed_keeper() {
    let (limit, waits) = (limited(600), works(WAITS));
    let (world, id) = detached(&scenario(TWO, &[&limit, &waits], Ends::Open));
    world.until_shared("up.2");
    let status = world.status();
    let note = "other takes over: mine is at its usage limit";
    assert_eq!((&status["agent"], &status["warnings"][0]), (&"other".into(), &note.into()));
    world.run(&["status"]).expect(0).out(&format!("note: {note}"));
    super::recovery::kill(&world, "loopkeeper keeper ");
    world.acts(&[&works("touch done")]);
    go(&world, 2);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 3));
    let changes = world.journal().into_iter().filter(|it| it["type"] == "agent-changed");
    assert_eq!(changes.count(), 1);
    assert!(world.terminal.read("log").ends_with("other\n"), "{}", world.terminal.read("log"));
}

#[test]
fn values_of_variables_that_the_settings_set_stay_in_the_loops_folder() {
    let act = works("touch done; echo \"$TOKEN $SHARED\" > $folder/got");
    let own = "output = \"claude\"\nenv = { TOKEN = \"orange-elephant-4711\" }";
    let settings = "env.set = { SHARED = \"purple-giraffe-0815\" }";
    let acts = [act.as_str()];
    let played = Scenario { of_agent: own, ..scenario(settings, &acts, Verified(1, "")) }.play();
    let got = std::fs::read_to_string(played.world.shared("got")).unwrap();
    assert_eq!(got, "orange-elephant-4711 purple-giraffe-0815\n", "the agent has them");
    let journal = std::fs::read_to_string(played.world.loops()[0].join("journal.jsonl")).unwrap();
    for secret in ["orange-elephant-4711", "purple-giraffe-0815"] {
        assert!(!played.ran.stdout.contains(secret) && !journal.contains(secret), "{secret}");
    }
    let archive = played.world.shared("loop.tar.gz");
    played.world.run(&["export", "latest", "--to", archive.to_str().unwrap()]).expect(0);
    let unpacked = std::process::Command::new("tar").arg("xzOf").arg(&archive).output().unwrap().stdout;
    let unpacked = String::from_utf8_lossy(&unpacked);
    assert!(unpacked.contains("SHARED") && !unpacked.contains("elephant") && !unpacked.contains("giraffe"));
    assert!(journal.contains("TOKEN") && journal.contains("SHARED"), "names are told");
}
