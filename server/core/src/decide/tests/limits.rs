//! Numbers that end a loop or make it wait: the provider's limits, the calls of an hour, and how they are reported.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{collection, prop_assert, proptest};

use crate::decide::sim::{Sim, Turn, criterion, quiet_run, spec};
use crate::decide::{Event, UserCommand, forecast};
use crate::journal::{Entry, LimitName, LoopSpec, OutcomeKind, PauseReason, Record, WaitReason};
use loopkeeper_agent::{AgentEnding, AgentRun, ProviderClass, ProviderError};
use loopkeeper_text::moment::Moment;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

fn one() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.limits.duration_ms = 1_000 * DAY;
    spec.settings.limits.iterations = 100;
    // Its agents end at once without a change.
    spec.settings.breaker.no_progress = 99;
    spec.settings.breaker.fast_failures = 99;
    spec
}

/// Plays until the agent of the next iteration is at work; the script has no act for it.
fn at_work(sim: &mut Sim) {
    let next = sim.state.iteration + 1;
    while sim.state.iteration < next || sim.state.phase.running_agent().is_none_or(|it| it.pid.is_none()) {
        assert!(sim.step(), "rests: {:?} {}", sim.state.phase, sim.sentence());
    }
}

/// Ends the running agent, and plays until the step after the iteration is decided.
fn ends(sim: &mut Sim, run: AgentRun) {
    sim.event(Event::AgentEnded(Box::new(run)));
    while !sim.state.is_between_iterations() {
        sim.step();
    }
    // The turn that decides the next step.
    sim.step();
}

fn refused(class: ProviderClass, resets_at: Option<u64>) -> AgentRun {
    let error = ProviderError { class, message: "no luck".to_owned(), status: None, resets_at };
    AgentRun { error: Some(error), ..quiet_run() }
}

/// The reason for the current wait, and its length from the end of the iteration before.
fn waits(sim: &Sim) -> Option<(WaitReason, u64)> {
    let ended = sim.state.last_iteration()?.ended_at;
    sim.state.phase.wait().map(|it| (it.reason, it.until.awake - ended.awake))
}

#[test]
fn a_quota_is_waited_for_until_its_reset_and_never_longer_than_a_day() {
    // The reset from now in ms, the nth refusal in a row -> the wait.
    let check = |resets_in: Option<i64>, nth: u32, expect: std::ops::RangeInclusive<u64>| {
        let mut sim = Sim::new(one(), "f", vec![]);
        for _ in 0..nth {
            at_work(&mut sim);
            let at = resets_in.map(|it| sim.now.wall.saturating_add_signed(it));
            ends(&mut sim, refused(ProviderClass::Quota, at));
        }
        let (reason, ms) = waits(&sim).expect("a wait");
        assert_eq!(reason, WaitReason::Quota);
        assert!(expect.contains(&ms), "{resets_in:?}, {nth}: {ms}");
    };
    let (hour, day) = (HOUR as i64, DAY as i64);
    check(None, 1, HOUR..=HOUR);
    check(None, 5, HOUR..=HOUR);
    check(Some(1_000), 1, 900..=1_600);
    check(Some(5 * hour), 1, 5 * HOUR - 10..=5 * HOUR + MINUTE);
    check(Some(5 * hour), 3, 5 * HOUR - 10..=5 * HOUR + MINUTE);
    // A reset that cannot be right: a century ahead, a week ahead, in the past.
    check(Some(100 * 365 * day), 1, DAY..=DAY);
    check(Some(i64::MAX), 1, DAY..=DAY);
    check(Some(7 * day), 4, DAY..=DAY);
    for past in [-1, -10 * 365 * day, i64::MIN] {
        check(Some(past), 1, MINUTE..=MINUTE);
        check(Some(past), 2, 2 * MINUTE..=2 * MINUTE);
        check(Some(past), 6, 32 * MINUTE..=32 * MINUTE);
        check(Some(past), 7, HOUR..=HOUR);
        check(Some(past), 30, HOUR..=HOUR);
    }
    // A reset in a second, again and again: the intervals grow as well.
    check(Some(1_000), 2, MINUTE..=MINUTE);
    check(Some(1_000), 9, HOUR..=HOUR);
}

#[test]
fn temporary_failures_back_off_exponentially_and_then_need_the_user() {
    let mut sim = Sim::new(one(), "f", vec![]);
    let mut found = Vec::new();
    for _ in 0..11 {
        at_work(&mut sim);
        ends(&mut sim, refused(ProviderClass::Transient, None));
        let (reason, ms) = waits(&sim).expect("a wait");
        assert_eq!(reason, WaitReason::Backoff);
        found.push(ms);
    }
    let bounds = [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map(|it| it * 1_000 + 100);
    assert!(found.iter().zip(bounds).all(|(ms, bound)| (100..=bound).contains(ms)), "{found:?}");
    assert!(found.iter().sum::<u64>() > 2 * MINUTE, "{found:?}");
    at_work(&mut sim);
    ends(&mut sim, refused(ProviderClass::Transient, None));
    sim.play();
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Agent));
    assert_eq!(
        sim.sentence(),
        "the provider of `mine` failed 12 times in a row: no luck. Hint: check whether it is down, then `loopkeeper resume`"
    );
    // The user's command restarts the backoff.
    sim.command(UserCommand::Resume);
    at_work(&mut sim);
    ends(&mut sim, refused(ProviderClass::Transient, None));
    assert!(waits(&sim).is_some_and(|(_, ms)| ms <= 2_100), "{:?}", waits(&sim));
}

#[test]
fn a_temporary_failure_that_names_a_time_is_waited_for_until_then() {
    let check = |ahead: Option<i64>, failures: u32, expect: std::ops::RangeInclusive<u64>| {
        let mut sim = Sim::new(one(), "f", vec![]);
        for _ in 0..failures {
            at_work(&mut sim);
            let at = ahead.map(|it| sim.now.wall.saturating_add_signed(it));
            ends(&mut sim, refused(ProviderClass::Transient, at));
        }
        let (reason, ms) = waits(&sim).expect("a wait");
        assert_eq!(reason, WaitReason::Backoff);
        assert!(expect.contains(&ms), "{ahead:?}, {failures}: {ms}");
    };
    check(Some(45_000), 1, 45_001..=48_000);
    // Never shorter than without.
    check(Some(1), 11, 100..=600_100);
    check(Some(HOUR as i64), 11, HOUR..=HOUR + MINUTE);
    // A time in the past or far in the future is ignored.
    check(Some(-45_000), 1, 100..=2_100);
    check(Some(40 * HOUR as i64), 1, 24 * HOUR..=24 * HOUR);
    check(None, 1, 100..=2_100);
}

#[test]
fn a_success_or_a_change_resets_the_backoff() {
    let fails = || Turn::fails(ProviderClass::Transient, "f");
    let mut turns: Vec<Turn> = (0..11).map(|_| fails()).collect();
    turns.push(Turn { changed: vec!["a.rs"], ..fails() });
    turns.extend((0..10).map(|_| fails()));
    turns.push(Turn::new("f"));
    turns.extend((0..11).map(|_| fails()));
    turns.push(Turn::new("p"));
    let sim = Sim::new(one(), "f", turns).run();
    assert_eq!(sim.sentence(), "completed, verified: the one required criterion passes after 35 iterations");
}

#[test]
fn failures_of_the_provider_are_no_failures_of_the_agent() {
    let turns = [ProviderClass::Crash, ProviderClass::Transient, ProviderClass::Quota, ProviderClass::Crash]
        .map(|it| Turn::fails(it, "f"));
    let sim = Sim::new(one(), "f", [turns.to_vec(), vec![Turn::new("p")]].concat()).run();
    assert_eq!(sim.state.outcome().map(|it| it.verified), Some(true), "{}", sim.sentence());
    let third = vec![Turn::fails(ProviderClass::Crash, "f")];
    let sim = Sim::new(one(), "f", [turns.to_vec(), third].concat()).run();
    assert_eq!(sim.sentence(), "the agent `mine` failed 3 times in a row: no luck");
}

#[test]
fn failures_that_need_a_person_ask_the_user() {
    let missing = "could not be started: `./agent.sh` was not found, or is not executable.";
    let check = |class, ending, message: &str, attended, expect: &str| {
        let mut sim = Sim::new(LoopSpec { attended, ..one() }, "f", vec![]);
        at_work(&mut sim);
        let mut run = refused(class, None);
        run.ending = ending;
        run.program_missing = ending == AgentEnding::NotStarted;
        run.error.as_mut().expect("an error").message = message.to_owned();
        ends(&mut sim, run);
        sim.play();
        assert_eq!(sim.sentence(), expect);
        assert_eq!((sim.state.iteration, sim.state.outcome().is_none()), (1, attended));
        if let Some(outcome) = sim.state.outcome() {
            assert_eq!((outcome.kind, outcome.cause), (OutcomeKind::Failed, Some(PauseReason::Agent)));
        }
    };
    let login = "the agent `mine` is not logged in: Invalid API key. Hint: log in to what `agents.mine.command` uses, \
                 or name the variable that holds its key in `env.pass`, then ";
    let (by_itself, never) = (AgentEnding::Exited, AgentEnding::NotStarted);
    check(ProviderClass::Login, by_itself, "Invalid API key", true, &format!("{login}`loopkeeper resume`"));
    check(ProviderClass::Login, by_itself, "Invalid API key", false, &format!("{login}start again"));
    let bill = "the account of the agent `mine` has no credit left: Credit balance is too low. Hint: add credit to the \
                account or choose another agent, then ";
    let low = "Credit balance is too low";
    check(ProviderClass::Billing, by_itself, low, true, &format!("{bill}`loopkeeper resume`"));
    check(ProviderClass::Billing, by_itself, low, false, &format!("{bill}start again"));
    let install = "the agent `mine` could not be started: `./agent.sh` was not found, or is not executable. \
                   Hint: install it or set `agents.mine.command`, then ";
    check(ProviderClass::Crash, never, missing, true, &format!("{install}`loopkeeper resume`"));
    check(ProviderClass::Crash, never, missing, false, &format!("{install}start again"));
}

#[test]
fn a_missing_login_asks_the_user() {
    let check = |argv: &[&str], expect: &str| {
        let mut spec = one();
        spec.agent.argv = argv.iter().map(ToString::to_string).collect();
        let mut sim = Sim::new(spec, "f", vec![]);
        at_work(&mut sim);
        ends(&mut sim, refused(ProviderClass::Login, None));
        sim.play();
        let sentence = sim.sentence();
        assert!(
            sentence.contains(&format!(". Hint: {expect}, then `loopkeeper resume`")),
            "{argv:?}: {sentence}"
        );
    };
    let own =
        "log in to what `agents.mine.command` uses, or name the variable that holds its key in `env.pass`";
    check(&["/usr/bin/sh", "./agent.sh"], own);
    check(&["aider", "--model", "claude"], own);
    check(&["/opt/bin/claude", "-p"], "start `claude` in a terminal and log in with `/login`");
    check(&["npx", "codex"], "log in with `codex login`");
}

#[test]
fn a_start_that_failed_is_tried_three_times() {
    let mut sim = Sim::new(one(), "f", vec![]);
    for _ in 0..3 {
        at_work(&mut sim);
        let mut run = refused(ProviderClass::Crash, None);
        run.ending = AgentEnding::NotStarted;
        ends(&mut sim, run);
    }
    sim.play();
    assert_eq!(sim.sentence(), "the agent `mine` failed 3 times in a row: no luck");
}

#[test]
fn a_wait_that_outlasts_the_loop_is_not_waited_for() {
    let check = |class, attended, duration: u64, expect: &str| {
        let mut short = LoopSpec { attended, ..one() };
        short.settings.limits.duration_ms = duration;
        let sim = Sim::new(short, "f", vec![Turn::fails(class, "f")]).run();
        assert_eq!(sim.sentence(), expect);
        assert!(sim.state.time.worked_ms < 2 * MINUTE, "{}", sim.state.time.worked_ms);
        assert!(!sim.entries.iter().any(|it| matches!(it.record, Record::Waiting { .. })));
    };
    let hour = "limit reached: the provider's usage limit lasts longer than the 1 h of this loop, stopped after 1 \
                iteration; the last iteration failed: no luck; the one required criterion does not pass";
    check(ProviderClass::Quota, true, HOUR, hour);
    check(ProviderClass::Quota, false, HOUR, hour);
    let soon = "limit reached: the next attempt at the provider is due after the 1 min 1 s of this loop, stopped \
                after 1 iteration; the last iteration failed: no luck; the one required criterion does not pass";
    check(ProviderClass::Crash, true, 61_900, soon);
}

#[test]
fn the_token_limit_holds_over_all_restarts() {
    let mut thrifty = one();
    thrifty.settings.limits.tokens = Some(5_000_000);
    thrifty.settings.breaker.no_progress = 100;
    thrifty.settings.breaker.same_error = 100;
    let mut sim = Sim::new(thrifty, "f", vec![]);
    for _ in 0..7 {
        at_work(&mut sim);
        ends(&mut sim, AgentRun { tokens: Some(750_000), ..quiet_run() });
        let boot = sim.state.position.boot.clone();
        sim.crash(&boot);
    }
    sim.play();
    assert_eq!(
        sim.sentence(),
        "limit reached: 5.2 M of 5 M tokens used, after 7 iterations; the one required criterion does not pass"
    );
}

fn near(sim: &Sim) -> Vec<(u32, Vec<LimitName>)> {
    let of = |it: &Entry| match &it.record {
        Record::IterationEnded { iteration, near, .. } if !near.is_empty() => {
            Some((*iteration, near.clone()))
        }
        _ => None,
    };
    sim.entries.iter().filter_map(of).collect()
}

#[test]
fn four_fifths_of_a_limit_are_reported_once() {
    let mut tight = one();
    tight.settings.limits.iterations = 10;
    tight.settings.limits.cost_micros = 1_000_000;
    tight.settings.limits.duration_ms = 11 * MINUTE;
    let turns = (0..10).map(|_| Turn { cost: 120_000, ..Turn::new("f") }).collect();
    let mut sim = Sim::new(tight, "f", turns);
    while sim.state.iteration < 8 {
        sim.step();
    }
    let boot = sim.state.position.boot.clone();
    sim.crash(&boot);
    sim.play();
    let expect = vec![(7, vec![LimitName::Cost]), (8, vec![LimitName::Iterations])];
    assert_eq!(near(&sim)[..2], expect);
    let sentences: Vec<&str> = sim.state.history.recent().iter().map(|it| it.sentence.as_str()).collect();
    assert_eq!(sentences[6], "1 file changed, 0 of 1 pass; budget almost used: $0.84 of $1.00 spent");
    assert_eq!(sentences.iter().filter(|it| it.contains("$1.00 spent")).count(), 1, "{sentences:?}");
    let has_note: Vec<bool> = sim.prompts.iter().map(|it| it.contains("The budget is almost used")).collect();
    assert_eq!(has_note[..8], [false, false, false, false, false, false, false, true]);
}

#[test]
fn a_forecast_names_the_limit_that_is_reached_first() {
    let check = |spec: LoopSpec, turns: usize, cost: u64, expect: Option<&str>| {
        let turns = (0..turns).map(|_| Turn { cost, ..Turn::new("f") }).collect();
        let mut sim = Sim::new(spec, "f", turns);
        let count = sim.turns.len() as u32;
        sim.play_iterations(count);
        assert_eq!(forecast::forecast(&sim.state).as_deref(), expect);
    };
    check(one(), 2, 500_000, None);
    let dear = "about $2.00 per iteration: at this pace the cost limit is reached after iteration 13";
    check(one(), 3, 2_000_000, Some(dear));
    let all = "about $0.01 per iteration: at this pace all 100 iterations cost about $1.00";
    check(one(), 4, 10_000, Some(all));
    let mut short = one();
    short.settings.limits.duration_ms = 20 * MINUTE;
    let slow = "about 1 min 1 s per iteration: at this pace the time limit is reached after iteration 20";
    check(short, 3, 0, Some(slow));
}

#[test]
fn the_hourly_call_limit_is_waited_for() {
    let mut few = one();
    few.settings.limits.calls_per_hour = 3;
    let turns = || (0..6).map(|_| Turn::new("f")).chain([Turn::new("p")]).collect();
    let sim = Sim::new(few.clone(), "f", turns()).run();
    assert!(sim.sentence().ends_with("after 7 iterations"), "{}", sim.sentence());
    let waits = |sim: &Sim| {
        let is_one = |it: &&Entry| matches!(it.record, Record::Waiting { reason: WaitReason::Calls, .. });
        sim.entries.iter().filter(is_one).count()
    };
    assert_eq!(waits(&sim), 2, "3, 3, 1");
    assert_eq!(sim.state.spent.calls_this_hour, 3);
    // Calls of other loops count, and an unreadable list does not lift the limit.
    let mut sim = Sim::new(few.clone(), "f", vec![Turn::new("p")]);
    sim.calls = Some(vec![(sim.now.wall - 30 * MINUTE, "other", 1); 3]);
    sim.play();
    assert!(
        sim.state.time.worked_ms >= 30 * MINUTE && sim.state.time.worked_ms < 32 * MINUTE,
        "{}",
        sim.state.time.worked_ms
    );
    let mut sim = Sim::new(few.clone(), "f", turns());
    sim.calls = None;
    sim.play();
    assert_eq!((sim.state.iteration, waits(&sim)), (7, 2));
    assert_eq!(
        sim.state.reported.calls_note.as_deref(),
        Some("no list: the calls of other loops are not counted")
    );
    // A wait that would outlast the loop ends it.
    few.settings.limits.duration_ms = 30 * MINUTE;
    let sim = Sim::new(few, "f", turns()).run();
    assert_eq!(
        sim.sentence(),
        "limit reached: the hourly call limit is reached for longer than the 30 min of this loop, stopped after 3 \
         iterations; the one required criterion does not pass"
    );
}

#[test]
fn commands_are_handled_while_a_slot_is_requested() {
    let asked = || {
        let mut sim = Sim::new(one(), "f", vec![Turn::new("p")]);
        while !sim.live.work.is_asking() {
            sim.step();
        }
        sim
    };
    for command in [UserCommand::Stop, UserCommand::StopNow] {
        let mut sim = asked();
        sim.command(command);
        sim.play();
        assert_eq!((sim.sentence().as_str(), sim.state.iteration), ("stopped before the first iteration", 0));
    }
    let mut sim = asked();
    sim.command(UserCommand::Pause);
    sim.play();
    assert_eq!((sim.state.iteration, sim.state.pause.is_some()), (0, true));
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(sim.state.iteration, 1);
    // No question is asked twice, whatever happens in between.
    let mut sim = asked();
    sim.command(UserCommand::ResetBreaker);
    sim.play();
    assert_eq!((sim.state.iteration, sim.prompts.len()), (1, 1));
}

#[derive(Debug, Clone)]
enum Disturbance {
    Turns(u8),
    Crash,
    Reboot,
    Wall(i64),
    Command(u8),
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    let far = 10 * 365 * DAY as i64;
    prop_oneof![
        4 => (0..12_u8).prop_map(Disturbance::Turns),
        1 => Just(Disturbance::Crash),
        1 => Just(Disturbance::Reboot),
        2 => (-far..far).prop_map(Disturbance::Wall),
        1 => (-(2 * HOUR as i64)..2 * HOUR as i64).prop_map(Disturbance::Wall),
        1 => (0..4_u8).prop_map(Disturbance::Command),
    ]
}

fn act() -> impl Strategy<Value = Turn> {
    let error = prop_oneof![
        2 => Just(None),
        3 => Just(Some(ProviderClass::Quota)),
        1 => Just(Some(ProviderClass::Transient)),
    ];
    (error, any::<bool>()).prop_map(|(error, changed)| Turn {
        error,
        changed: if changed { vec!["a.rs"] } else { vec![] },
        ..Turn::new("f")
    })
}

proptest! {
    #[test]
    fn nothing_starts_before_its_deadline(
        turns in collection::vec(act(), 0..25),
        disturbances in collection::vec(disturbance(), 0..25),
        limit in 1..5_u32,
        is_readable in any::<bool>(),
    ) {
        let mut made = one();
        made.settings.limits.iterations = 9;
        made.settings.limits.calls_per_hour = limit;
        let mut sim = Sim::new(made, "f", turns);
        if !is_readable { sim.calls = None; }
        for (i, disturbance) in disturbances.iter().enumerate() {
            match disturbance {
                Disturbance::Turns(n) => for _ in 0..*n { sim.step(); },
                Disturbance::Crash => { let boot = sim.state.position.boot.clone(); sim.crash(&boot); }
                Disturbance::Reboot => sim.crash(&format!("boot-{i}")),
                Disturbance::Wall(ms) => sim.now.wall = sim.now.wall.saturating_add_signed(*ms),
                Disturbance::Command(0) => sim.command(UserCommand::Pause),
                Disturbance::Command(1) => sim.command(UserCommand::ResetBreaker),
                Disturbance::Command(_) => sim.command(UserCommand::Resume),
            }
        }
        sim.play();
        let mut wait: Option<Moment> = None;
        let mut boot = String::new();
        let mut starts = 0;
        for entry in &sim.entries {
            match &entry.record {
                Record::LoopStarted { boot: of, .. } => boot.clone_from(of),
                Record::Recovered { boot: of, .. } if *of != boot => { boot.clone_from(of); wait = None; }
                Record::Waiting { reason: WaitReason::Quota | WaitReason::Calls, until, .. } => wait = Some(*until),
                Record::IterationIntended { .. } => {
                    starts += 1;
                    prop_assert!(starts <= 9, "the limit holds over all restarts");
                    prop_assert!(wait.is_none_or(|it| entry.at.awake >= it.awake), "no start before its time");
                    wait = None;
                }
                _ => {}
            }
        }
        prop_assert!(sim.state.outcome().is_some() || sim.state.pause.is_some(), "a loop pauses for a reason");
    }
}

#[test]
fn a_missing_login_asks_the_user_whatever_files_the_agent_wrote() {
    for class in [ProviderClass::Login, ProviderClass::Billing] {
        let act = Turn { error: Some(class), ..Turn::new("f") };
        let sim = Sim::new(one(), "f", vec![act.clone(), act]).run();
        assert_eq!(sim.state.iteration, 1, "{class:?}: {}", sim.sentence());
        assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Agent));
    }
}
