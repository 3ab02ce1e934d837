//! When the breaker opens, cools down, admits a trial and closes: one table per cause, then the steps after an opening.

mod failing;

use crate::decide::sim::{Act, Sim, criterion, item, spec};
use crate::decide::{UserCommand, breaker};
use crate::journal::{
    BreakerCause, BreakerCounts, BreakerState, LoopSpec, OutcomeKind, PauseReason, Record, TripEvidence,
};
use loopkeeper_agent::ProviderClass;

const HALF_HOUR: u64 = 30 * 60_000;

fn two() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test"), criterion("lint is clean", "make lint")]);
    spec.settings.limits.duration_ms = 1_000 * HALF_HOUR;
    spec.settings.limits.iterations = 100;
    spec
}

/// An unattended loop, which ends when the breaker opens.
fn alone() -> LoopSpec {
    LoopSpec { attended: false, ..two() }
}

/// The iteration after which the breaker opened, and why; `None`: it did not.
fn opened(spec: LoopSpec, acts: Vec<Act>) -> Option<(u32, String)> {
    let sim = Sim::new(LoopSpec { attended: false, ..spec }, "ff", acts).run();
    let outcome = sim.state.outcome()?;
    (outcome.kind == OutcomeKind::Breaker).then(|| (sim.state.iteration, outcome.sentence.to_string()))
}

#[track_caller]
fn trips(acts: Vec<Act>, after: u32, why: &str) {
    let found = opened(alone(), acts);
    assert_eq!(found, Some((after, format!("breaker open: {why}"))));
}

/// The acts never open it; a last one completes the loop.
#[track_caller]
fn holds(mut acts: Vec<Act>) {
    let count = acts.len();
    acts.push(Act::new("pp"));
    let sim = Sim::new(alone(), "ff", acts).run();
    let outcome = sim.state.outcome().cloned().unwrap_or_else(|| panic!("{:?}", sim.state.pause));
    assert_eq!(
        (outcome.kind, sim.state.iteration as usize),
        (OutcomeKind::Completed, count + 1),
        "{outcome:?}"
    );
}

fn times(count: usize, act: &Act) -> Vec<Act> {
    vec![act.clone(); count]
}

fn repeat<const N: usize>(acts: [Act; N], count: usize) -> Vec<Act> {
    vec![acts; count].concat()
}

fn fast(act: Act) -> Act {
    Act { takes_ms: 9_000, ..act }
}

fn denied(act: Act) -> Act {
    Act { denied: vec!["Bash(make)"], ..act }
}

fn makes(tree: &'static str) -> Act {
    Act { makes: Some(tree), ..Act::new("ff") }
}

fn prints(error: &'static str) -> Act {
    Act { errors: vec![error], ..Act::new("ff") }
}

/// Nothing but the agent's own errors can be measured.
fn unchecked() -> LoopSpec {
    let mut spec = alone();
    spec.criteria = vec![criterion("it looks good", "")];
    spec
}

/// The breaker never opens because of the same failure.
fn patient() -> LoopSpec {
    let mut spec = alone();
    spec.settings.breaker.same_error = 99;
    spec
}

fn writes(output: u64) -> Act {
    Act { output, fact: "exit 1", ..Act::new("ff") }
}

#[test]
fn three_iterations_without_a_change_trip_the_breaker() {
    let idle = || Act::idle("ff");
    trips(times(3, &idle()), 3, "3 iterations without a file change");
    holds([times(2, &idle()), vec![Act::new("ff")], times(2, &idle())].concat());
    // A failure of the provider neither counts nor clears the count.
    let provider_failure = || Act::fails(ProviderClass::Transient, "ff");
    trips(
        vec![idle(), provider_failure(), idle(), provider_failure(), idle()],
        5,
        "3 iterations without a file change",
    );
    holds(vec![idle(), provider_failure(), provider_failure(), idle(), provider_failure()]);
    // Files that a failing agent changed are progress, too.
    holds(vec![idle(), idle(), Act { changed: vec!["a"], ..provider_failure() }, idle(), idle()]);
}

#[test]
fn two_fast_failures_trip_the_breaker() {
    let quick = || fast(Act::idle("ff"));
    trips(times(2, &quick()), 2, "2 iterations under 10 s without a file change");
    // A slow one, or one that changes something, does not count.
    trips(vec![quick(), Act::idle("ff"), quick()], 3, "3 iterations without a file change");
    holds(times(9, &fast(Act::new("ff"))));
    holds(vec![quick(), fast(Act::new("ff")), quick()]);
    let crash = || Act { takes_ms: 10, ..Act::fails(ProviderClass::Transient, "ff") };
    holds(vec![quick(), crash(), crash()]);
    // Two causes at once: the one that the user would check first is the reason.
    let mut both = two();
    both.settings.breaker.no_progress = 2;
    let found = opened(both, times(2, &quick())).map(|it| it.1);
    assert_eq!(found.as_deref(), Some("breaker open: 2 iterations without a file change"));
}

#[test]
fn denied_tools_without_a_change_trip_the_breaker() {
    let why = "2 iterations with denied tools and without a file change";
    trips(times(2, &denied(Act::idle("ff"))), 2, why);
    trips(times(2, &fast(denied(Act::idle("ff")))), 2, why);
    holds(times(9, &denied(Act::new("ff"))));
    holds(vec![denied(Act::idle("ff")), Act::new("ff"), denied(Act::idle("ff"))]);
}

#[test]
fn three_returns_to_earlier_trees_trip_the_breaker() {
    let why = "the files returned to an earlier state 3 times";
    trips(repeat([makes("a"), makes("b")], 3), 5, why);
    trips(repeat([makes("a"), makes("b"), makes("c")], 3), 6, why);
    // Turning one criterion by breaking the other is no progress.
    let act = |tree, results| Act { makes: Some(tree), ..Act::new(results) };
    trips(repeat([act("a", "pf"), act("b", "fp")], 3), 5, why);
    // Reverting something, even twice, is work.
    holds(vec![makes("a"), makes("b"), makes("a"), makes("c"), makes("a"), makes("d")]);
    // A tree that stays is no return, and one from long ago none either.
    let new = || times(10, &Act::new("ff"));
    holds(
        [vec![makes("a")], new(), vec![makes("a")], new(), vec![makes("a")], new(), vec![makes("a")]]
            .concat(),
    );
}

#[test]
fn the_same_error_five_times_in_a_row_trips_the_breaker() {
    let missing = "error: cannot find /home/me/a.rs:12";
    let elsewhere = "error: cannot find /tmp/b.rs:7";
    let check = |acts: Vec<Act>, after: Option<u32>| {
        let why = format!("breaker open: 5 iterations with the same error: {elsewhere}");
        assert_eq!(opened(unchecked(), acts), after.map(|it| (it, why)));
    };
    // Numbers and places do not make it another one.
    check([times(4, &prints(missing)), vec![prints(elsewhere)]].concat(), Some(5));
    let both = Act { errors: vec!["error: something else", missing], ..prints(missing) };
    check([vec![both], times(3, &prints(missing)), vec![prints(elsewhere)]].concat(), Some(5));
    let other = "error: another";
    let changing = Act { errors: vec![other, missing], ..prints(other) };
    check(
        [vec![prints(other), changing], times(3, &prints(missing)), vec![prints(elsewhere)]].concat(),
        Some(6),
    );
    // In a row, and the same in all of them.
    check([times(4, &prints(missing)), vec![Act::new("ff")], times(4, &prints(missing))].concat(), None);
    check([times(4, &prints(missing)), times(4, &prints(other))].concat(), None);
    // A provider failure in between is no evidence.
    let provider_failure = Act { errors: vec![], ..Act::fails(ProviderClass::Transient, "ff") };
    check([times(4, &prints(missing)), vec![provider_failure, prints(elsewhere)]].concat(), Some(6));
}

#[test]
fn an_improvement_restarts_the_count_of_an_error() {
    let missing = "error: cannot find a.rs";
    // A criterion that turns, a count that moves, an item that is done.
    let turned = Act { results: "pf", ..prints(missing) };
    holds([times(4, &prints(missing)), times(5, &turned)].concat());
    let moves = ["3 of 9 fail", "2 of 9 fail"].map(|fact| Act { fact, ..prints(missing) });
    holds(repeat(moves, 5));
    let mut planned = unchecked();
    planned.plan = (0..9).map(|it| item(&it.to_string())).collect();
    let ticking = (1..9).map(|ticks| Act { ticks, ..prints(missing) }).collect();
    assert_eq!(opened(planned, ticking), None);
}

#[test]
fn two_declines_of_output_in_a_row_trip_the_breaker() {
    let trips = |acts, after, why: &str| {
        assert_eq!(opened(patient(), acts), Some((after, format!("breaker open: {why}"))));
    };
    let holds = |acts| assert_eq!(opened(patient(), acts), None);
    let why = "2 iterations with far less output and nothing more that passes";
    let much = || times(4, &writes(10_000));
    trips([much(), times(2, &writes(2_900))].concat(), 6, why);
    // Not over 70 %, not twice in a row, too few to compare with, too little to decline from.
    holds([much(), times(4, &writes(3_000))].concat());
    holds([much(), vec![writes(10), writes(10_000), writes(10)]].concat());
    holds([times(3, &writes(10_000)), times(2, &writes(10))].concat());
    holds([times(4, &writes(150)), times(5, &writes(1))].concat());
    // One long answer is no measure.
    holds([vec![writes(1_000_000)], times(8, &writes(1_000))].concat());
    // While something else passes or fails, or the agent claims to be done, short output is enough.
    holds(
        [much(), vec![writes(10), Act { results: "pf", ..writes(10) }, Act { results: "pf", ..writes(10) }]]
            .concat(),
    );
    let says = Act { says: "<promise>COMPLETE</promise>", ..writes(10) };
    holds([much(), times(4, &says)].concat());
    let moves = ["3 of 9 fail", "2 of 9 fail"].map(|fact| Act { fact, ..writes(10) });
    holds([much(), repeat(moves, 3)].concat());
}

#[test]
fn provider_failures_never_count() {
    for class in [ProviderClass::Transient, ProviderClass::Quota, ProviderClass::Crash, ProviderClass::Login]
    {
        let act = Act {
            denied: vec!["Bash(make)"],
            errors: vec!["error: no"],
            takes_ms: 1,
            ..Act::fails(class, "ff")
        };
        let mut sim = Sim::new(two(), "ff", times(3, &act));
        for _ in 0..60 {
            sim.turn();
        }
        assert_eq!(breaker::counts(&sim.state), BreakerCounts::default(), "{class:?}");
    }
    // Nor does a hang.
    let sim = Sim::new(two(), "ff", vec![]).run();
    assert_eq!(breaker::counts(&sim.state), BreakerCounts::default());
    assert_eq!(sim.state.pause.map(|it| it.reason), Some(PauseReason::Agent));
}

/// All changes of the breaker, as `state cause trips cooldown-in-minutes`.
fn changes(sim: &Sim) -> Vec<String> {
    let word = |it: serde_json::Value| it.as_str().unwrap_or("-").to_owned();
    let told = sim.entries.iter().filter_map(|it| match &it.record {
        Record::BreakerChanged { state, cause, trips, cooldown_ms, .. } => Some(format!(
            "{} {} {trips} {}",
            word(serde_json::json!(state)),
            word(serde_json::json!(cause)),
            cooldown_ms / 60_000
        )),
        _ => None,
    });
    told.collect()
}

#[test]
fn an_open_breaker_cools_down_tries_once_and_closes() {
    let mut sim = Sim::new(two(), "ff", times(3, &Act::idle("ff")));
    while sim.state.breaker.state != BreakerState::Open {
        sim.turn();
    }
    let opened_at = sim.now.awake;
    assert_eq!(breaker::cooldown_end(&sim.state).map(|it| it.awake), Some(opened_at + HALF_HOUR));
    sim.acts.extend([Act::new("ff"), Act::idle("ff"), Act::idle("ff"), Act::new("pp")]);
    while sim.state.iteration < 4 {
        sim.turn();
        assert!(sim.state.pause.is_none());
    }
    assert!(sim.now.awake >= opened_at + HALF_HOUR, "the trial waits for the cooldown");
    sim.play();
    // The success clears the counts: two more without a change are not enough.
    assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true));
    assert_eq!(
        changes(&sim),
        ["open no-progress 1 30", "half-open cooldown 1 30", "closed trial-passed 1 0"]
    );
}

#[test]
fn a_failed_trial_doubles_the_cooldown_until_the_user_is_needed() {
    let mut patient = two();
    patient.settings.breaker.max_trips = 4;
    let mut sim = Sim::new(patient, "ff", times(6, &Act::idle("ff"))).run();
    let opens = [
        "open no-progress 1 30",
        "open trial-failed 2 60",
        "open trial-failed 3 120",
        "open trial-failed 4 240",
    ];
    let found = changes(&sim);
    assert_eq!(
        found.iter().filter(|it| it.starts_with("open")).collect::<Vec<_>>(),
        opens.iter().collect::<Vec<_>>()
    );
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Breaker));
    assert_eq!(sim.sentence(), "breaker open: retried, still without a file change; opened 4 times");
    assert_eq!((sim.state.iteration, breaker::cooldown_end(&sim.state)), (6, None));
    // Resuming by the user allows exactly one further trial.
    sim.acts.push(Act::idle("ff"));
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!((sim.state.iteration, sim.state.breaker.trips), (7, 5));
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Breaker));
    // A reset forgets the openings.
    sim.acts.extend([times(3, &Act::idle("ff")), vec![Act::new("pp")]].concat());
    sim.command(UserCommand::ResetBreaker);
    assert!(sim.state.pause.is_none());
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true), "{:?}", changes(&sim));
    assert!(changes(&sim).contains(&"open no-progress 1 30".to_owned()));
}

#[test]
fn the_longest_cooldown_is_a_day() {
    let mut patient = two();
    patient.settings.breaker.max_trips = 9;
    patient.settings.breaker.cooldown_ms = 10 * 3_600_000;
    let sim = Sim::new(patient, "ff", times(11, &Act::idle("ff"))).run();
    let opened: Vec<String> = changes(&sim).into_iter().filter(|it| it.starts_with("open")).collect();
    let minutes: Vec<&str> = opened.iter().filter_map(|it| it.rsplit(' ').next()).collect();
    assert_eq!(minutes, ["600", "1200", "1440", "1440", "1440", "1440", "1440", "1440", "1440"]);
}

#[test]
fn a_failed_trial_names_its_reason() {
    let trip = vec![makes("a"), makes("b"), makes("a"), makes("b"), makes("a")];
    let check = |trial: Act, why: &str| {
        let mut two = two();
        two.settings.breaker.max_trips = 2;
        let sim = Sim::new(two, "ff", [trip.clone(), vec![trial]].concat()).run();
        assert_eq!(sim.sentence(), format!("breaker open: retried, {why}; opened 2 times"));
        assert_eq!(sim.state.iteration, 6);
    };
    check(Act::idle("ff"), "still without a file change");
    check(makes("b"), "the files only returned to an earlier state");
    check(Act { hangs: true, ..Act::idle("ff") }, "no activity after 15 min");
    // A criterion that turns without a change of the tree is not the agent's work.
    check(Act::idle("pf"), "still without a file change");
}

#[test]
fn a_trial_has_no_more_time_than_the_loop() {
    let mut short = two();
    short.settings.limits.idle_ms = 1_000 * HALF_HOUR;
    short.settings.limits.duration_ms = HALF_HOUR + 10 * 60_000;
    let acts = [times(3, &Act::idle("ff")), vec![Act { hangs: true, ..Act::idle("ff") }]].concat();
    let sim = Sim::new(short, "ff", acts).run();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit));
    assert!(sim.state.time.worked_ms < HALF_HOUR + 11 * 60_000, "{}", sim.state.time.worked_ms);
    assert_eq!(sim.state.iteration, 4);
}

#[test]
fn a_cooldown_ends_with_the_duration_limit() {
    let mut short = two();
    short.settings.limits.duration_ms = HALF_HOUR;
    let sim = Sim::new(short, "ff", times(3, &Act::idle("ff"))).run();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit));
    assert!(sim.state.time.worked_ms <= HALF_HOUR + 100, "{}", sim.state.time.worked_ms);
    // Without a remaining iteration the loop does not wait.
    let mut few = two();
    few.settings.limits.iterations = 3;
    let sim = Sim::new(few, "ff", times(3, &Act::idle("ff"))).run();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit));
    assert!(sim.state.time.worked_ms < HALF_HOUR);
}

#[test]
fn a_trial_that_failed_because_of_the_provider_is_repeated() {
    for class in [ProviderClass::Transient, ProviderClass::Quota, ProviderClass::Crash] {
        let provider_failure = || Act::fails(class, "ff");
        let begin = |rest: Vec<Act>| Sim::new(two(), "ff", [times(3, &Act::idle("ff")), rest].concat()).run();
        let sim = begin(vec![provider_failure(), provider_failure(), Act::new("ff"), Act::new("pp")]);
        assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true), "{class:?}");
        let passed = ["open no-progress 1 30", "half-open cooldown 1 30", "closed trial-passed 1 0"];
        assert_eq!(changes(&sim), passed, "{class:?}");
        // Three times, then it needs its user.
        let mut sim = begin(vec![provider_failure(), provider_failure(), provider_failure()]);
        assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Agent), "{class:?}");
        assert_eq!((sim.state.iteration, sim.state.breaker.state), (6, BreakerState::HalfOpen), "{class:?}");
        sim.acts.extend([Act::new("ff"), Act::new("pp")]);
        sim.command(UserCommand::Resume);
        sim.play();
        assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true), "{class:?}");
    }
}

#[test]
fn the_user_can_end_a_cooldown() {
    let cooling_down = || {
        let mut sim = Sim::new(two(), "ff", times(3, &Act::idle("ff")));
        while sim.state.breaker.state != BreakerState::Open {
            sim.turn();
        }
        sim.acts.extend([Act::new("ff"), Act::new("pp")]);
        sim
    };
    for (command, first) in
        [(UserCommand::Resume, "half-open user 1 30"), (UserCommand::ResetBreaker, "closed user 0 0")]
    {
        let mut sim = cooling_down();
        sim.command(command.clone());
        assert_eq!(changes(&sim).last().map(String::as_str), Some(first));
        sim.play();
        assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true), "{command:?}");
        assert!(sim.state.time.worked_ms < HALF_HOUR, "{command:?}");
    }
    // A pause extends the cooldown; resuming starts the trial.
    let mut sim = cooling_down();
    sim.command(UserCommand::Pause);
    sim.play();
    assert_eq!((sim.state.iteration, sim.state.breaker.state), (3, BreakerState::Open));
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true));
    // A stop ends the loop at once.
    let mut sim = cooling_down();
    sim.command(UserCommand::Stop);
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Stopped));
}

#[test]
fn a_cooldown_survives_crash_and_reboot() {
    for boot in ["boot-1", "boot-2"] {
        let mut sim = Sim::new(two(), "ff", [times(3, &Act::idle("ff")), vec![Act::new("pp")]].concat());
        while sim.state.breaker.state != BreakerState::Open {
            sim.turn();
        }
        let due = sim.now.wall + HALF_HOUR;
        sim.now = sim.now.plus_ms(10 * 60_000);
        sim.crash(boot);
        while sim.state.iteration < 4 {
            assert!(sim.turn());
        }
        assert!((due..due + 1_000).contains(&sim.now.wall), "{boot}: {} from {due}", sim.now.wall);
        sim.play();
        assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true));
    }
}

#[test]
fn an_opening_records_its_evidence() {
    let opening = |acts: Vec<Act>| -> (BreakerCause, TripEvidence) {
        let sim = Sim::new(alone(), "ff", acts).run();
        let found = sim.entries.iter().find_map(|it| match &it.record {
            Record::BreakerChanged { cause: Some(cause), opening: Some(opening), .. } => {
                Some((*cause, opening.as_ref().clone()))
            }
            _ => None,
        });
        found.expect("an opening")
    };
    let (cause, evidence) = opening(vec![
        Act { errors: vec!["error: before"], ..Act::new("ff") },
        Act { errors: vec!["error: one"], denied: vec!["Bash(make)"], ..Act::idle("ff") },
        Act { errors: vec!["error: two", "error: one"], ..Act::idle("ff") },
        Act::idle("ff"),
    ]);
    assert_eq!(cause, BreakerCause::NoProgress);
    assert_eq!(evidence.counts, BreakerCounts { no_progress: 3, ..BreakerCounts::default() });
    let errors: Vec<(u32, &str)> =
        evidence.errors.iter().map(|it| (it.iteration, it.text.as_str())).collect();
    assert_eq!(errors, [(3, "error: two"), (3, "error: one")]);
    let changed: Vec<(u32, u64)> =
        evidence.changed.iter().map(|it| (it.iteration, it.changes.count)).collect();
    assert_eq!(changed, [(2, 0), (3, 0), (4, 0)]);
    assert_eq!((evidence.trees.len(), evidence.session_reset), (0, false));

    let (cause, evidence) = opening(repeat([makes("a"), makes("b")], 3));
    assert_eq!((cause, evidence.counts.oscillation), (BreakerCause::Oscillation, 3));
    let trees: Vec<(&str, &[u32])> =
        evidence.trees.iter().map(|it| (it.tree.as_str(), it.iterations.as_slice())).collect();
    assert_eq!(trees, [("a", &[1, 3, 5][..]), ("b", &[2, 4][..])]);
}

#[test]
fn counts_do_not_change_while_an_iteration_is_judged() {
    let mut sim = Sim::new(two(), "ff", vec![Act::idle("ff"), Act::new("ff")]);
    while sim.state.iteration < 2 {
        sim.turn();
    }
    while !sim.state.is_between_iterations() {
        assert_eq!(breaker::counts(&sim.state).no_progress, 1, "{:?}", sim.state.phase);
        sim.turn();
    }
    assert_eq!(breaker::counts(&sim.state).no_progress, 0);
}
