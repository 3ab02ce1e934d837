//! The breaker: what opens it, its message, and the behaviour after its cooldown.

use crate::scenarios::detached::{detached, end};
use crate::support::scenario::Ends::{Breaker, Verified};
use crate::support::scenario::Scenario;

/// Never met by any act here.
const FAR: &[&str] = &["Far away: `exists nowhere`"];

#[test]
fn fast_failures_open_the_breaker() {
    let played = Scenario {
        criteria: FAR,
        acts: &["touch a", "echo 'Error: no such tool: frobnicate'"],
        ends: Breaker(3, "breaker open: 2 iterations under 10 s without a file change"),
        ..Scenario::default()
    }
    .play();
    let opened = &played.all("breaker-changed")[0];
    assert_eq!((&opened["cause"], &opened["trips"]), (&"fast-failures".into(), &1.into()));
    assert!(opened["resumesAt"].is_null(), "nobody is there to wait for it: {opened}");
    let opening = &opened["opening"];
    assert_eq!(
        (&opening["counts"]["fastFailures"], &opening["counts"]["noProgress"]),
        (&2.into(), &2.into())
    );
    // The first iteration changed a file and does not count.
    assert_eq!(
        (&opening["changed"][0]["iteration"], opening["changed"].as_array().unwrap().len()),
        (&2.into(), 2)
    );
    assert_eq!(opening["errors"][0]["text"], "Error: no such tool: frobnicate");
    played
        .world
        .run(&["log"])
        .expect(0)
        .out("counts: no progress 2, fast failures 2")
        .out("#2 changed nothing");
}

#[test]
fn repeated_trees_open_the_breaker() {
    let played = Scenario {
        criteria: FAR,
        acts: &["if [ -f x ] && grep -q a x; then echo b > x; else echo a > x; fi"],
        ends: Breaker(5, "breaker open: the files returned to an earlier state 3 times"),
        ..Scenario::default()
    }
    .play();
    let trees = &played.all("breaker-changed")[0]["opening"]["trees"];
    assert_eq!(trees[0]["iterations"], serde_json::json!([1, 3, 5]));
    assert_eq!(trees[1]["iterations"], serde_json::json!([2, 4]));
}

#[test]
fn a_revert_counts_as_work() {
    Scenario {
        criteria: &["Right: `has \"c\" x`"],
        acts: &["echo a > x", "echo b > x", "echo a > x", "echo b > x", "echo c > x"],
        ends: Verified(5, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn the_same_error_with_other_numbers_opens_the_breaker() {
    Scenario {
        criteria: FAR,
        acts: &["echo $n > a.$n; echo \"Error: cannot read /srv/data/$n.csv at line $n\""],
        ends: Breaker(
            5,
            "breaker open: 5 iterations with the same error: Error: cannot read /srv/data/5.csv",
        ),
        ..Scenario::default()
    }
    .play();
    // An error along with measurable work is no reason to stop.
    Scenario {
        criteria: &["Enough: `$ ls note.* | wc -l` `>= 8`"],
        acts: &["touch note.$n; echo 'Error: cannot read /srv/data.csv'"],
        ends: Verified(8, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_larger_limit_of_equal_errors_keeps_the_breaker_closed() {
    Scenario {
        criteria: &["Done: `$ test -f a.9`"],
        // Its output never shows progress: the user configures the loop's patience.
        settings: "breaker.same_error = 20",
        acts: &["touch a.$n; echo working"],
        ends: Verified(9, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn declining_output_opens_the_breaker() {
    Scenario {
        criteria: FAR,
        settings: "breaker.same_error = 20",
        acts: &[
            "seq 2000 4000; touch a.$n",
            "seq 2000 4000; touch a.$n",
            "seq 2000 4000; touch a.$n",
            "seq 2000 4000; touch a.$n",
            "echo hm; touch a.$n",
        ],
        ends: Breaker(6, "breaker open: 2 iterations with far less output and nothing more that passes"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn an_open_breaker_cools_down_and_closes_by_itself() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `$ ls part.* | wc -l` `>= 2`"],
        settings: "breaker.cooldown = \"5s\"",
        acts: &["true", "true", "touch part.1", "true", "touch part.2"],
        ..Scenario::default()
    });
    world.until("opening", |it| it["type"] == "breaker-changed" && it["state"] == "open");
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&"working".into(), &"waiting".into()));
    assert_eq!((&status["wait"]["reason"], &status["breaker"]["state"]), (&"breaker".into(), &"open".into()));
    assert_eq!(status["wait"]["resumesAt"], status["breaker"]["resumesAt"]);
    assert_eq!(end(&world), ("completed".to_owned(), true, 5));
    let causes: Vec<_> =
        world.journal().iter().filter_map(|it| Some(it.get("cause")?.as_str()?.to_owned())).collect();
    assert_eq!(causes, ["fast-failures", "cooldown", "trial-passed"]);
    world
        .run(&["log", &id])
        .expect(0)
        .out("breaker trying again, with one iteration")
        .out("iteration 3 made progress");
}

#[test]
fn a_trial_that_only_edits_made_no_progress() {
    let (world, _) = detached(&Scenario {
        criteria: &["It is there: `exists done`"],
        settings: "breaker.cooldown = \"1s\"\nbreaker.max_trips = 2",
        acts: &["true", "true", "touch other"],
        ..Scenario::default()
    });
    let paused = world.until("pause", |it| it["type"] == "paused");
    assert_eq!((&paused["reason"], world.starts()), (&"breaker".into(), 3));
    let message = paused["message"].as_str().unwrap();
    assert!(message.contains("still with the same failure: It is there: done does not exist"), "{message}");
}

#[test]
fn a_trial_that_fails_too_often_needs_the_user() {
    let (world, id) = detached(&Scenario {
        criteria: &["It is there: `exists done`"],
        settings: "breaker.cooldown = \"1s\"\nbreaker.max_trips = 2",
        acts: &["true"],
        ..Scenario::default()
    });
    let paused = world.until("pause", |it| it["type"] == "paused");
    assert_eq!((&paused["reason"], world.starts()), (&"breaker".into(), 3));
    assert_eq!(paused["message"], "breaker open: retried, still without a file change; opened 2 times");
    assert_eq!(world.status()["state"], "needsYou");
    world.acts(&["touch done"]);
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 4));
}

#[test]
fn resume_and_reset_end_the_wait_for_the_breaker() {
    for order in [&["resume"][..], &["reset", "breaker"]] {
        let (world, id) = detached(&Scenario {
            criteria: &["It is there: `exists done`"],
            acts: &["true", "true", "touch done"],
            ..Scenario::default()
        });
        world.until("opening", |it| it["type"] == "breaker-changed" && it["state"] == "open");
        world.run(&[order, &[&id]].concat()).expect(0);
        assert_eq!(end(&world), ("completed".to_owned(), true, 3));
    }
}
