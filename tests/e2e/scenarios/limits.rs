//! Limits that end a loop or make it wait.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::detached::detached;
use crate::cli::Ran;
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Limit, Verified};
use crate::support::scenario::{Ends, Scenario};
use crate::support::world::{World, wait_until};

const FAR: &[&str] = &["Far away: `exists nowhere`"];

#[test]
fn the_limit_of_iterations_ends_a_loop() {
    let played = Scenario {
        criteria: FAR,
        settings: "limits.iterations = 3",
        acts: &["echo $n >> log"],
        ends: Limit(3, "limit reached: 3 iterations"),
        ..Scenario::default()
    }
    .play();
    played
        .prompt_has(1, "Remaining after this iteration: 2 iterations")
        .prompt_has(3, "iteration 3 of at most 3");
    played.file("log", "1\n2\n3\n");
}

#[test]
fn a_limit_of_the_command_line_replaces_the_setting() {
    Scenario {
        criteria: FAR,
        settings: "limits.iterations = 9",
        args: &["--max-iterations", "1"],
        acts: &["echo $n >> log"],
        ends: Limit(1, "limit reached: 1 iteration"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn completion_in_the_last_iteration_is_completion() {
    Scenario {
        criteria: &["It is there: `exists done`"],
        args: &["--max-iterations", "1"],
        acts: &["touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn duration_ends_a_running_agent() {
    let played = Scenario {
        criteria: FAR,
        args: &["--max-duration", "5s"],
        acts: &["echo $n >> log; sleep 600"],
        ends: Limit(1, "limit reached: 5.0 s of work, after 1 iteration"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("agent-ended", 1)["run"]["ending"], "timed-out");
}

#[test]
fn a_loop_waits_between_iterations() {
    let played = Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 2`"],
        before: "touch log",
        settings: "limits.between = \"300ms\"",
        acts: &["echo $n >> log"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("waiting").len(), 1, "nothing is waited for after the last");
    assert_eq!(played.all("waiting")[0]["reason"], "between");
    let up = |kind: &str, iteration| played.record(kind, iteration)["up"].as_u64().unwrap();
    assert!(up("iteration-intended", 2) - up("iteration-ended", 1) >= 300);
}

#[test]
fn a_wait_ends_with_the_time_of_the_loop() {
    Scenario {
        criteria: FAR,
        settings: "limits.between = \"1h\"",
        args: &["--max-duration", "5s"],
        acts: &["echo $n >> log"],
        ends: Limit(1, "limit reached: the next iteration is due after the 5.0 s of this loop"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn the_limit_of_tokens_ends_a_loop() {
    let act = format!("echo $n >> log; {}", claude(ANSWER));
    let played = Scenario {
        criteria: FAR,
        settings: "limits.tokens = 40",
        of_agent: "output = \"claude\"",
        acts: &[&act],
        ends: Limit(3, "limit reached: 45 of 40 tokens used, after 3 iterations"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.last()["spent"]["tokens"], 45);
    played.prompt_has(3, ", 10 tokens.");
}

#[test]
fn a_remaining_fifth_is_reported_once() {
    let played = Scenario {
        criteria: FAR,
        settings: "limits.iterations = 6\nbreaker.same_error = 9",
        acts: &["echo $n >> log"],
        ends: Limit(6, "limit reached: 6 iterations"),
        ..Scenario::default()
    }
    .play();
    played.iteration_sentence(5, "1 file changed, 0 of 1 pass; budget almost used: 5 of 6 iterations used");
    played.iteration_sentence(6, "1 file changed, 0 of 1 pass");
    played.prompt_has(6, "The budget is almost used: finish what matters most");
}

/// One start of an agent with Claude Code's output format.
fn claude(lines: &str) -> String {
    let init = r#"{"type":"system","subtype":"init","session_id":"0","model":"m","tools":[]}"#;
    // Not quoted: an act may insert the time of day.
    format!("cat <<END\n{init}\n{lines}\nEND\n")
}

const ANSWER: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"num_turns":1,"result":"Working on it.","session_id":"0","total_cost_usd":0,"usage":{},"modelUsage":{"m":{"inputTokens":10,"outputTokens":5}}}"#;

/// Refused by a usage limit that ends in this many seconds.
fn turned_away(seconds: i64) -> String {
    let reset = format!("$(($(date +%s) + {seconds}))");
    let limit = format!(
        r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{reset},"rateLimitType":"five_hour"}}}}"#
    );
    let reply = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"You've hit your limit"}]},"error":"rate_limit","parent_tool_use_id":null}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"duration_ms":5,"num_turns":1,"result":"You've hit your limit","session_id":"0","total_cost_usd":0,"usage":{}}"#;
    claude(&format!("{limit}\n{reply}\n{result}")) + "exit 1"
}

#[track_caller]
fn speaks_claude(args: &[&str], acts: &[&str], ends: Ends<'_>) -> EndedLoop {
    let criteria = &["It is there: `exists done`"];
    Scenario { criteria, args, of_agent: "output = \"claude\"", acts, ends, ..Scenario::default() }.play()
}

#[test]
fn a_quota_is_waited_for_until_its_reset() {
    let played = speaks_claude(
        &[],
        &[&turned_away(4), &format!("touch done; {}", claude(ANSWER))],
        Verified(2, "after 2 iterations"),
    );
    let waiting = &played.all("waiting")[0];
    assert_eq!((played.all("waiting").len(), waiting["reason"].as_str()), (1, Some("quota")));
    let started = played.record("iteration-intended", 2)["up"].as_u64();
    assert!(started >= waiting["until"]["awake"].as_u64(), "{waiting}");
}

/// The status of a loop from any folder, once it satisfies the condition.
#[track_caller]
fn status_of(world: &World, id: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let shown = || {
        let ran = world.run(&["status", id, "--json"]);
        let all: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        all["loops"][0].clone()
    };
    wait_until(|| is_it(&shown()), || format!("{:#}", shown()));
    shown()
}

#[test]
fn a_usage_limit_that_one_loop_met_holds_for_the_others_of_its_user() {
    let scenario = Scenario {
        criteria: &["It is there: `exists done`"],
        of_agent: "output = \"claude\"",
        acts: &[&turned_away(3600), &format!("touch done; {}", claude(ANSWER))],
        ..Scenario::default()
    };
    let (world, first) = detached(&scenario);
    world.until("wait", |it| it["type"] == "waiting");
    let list = world.terminal.state().join("usage-limits");
    assert_eq!(fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);

    let second = world.terminal.folder().join("second");
    fs::create_dir(&second).unwrap();
    for name in ["PROMPT.md", "loopkeeper.toml"] {
        fs::copy(world.root().join(name), second.join(name)).unwrap();
    }
    let mut command = world.terminal.command(&["run", "--trust", "--detach", "--json"]);
    let ran = Ran::of(&command.current_dir(&second).output().unwrap());
    let started: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
    let id = started["loopId"].as_str().unwrap().to_owned();
    let waiting = status_of(&world, &id, |it| it["phase"] == "waiting");
    assert_eq!((&waiting["wait"]["reason"], &waiting["iteration"]), (&"quota".into(), &0.into()));
    let words =
        format!("loop {first} reached the usage limit of `mine`: `loopkeeper resume` starts it anyway");
    assert_eq!(waiting["warnings"], serde_json::json!([words]));
    world
        .run(&["log", &id])
        .expect(0)
        .out(&format!("usage limit of the provider, reached by loop {first}, waiting until"));
    assert_eq!(world.starts(), 1, "no call was spent on it");

    world.run(&["resume", &id]).expect(0);
    let ended = status_of(&world, &id, |it| it["state"] == "done");
    assert_eq!((&ended["outcome"]["verified"], world.starts()), (&true.into(), 2), "{ended:#}");
    // It worked, so no loop needs to wait any longer.
    assert_eq!(fs::read_to_string(&list).unwrap(), "");
    world.run(&["stop", "--now", &first]).expect(0);
    status_of(&world, &first, |it| it["state"] == "done");
}

#[test]
fn a_quota_longer_than_the_loop_ends_it_at_once() {
    // Far in the future, nonsense, and long past: none of them is waited for, and none causes a busy loop.
    for seconds in [5 * 3600, 80 * 365 * 24 * 3600, -3600] {
        let played = speaks_claude(
            &["--max-duration", "50s"],
            &[&turned_away(seconds)],
            Limit(1, "the provider's usage limit lasts longer than"),
        );
        assert_eq!(played.all("waiting").len(), 0);
    }
}

#[test]
fn several_loops_share_the_calls_of_an_hour() {
    let scenario = Scenario {
        criteria: FAR,
        settings: "limits.calls_per_hour = 3\nlimits.iterations = 2",
        args: &[],
        acts: &["echo $n >> log"],
        ..Scenario::default()
    };
    let worlds: Vec<World> = (0..4).map(|_| scenario.world()).collect();
    let state = worlds[0].terminal.state();
    let start = |world: &World| {
        let mut command = world.terminal.command(&["run", "--json", "--trust", "--max-duration", "10m"]);
        command.env("LOOPKEEPER_STATE_DIR", &state).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let running: Vec<Child> = worlds.iter().map(start).collect();
    let mut full = 0;
    for loop_of in running {
        let ran = Ran::of(&loop_of.wait_with_output().unwrap());
        let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        let sentence = last["sentence"].as_str().unwrap();
        assert_eq!(ran.code, Some(4), "{sentence}");
        full += u32::from(sentence.contains(": the hourly call limit is reached for longer than"));
    }
    let starts: u64 = worlds.iter().map(World::starts).sum();
    assert_eq!(starts, 3, "never more than there are, and none of them lost");
    assert!(full >= 3, "{full} of 4 loops, two starts each, cannot have had both");
    let calls = std::fs::read_to_string(state.join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 3, "{calls}");
    assert_eq!(std::fs::metadata(state.join("calls")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_unusable_list_of_calls_blocks_no_loop() {
    let scenario = Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 2`"],
        before: "touch log",
        acts: &["echo $n >> log"],
        ends: Verified(2, ""),
        ..Scenario::default()
    };
    let world = scenario.world();
    std::fs::create_dir_all(world.terminal.state().join("calls")).unwrap();
    std::fs::set_permissions(world.terminal.state(), Permissions::from_mode(0o700)).unwrap();
    let ran = world.run(&["run", "--json", "--trust"]);
    let played = EndedLoop::new(world, ran);
    played.assert_end(&scenario.ends.expected());
    let started = played.record("iteration-intended", 2);
    assert_eq!(started["callsThisHour"], 2);
    let note = started["callsNote"].as_str().unwrap();
    assert!(note.ends_with(": the calls of other loops are not counted"), "{note}");
}

#[test]
fn dry_run_and_check_count_no_call() {
    let scenario = Scenario { criteria: FAR, acts: &["true"], ..Scenario::default() };
    let world = scenario.world();
    world.run(&["run", "--dry-run"]).expect(0);
    world.run(&["check"]).expect(1);
    assert!(!world.terminal.state().join("calls").exists());
}
