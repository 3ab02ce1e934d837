//! The same failure although files change, slow work that is none, and trials that only edit.

use super::{alone, changes, holds, opened, repeat, times, trips, two, unchecked};
use crate::decide::sim::{Sim, Turn, item};
use crate::journal::{BreakerState, LoopSpec};
use loopkeeper_agent::ProviderClass;

/// Files change, and the checks find this.
fn finds(fact: &'static str) -> Turn {
    Turn { fact, ..Turn::new("ff") }
}

#[test]
fn the_same_failure_trips_the_breaker_although_files_change() {
    let why = "5 iterations with the same failure: tests pass: 3 of 9 fail, and 1 more";
    trips(times(25, &finds("3 of 9 fail")), 5, why);
    let why = "5 iterations with the same failure: lint is clean: 1 error";
    trips(times(25, &Turn { results: "pf", ..finds("1 error") }), 5, why);
    // Other durations do not make it another failure.
    let slow = ["exit 1 after 3 s", "exit 1 after 41 s"].map(finds);
    trips(repeat(slow, 9), 5, "5 iterations with the same failure: tests pass: exit 1 after 3 s, and 1 more");
    // An agent without a change does not restart it, and a provider failure is no evidence.
    let mut turns = times(3, &finds("exit 1"));
    turns.push(Turn { fact: "exit 1", ..Turn::idle("ff") });
    turns.push(Turn { fact: "exit 1", ..Turn::fails(ProviderClass::Transient, "ff") });
    turns.extend(times(9, &finds("exit 1")));
    trips(turns, 6, "5 iterations with the same failure: tests pass: exit 1, and 1 more");
}

#[test]
fn slow_work_is_not_a_repeated_failure() {
    // Fewer that fail each time, another error each time, one that comes back.
    holds(["5 of 9 fail", "4 of 9 fail", "3 of 9 fail", "2 of 9 fail", "1 of 9 fail"].map(finds).to_vec());
    let names = ["E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8"];
    holds(names.map(finds).to_vec());
    holds([times(4, &finds("exit 1")), vec![finds("exit 2")], times(4, &finds("exit 1"))].concat());
    // One more passes, or one fewer that is to be worked on again.
    let half = Turn { results: "pf", ..finds("exit 1") };
    holds([times(4, &finds("exit 1")), times(4, &half), times(4, &finds("exit 1"))].concat());
    // New passes and completed plan items are work, whatever else fails.
    let mut planned = alone();
    planned.plan = (0..20).map(|it| item(&it.to_string())).collect();
    let ticking = (1..20).map(|ticks| Turn { ticks, ..finds("exit 1") }).collect();
    assert_eq!(opened(planned, ticking), None);
    // An optional criterion does not count.
    let mut optional = alone();
    optional.criteria[1].required = false;
    let claims = times(9, &Turn { results: "-f", ..finds("exit 1") });
    assert_eq!(opened(optional, claims), None);
}

#[test]
fn a_trial_with_the_same_failure_made_no_progress() {
    let result = |trial: Turn| {
        let mut two = two();
        two.settings.breaker.max_trips = 2;
        let sim =
            Sim::new(two, "ff", [times(5, &finds("exit 1")), vec![trial, Turn::new("pp")]].concat()).run();
        changes(&sim).last().cloned().unwrap_or_default()
    };
    assert_eq!(result(finds("exit 1")), "open trial-failed 2 60");
    assert_eq!(result(Turn { changed: vec!["a", "b"], ..finds("exit 1") }), "open trial-failed 2 60");
    assert_eq!(result(finds("exit 2")), "closed trial-passed 1 0");
    assert_eq!(result(Turn { results: "pf", ..finds("exit 1") }), "closed trial-passed 1 0");
    let mut once = two();
    once.settings.breaker.max_trips = 2;
    let sim = Sim::new(once, "ff", times(6, &finds("exit 1"))).run();
    let why =
        "breaker open: retried, still with the same failure: tests pass: exit 1, and 1 more; opened 2 times";
    assert_eq!(sim.sentence(), why);
    // Without more evidence from checks, only a new tree counts.
    let mut claimed = LoopSpec { attended: true, ..unchecked() };
    claimed.settings.breaker.max_trips = 2;
    let sim = Sim::new(claimed, "f", [times(3, &Turn::idle("f")), vec![Turn::new("f")]].concat()).run();
    assert!(changes(&sim).contains(&"closed trial-passed 1 0".to_owned()), "{:?}", changes(&sim));
}

#[test]
fn an_agent_that_fails_silently_and_writes_files_repeats_its_failure() {
    for class in [ProviderClass::Crash, ProviderClass::Refused, ProviderClass::Unknown] {
        let turns = times(8, &Turn { error: Some(class), ..Turn::new("ff") });
        let sim = Sim::new(LoopSpec { attended: false, ..two() }, "ff", turns).run();
        assert_eq!((sim.state.iteration, sim.state.breaker.state), (5, BreakerState::Open), "{class:?}");
    }
}
