//! Warnings before a loop stops: each row plays a loop and lists the warnings after its last iteration.

use crate::decide::early_warning::{WarningCause, early_warnings};
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::{AgentPlan, BreakerCause, LoopSpec};
use loopkeeper_agent::ProviderClass;

/// A loop of `count` criteria, with generous limits.
fn of_criteria(count: usize) -> LoopSpec {
    let names = ["a", "b", "c", "d"];
    let mut spec = spec(names.iter().take(count).map(|it| criterion(it, "make test")).collect());
    spec.settings.limits.duration_ms = 100 * 3_600_000;
    spec.settings.limits.iterations = 100;
    spec
}

/// Plays all turns.
fn played(spec: LoopSpec, start: &'static str, turns: Vec<Turn>) -> Sim {
    let count = turns.len() as u32;
    let mut sim = Sim::new(spec, start, turns);
    sim.play_iterations(count);
    sim
}

fn warned(sim: &Sim) -> Vec<(WarningCause, String)> {
    early_warnings(&sim.state).into_iter().map(|it| (it.cause, it.sentence)).collect()
}

fn check(spec: LoopSpec, start: &'static str, turns: Vec<Turn>, expect: &[(WarningCause, &str)]) {
    let found = warned(&played(spec, start, turns));
    let found: Vec<_> = found.iter().map(|(cause, sentence)| (*cause, sentence.as_str())).collect();
    assert_eq!(found, expect);
}

#[test]
fn a_count_at_two_thirds_of_its_limit_is_a_warning() {
    let idle = |count: usize| (0..count).map(|_| Turn::idle("f")).collect::<Vec<_>>();
    check(of_criteria(1), "f", idle(1), &[]);
    let stall = "2 iterations without a file change; the breaker opens at 3";
    let cause = WarningCause::StallAhead(BreakerCause::NoProgress);
    check(of_criteria(1), "f", idle(2), &[(cause, stall)]);
    let mut patient = of_criteria(1);
    patient.settings.breaker.no_progress = 8;
    check(patient.clone(), "f", idle(5), &[]);
    check(patient, "f", idle(6), &[(cause, "6 iterations without a file change; the breaker opens at 8")]);
    // Progress clears the count.
    check(of_criteria(1), "f", vec![Turn::idle("f"), Turn::idle("f"), Turn::new("f")], &[]);
    // An open breaker is no warning any more.
    let tripped = Sim::new(of_criteria(1), "f", idle(3)).run();
    assert_eq!(warned(&tripped), []);
}

#[test]
fn an_iteration_far_above_the_median_is_unusual() {
    let act = |cost, minutes: u64| Turn { cost, takes_ms: minutes * 60_000, ..Turn::new("f") };
    let after =
        |count: usize, last: Turn| (0..count).map(|_| act(100_000, 2)).chain([last]).collect::<Vec<_>>();
    let cost = (WarningCause::UnusualCost, "iteration 6 cost $0.31, over 3 times the median of $0.10");
    let time =
        (WarningCause::UnusualTime, "iteration 6 took 7 min 1 s, over 3 times the median of 2 min 1 s");
    check(of_criteria(1), "f", after(5, act(310_000, 2)), &[cost]);
    check(of_criteria(1), "f", after(5, act(100_000, 7)), &[time]);
    check(of_criteria(1), "f", after(5, act(310_000, 7)), &[cost, time]);
    // Exactly three times is not above.
    check(of_criteria(1), "f", after(5, act(300_000, 6)), &[]);
    // Fewer than five iterations say nothing about what is usual.
    check(of_criteria(1), "f", after(4, act(900_000, 20)), &[]);
    // Only the last finished iteration counts.
    check(of_criteria(1), "f", [after(5, act(310_000, 7)), vec![act(100_000, 2)]].concat(), &[]);
    // Seconds and fractions of a cent vary by chance.
    let small = |cost, takes_ms| Turn { cost, takes_ms, ..Turn::new("f") };
    let turns = (0..5).map(|_| small(1_000, 11_000)).chain([small(9_000, 50_000)]).collect();
    check(of_criteria(1), "f", turns, &[]);
}

#[test]
fn a_budget_that_ends_too_early_is_reported_with_its_computation() {
    let cost = |limit: u64, results: &[&'static str]| {
        let mut spec = of_criteria(4);
        spec.settings.limits.cost_micros = limit;
        let turns = results.iter().map(|it| Turn { cost: 1_000_000, ..Turn::new(it) }).collect::<Vec<_>>();
        (spec, turns)
    };
    let short = "at this pace the cost limit is reached before all criteria pass: the 3 open ones need about \
                 9 iterations of about $1.00 each, $9.00 in all (1 turned in 3 so far); $7.00 left";
    let (spec, turns) = cost(10_000_000, &["ffff", "ffff", "pfff"]);
    check(spec, "ffff", turns, &[(WarningCause::BudgetShort, short)]);
    let (spec, turns) = cost(12_000_000, &["ffff", "ffff", "pfff"]);
    check(spec, "ffff", turns, &[]);
    // A criterion that passed at the start did not turn, and without a turned one there is no projection.
    let (spec, turns) = cost(10_000_000, &["pfff", "pfff", "pfff"]);
    check(spec, "pfff", turns, &[]);
    // Two iterations are too few.
    let (spec, turns) = cost(4_000_000, &["ffff", "pfff"]);
    check(spec, "ffff", turns, &[]);
    let mut few = of_criteria(2);
    few.settings.limits.iterations = 5;
    let turns = ["ff", "ff", "pf"].map(Turn::new).to_vec();
    let short = "at this pace the iteration limit is reached before all criteria pass: the open one needs about \
                 3 iterations (1 turned in 3 so far); 2 iterations left";
    check(few, "ff", turns, &[(WarningCause::BudgetShort, short)]);
}

#[test]
fn a_limit_that_is_nearly_reached_is_not_also_short() {
    let mut spec = of_criteria(2);
    spec.settings.limits.cost_micros = 10_000_000;
    let turns = ["ff", "ff", "pf"].map(|it| Turn { cost: 2_700_000, ..Turn::new(it) }).to_vec();
    let found = warned(&played(spec, "ff", turns));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1, "$8.10 of $10.00 spent");
}

#[test]
fn a_logged_out_agent_is_a_warning_while_a_fallback_works() {
    let mut spec = of_criteria(1);
    spec.fallbacks = vec![AgentPlan { name: "other".to_owned(), ..spec.agent.clone() }];
    let turns = vec![Turn::fails(ProviderClass::Login, "f"), Turn::new("f")];
    check(spec, "f", turns, &[(WarningCause::LoggedOut, "other takes over: mine is not logged in")]);
}

#[test]
fn an_ended_loop_warns_of_nothing() {
    let mut spec = of_criteria(1);
    spec.settings.limits.iterations = 2;
    let sim = Sim::new(spec, "f", vec![Turn::new("f"), Turn::new("f")]).run();
    assert!(sim.state.outcome().is_some());
    assert_eq!(warned(&sim), []);
}
