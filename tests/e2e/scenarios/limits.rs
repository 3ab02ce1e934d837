//! Numbers that end a loop.

use crate::support::scenario::Ends::{Limit, Verified};
use crate::support::scenario::Scenario;

const FAR: &[&str] = &["Far away: `exists nowhere`"];

#[test]
fn iterations() {
    let played = Scenario {
        criteria: FAR,
        settings: "limits.iterations = 3",
        acts: &["echo $n >> log"],
        ends: Limit(3, "limit reached: 3 iterations"),
        ..Scenario::default()
    }
    .play();
    played.told(1, "Left after this iteration starts: 2 iterations").told(3, "iteration 3 of at most 3");
    played.file("log", "1\n2\n3\n");
}

#[test]
fn an_argument_wins() {
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
        args: &["--max-duration", "1500ms"],
        acts: &["echo $n >> log; sleep 600"],
        ends: Limit(1, "limit reached: 1.5 s of work, after 1 iteration"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("agent-ended", 1)["run"]["ending"], "timed-out");
}

#[test]
fn a_pause_between_iterations() {
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
        args: &["--max-duration", "1s"],
        acts: &["echo $n >> log"],
        ends: Limit(1, "limit reached: 1.0 s of work, after 1 iteration"),
        ..Scenario::default()
    }
    .play();
}
