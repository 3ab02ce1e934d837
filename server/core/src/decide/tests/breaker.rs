//! When the breaker opens, cools down, admits a trial and closes: one table per cause, then the steps after an opening.

mod failing;

use crate::decide::sim::{Sim, Turn, criterion, item, spec};
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
fn opened(spec: LoopSpec, turns: Vec<Turn>) -> Option<(u32, String)> {
    let sim = Sim::new(LoopSpec { attended: false, ..spec }, "ff", turns).run();
    let outcome = sim.state.outcome()?;
    (outcome.kind == OutcomeKind::Breaker).then(|| (sim.state.iteration, outcome.sentence.to_string()))
}

#[track_caller]
fn trips(turns: Vec<Turn>, after: u32, why: &str) {
    let found = opened(alone(), turns);
    assert_eq!(found, Some((after, format!("breaker open: {why}"))));
}

/// The turns never open it; a last one completes the loop.
#[track_caller]
fn holds(mut turns: Vec<Turn>) {
    let count = turns.len();
    turns.push(Turn::new("pp"));
    let sim = Sim::new(alone(), "ff", turns).run();
    let outcome = sim.state.outcome().cloned().unwrap_or_else(|| panic!("{:?}", sim.state.pause));
    assert_eq!(
        (outcome.kind, sim.state.iteration as usize),
        (OutcomeKind::Completed, count + 1),
        "{outcome:?}"
    );
}

fn times(count: usize, act: &Turn) -> Vec<Turn> {
    vec![act.clone(); count]
}

fn repeat<const N: usize>(turns: [Turn; N], count: usize) -> Vec<Turn> {
    vec![turns; count].concat()
}

fn fast(act: Turn) -> Turn {
    Turn { takes_ms: 9_000, ..act }
}

fn denied(act: Turn) -> Turn {
    Turn { denied: vec!["Bash(make)"], ..act }
}

fn makes(tree: &'static str) -> Turn {
    Turn { makes: Some(tree), ..Turn::new("ff") }
}

fn prints(error: &'static str) -> Turn {
    Turn { errors: vec![error], ..Turn::new("ff") }
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

fn writes(output: u64) -> Turn {
    Turn { output, fact: "exit 1", ..Turn::new("ff") }
}

#[test]
fn three_iterations_without_a_change_trip_the_breaker() {
    let idle = || Turn::idle("ff");
    trips(times(3, &idle()), 3, "3 iterations without a file change");
    holds([times(2, &idle()), vec![Turn::new("ff")], times(2, &idle())].concat());
    // A failure of the provider neither counts nor clears the count.
    let provider_failure = || Turn::fails(ProviderClass::Transient, "ff");
    trips(
        vec![idle(), provider_failure(), idle(), provider_failure(), idle()],
        5,
        "3 iterations without a file change",
    );
    holds(vec![idle(), provider_failure(), provider_failure(), idle(), provider_failure()]);
    // Files that a failing agent changed are progress, too.
    holds(vec![idle(), idle(), Turn { changed: vec!["a"], ..provider_failure() }, idle(), idle()]);
}

#[test]
fn two_fast_failures_trip_the_breaker() {
    let quick = || fast(Turn::idle("ff"));
    trips(times(2, &quick()), 2, "2 iterations under 10 s without a file change");
    // A slow one, or one that changes something, does not count.
    trips(vec![quick(), Turn::idle("ff"), quick()], 3, "3 iterations without a file change");
    holds(times(9, &fast(Turn::new("ff"))));
    holds(vec![quick(), fast(Turn::new("ff")), quick()]);
    let crash = || Turn { takes_ms: 10, ..Turn::fails(ProviderClass::Transient, "ff") };
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
    trips(times(2, &denied(Turn::idle("ff"))), 2, why);
    trips(times(2, &fast(denied(Turn::idle("ff")))), 2, why);
    holds(times(9, &denied(Turn::new("ff"))));
    holds(vec![denied(Turn::idle("ff")), Turn::new("ff"), denied(Turn::idle("ff"))]);
}

#[test]
fn three_returns_to_earlier_trees_trip_the_breaker() {
    let why = "the files returned to an earlier state 3 times";
    trips(repeat([makes("a"), makes("b")], 3), 5, why);
    trips(repeat([makes("a"), makes("b"), makes("c")], 3), 6, why);
    // Turning one criterion by breaking the other is no progress.
    let act = |tree, results| Turn { makes: Some(tree), ..Turn::new(results) };
    trips(repeat([act("a", "pf"), act("b", "fp")], 3), 5, why);
    // Reverting something, even twice, is work.
    holds(vec![makes("a"), makes("b"), makes("a"), makes("c"), makes("a"), makes("d")]);
    // A tree that stays is no return, and one from long ago none either.
    let new = || times(10, &Turn::new("ff"));
    holds(
        [vec![makes("a")], new(), vec![makes("a")], new(), vec![makes("a")], new(), vec![makes("a")]]
            .concat(),
    );
}

#[test]
fn the_same_error_five_times_in_a_row_trips_the_breaker() {
    let missing = "error: cannot find /home/me/a.rs:12";
    let elsewhere = "error: cannot find /tmp/b.rs:7";
    let check = |turns: Vec<Turn>, after: Option<u32>| {
        let why = format!("breaker open: 5 iterations with the same error: {elsewhere}");
        assert_eq!(opened(unchecked(), turns), after.map(|it| (it, why)));
    };
    // Numbers and places do not make it another one.
    check([times(4, &prints(missing)), vec![prints(elsewhere)]].concat(), Some(5));
    let both = Turn { errors: vec!["error: something else", missing], ..prints(missing) };
    check([vec![both], times(3, &prints(missing)), vec![prints(elsewhere)]].concat(), Some(5));
    let other = "error: another";
    let changing = Turn { errors: vec![other, missing], ..prints(other) };
    check(
        [vec![prints(other), changing], times(3, &prints(missing)), vec![prints(elsewhere)]].concat(),
        Some(6),
    );
    // In a row, and the same in all of them.
    check([times(4, &prints(missing)), vec![Turn::new("ff")], times(4, &prints(missing))].concat(), None);
    check([times(4, &prints(missing)), times(4, &prints(other))].concat(), None);
    // A provider failure in between is no evidence.
    let provider_failure = Turn { errors: vec![], ..Turn::fails(ProviderClass::Transient, "ff") };
    check([times(4, &prints(missing)), vec![provider_failure, prints(elsewhere)]].concat(), Some(6));
}

#[test]
fn an_improvement_restarts_the_count_of_an_error() {
    let missing = "error: cannot find a.rs";
    // A criterion that turns, a count that moves, an item that is done.
    let turned = Turn { results: "pf", ..prints(missing) };
    holds([times(4, &prints(missing)), times(5, &turned)].concat());
    let moves = ["3 of 9 fail", "2 of 9 fail"].map(|fact| Turn { fact, ..prints(missing) });
    holds(repeat(moves, 5));
    let mut planned = unchecked();
    planned.plan = (0..9).map(|it| item(&it.to_string())).collect();
    let ticking = (1..9).map(|ticks| Turn { ticks, ..prints(missing) }).collect();
    assert_eq!(opened(planned, ticking), None);
}

#[test]
fn two_declines_of_output_in_a_row_trip_the_breaker() {
    let trips = |turns, after, why: &str| {
        assert_eq!(opened(patient(), turns), Some((after, format!("breaker open: {why}"))));
    };
    let holds = |turns| assert_eq!(opened(patient(), turns), None);
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
        [
            much(),
            vec![writes(10), Turn { results: "pf", ..writes(10) }, Turn { results: "pf", ..writes(10) }],
        ]
        .concat(),
    );
    let says = Turn { says: "<promise>COMPLETE</promise>", ..writes(10) };
    holds([much(), times(4, &says)].concat());
    let moves = ["3 of 9 fail", "2 of 9 fail"].map(|fact| Turn { fact, ..writes(10) });
    holds([much(), repeat(moves, 3)].concat());
}

#[test]
fn provider_failures_never_count() {
    for class in [ProviderClass::Transient, ProviderClass::Quota, ProviderClass::Crash, ProviderClass::Login]
    {
        let act = Turn {
            denied: vec!["Bash(make)"],
            errors: vec!["error: no"],
            takes_ms: 1,
            ..Turn::fails(class, "ff")
        };
        let mut sim = Sim::new(two(), "ff", times(3, &act));
        for _ in 0..60 {
            sim.step();
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
    let mut sim = Sim::new(two(), "ff", times(3, &Turn::idle("ff")));
    while sim.state.breaker.state != BreakerState::Open {
        sim.step();
    }
    let opened_at = sim.now.awake;
    assert_eq!(breaker::cooldown_end(&sim.state).map(|it| it.awake), Some(opened_at + HALF_HOUR));
    sim.turns.extend([Turn::new("ff"), Turn::idle("ff"), Turn::idle("ff"), Turn::new("pp")]);
    while sim.state.iteration < 4 {
        sim.step();
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
    let mut sim = Sim::new(patient, "ff", times(6, &Turn::idle("ff"))).run();
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
    sim.turns.push(Turn::idle("ff"));
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!((sim.state.iteration, sim.state.breaker.trips), (7, 5));
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Breaker));
    // A reset forgets the openings.
    sim.turns.extend([times(3, &Turn::idle("ff")), vec![Turn::new("pp")]].concat());
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
    let sim = Sim::new(patient, "ff", times(11, &Turn::idle("ff"))).run();
    let opened: Vec<String> = changes(&sim).into_iter().filter(|it| it.starts_with("open")).collect();
    let minutes: Vec<&str> = opened.iter().filter_map(|it| it.rsplit(' ').next()).collect();
    assert_eq!(minutes, ["600", "1200", "1440", "1440", "1440", "1440", "1440", "1440", "1440"]);
}

#[test]
fn a_failed_trial_names_its_reason() {
    let trip = vec![makes("a"), makes("b"), makes("a"), makes("b"), makes("a")];
    let check = |trial: Turn, why: &str| {
        let mut two = two();
        two.settings.breaker.max_trips = 2;
        let sim = Sim::new(two, "ff", [trip.clone(), vec![trial]].concat()).run();
        assert_eq!(sim.sentence(), format!("breaker open: retried, {why}; opened 2 times"));
        assert_eq!(sim.state.iteration, 6);
    };
    check(Turn::idle("ff"), "still without a file change");
    check(makes("b"), "the files only returned to an earlier state");
    check(Turn { hangs: true, ..Turn::idle("ff") }, "no activity after 15 min");
    // A criterion that turns without a change of the tree is not the agent's work.
    check(Turn::idle("pf"), "still without a file change");
}

#[test]
fn a_trial_has_no_more_time_than_the_loop() {
    let mut short = two();
    short.settings.limits.idle_ms = 1_000 * HALF_HOUR;
    short.settings.limits.duration_ms = HALF_HOUR + 10 * 60_000;
    let turns = [times(3, &Turn::idle("ff")), vec![Turn { hangs: true, ..Turn::idle("ff") }]].concat();
    let sim = Sim::new(short, "ff", turns).run();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit));
    assert!(sim.state.time.worked_ms < HALF_HOUR + 11 * 60_000, "{}", sim.state.time.worked_ms);
    assert_eq!(sim.state.iteration, 4);
}

#[test]
fn a_cooldown_ends_with_the_duration_limit() {
    let mut short = two();
    short.settings.limits.duration_ms = HALF_HOUR;
    let sim = Sim::new(short, "ff", times(3, &Turn::idle("ff"))).run();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit));
    assert!(sim.state.time.worked_ms <= HALF_HOUR + 100, "{}", sim.state.time.worked_ms);
    // Without a remaining iteration the loop does not wait.
    let mut few = two();
    few.settings.limits.iterations = 3;
    let sim = Sim::new(few, "ff", times(3, &Turn::idle("ff"))).run();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit));
    assert!(sim.state.time.worked_ms < HALF_HOUR);
}

#[test]
fn a_trial_that_failed_because_of_the_provider_is_repeated() {
    for class in [ProviderClass::Transient, ProviderClass::Quota, ProviderClass::Crash] {
        let provider_failure = || Turn::fails(class, "ff");
        let begin =
            |rest: Vec<Turn>| Sim::new(two(), "ff", [times(3, &Turn::idle("ff")), rest].concat()).run();
        let sim = begin(vec![provider_failure(), provider_failure(), Turn::new("ff"), Turn::new("pp")]);
        assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true), "{class:?}");
        let passed = ["open no-progress 1 30", "half-open cooldown 1 30", "closed trial-passed 1 0"];
        assert_eq!(changes(&sim), passed, "{class:?}");
        // Three times, then it needs its user.
        let mut sim = begin(vec![provider_failure(), provider_failure(), provider_failure()]);
        assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Agent), "{class:?}");
        assert_eq!((sim.state.iteration, sim.state.breaker.state), (6, BreakerState::HalfOpen), "{class:?}");
        sim.turns.extend([Turn::new("ff"), Turn::new("pp")]);
        sim.command(UserCommand::Resume);
        sim.play();
        assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true), "{class:?}");
    }
}

#[test]
fn the_user_can_end_a_cooldown() {
    let cooling_down = || {
        let mut sim = Sim::new(two(), "ff", times(3, &Turn::idle("ff")));
        while sim.state.breaker.state != BreakerState::Open {
            sim.step();
        }
        sim.turns.extend([Turn::new("ff"), Turn::new("pp")]);
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
        let mut sim = Sim::new(two(), "ff", [times(3, &Turn::idle("ff")), vec![Turn::new("pp")]].concat());
        while sim.state.breaker.state != BreakerState::Open {
            sim.step();
        }
        let due = sim.now.wall + HALF_HOUR;
        sim.now = sim.now.plus_ms(10 * 60_000);
        sim.crash(boot);
        while sim.state.iteration < 4 {
            assert!(sim.step());
        }
        assert!((due..due + 1_000).contains(&sim.now.wall), "{boot}: {} from {due}", sim.now.wall);
        sim.play();
        assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true));
    }
}

#[test]
fn an_opening_records_its_evidence() {
    let opening = |turns: Vec<Turn>| -> (BreakerCause, TripEvidence) {
        let sim = Sim::new(alone(), "ff", turns).run();
        let found = sim.entries.iter().find_map(|it| match &it.record {
            Record::BreakerChanged { cause: Some(cause), opening: Some(opening), .. } => {
                Some((*cause, opening.as_ref().clone()))
            }
            _ => None,
        });
        found.expect("an opening")
    };
    let (cause, evidence) = opening(vec![
        Turn { errors: vec!["error: before"], ..Turn::new("ff") },
        Turn { errors: vec!["error: one"], denied: vec!["Bash(make)"], ..Turn::idle("ff") },
        Turn { errors: vec!["error: two", "error: one"], ..Turn::idle("ff") },
        Turn::idle("ff"),
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
    let mut sim = Sim::new(two(), "ff", vec![Turn::idle("ff"), Turn::new("ff")]);
    while sim.state.iteration < 2 {
        sim.step();
    }
    while !sim.state.is_between_iterations() {
        assert_eq!(breaker::counts(&sim.state).no_progress, 1, "{:?}", sim.state.phase);
        sim.step();
    }
    assert_eq!(breaker::counts(&sim.state).no_progress, 0);
}
