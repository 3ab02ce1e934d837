//! Hook mode: one session, held open by its stop hook, that works on many iterations.

use crate::decide::sim::{Sim, Turn, criterion, item, spec};
use crate::decide::{Event, Phase, UserCommand};
use crate::journal::{LoopSpec, OutcomeKind, PauseReason, Record};
use loopkeeper_agent::{LoopMode, ProviderClass};

fn hooked() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.mode = LoopMode::Hook;
    spec
}

fn sim(turns: Vec<Turn>) -> Sim {
    Sim::new(hooked(), "f", turns)
}

/// The records that show which agent works: `i`ntended, `h`eld or ended, `l`eft, `c`hecked, `e`nded.
pub(super) fn course(sim: &Sim) -> String {
    let letter = |record: &Record| match record {
        Record::IterationIntended { .. } => Some('i'),
        Record::AgentEnded { run, .. } => Some(if run.exit.is_none() { 'h' } else { 'x' }),
        Record::AgentLeft { .. } => Some('l'),
        Record::ChecksDone { .. } => Some('c'),
        Record::Paused { .. } => Some('p'),
        Record::Waiting { .. } => Some('w'),
        Record::Ended { .. } => Some('e'),
        _ => None,
    };
    sim.entries.iter().filter_map(|it| letter(&it.record)).collect()
}

#[test]
fn one_process_works_all_iterations_and_ends_before_verification() {
    let sim = sim(vec![Turn::new("f"), Turn::new("f"), Turn::new("p")]).run();
    assert_eq!(course(&sim), "ihcihcihclce");
    assert_eq!((sim.process.starts, sim.state.iteration), (1, 3));
    assert!(sim.state.outcome().is_some_and(|it| it.verified), "{}", sim.sentence());
    // Reported at its end, for all three together.
    assert_eq!(sim.state.spent.cost_micros, Some(30_000));
    assert!(sim.prompts[1].contains("You continue the session"), "{}", sim.prompts[1]);
}

#[test]
fn a_regression_at_exit_is_handled_in_the_same_session() {
    let mut sim = sim(vec![Turn::new("p"), Turn::new("p")]);
    while sim.entries.iter().all(|it| !matches!(it.record, Record::AgentLeft { .. })) {
        sim.step();
        if sim.live.agent.release_requested {
            sim.edited("f");
        }
    }
    sim.play();
    assert_eq!(course(&sim), "ihclcihclce");
    assert_eq!((sim.process.starts, sim.sessions[1].1), (2, true), "the session continues in a new process");
}

#[test]
fn a_loop_that_pauses_or_waits_releases_its_agent() {
    // The user's pause.
    let mut paused = sim(vec![Turn::new("f"), Turn::new("p")]);
    while paused.state.iteration < 1 {
        paused.step();
    }
    paused.command(UserCommand::Pause);
    paused.play();
    assert_eq!((course(&paused).as_str(), paused.process.alive), ("iphcl", false), "paused while it worked");
    paused.command(UserCommand::Resume);
    paused.play();
    assert!(course(&paused).ends_with("ihclce"), "{}", course(&paused));
    assert!(paused.sessions[1].1, "resumed");

    // A configured wait between two iterations.
    let mut spec = hooked();
    spec.settings.limits.between_ms = 60_000;
    let waits = Sim::new(spec, "f", vec![Turn::new("f"), Turn::new("p")]).run();
    assert_eq!((course(&waits).as_str(), waits.process.starts), ("ihcwlihclce", 2));

    // The breaker opens, which also gives up the session.
    let idle = || Turn::idle("f");
    let open = sim(vec![idle(), idle(), idle(), Turn::new("p")]).run();
    assert_eq!(course(&open), "ihcihcihclihclce");
    assert_eq!((open.process.starts, open.sessions[3].1), (2, false));

    // A new criterion that is not trusted is found while the next iteration is prepared.
    let mut untrusted = sim(vec![Turn::new("f"), Turn::new("p")]);
    untrusted.play_iterations(1);
    untrusted.documents.push(criterion("new", "make new"));
    untrusted.untrusted = vec![criterion("new", "make new").id];
    untrusted.play();
    assert_eq!(untrusted.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Trust));
    assert!(!untrusted.process.alive);
}

#[test]
fn limits_hold_and_the_cost_is_known_at_the_end() {
    let mut spec = hooked();
    spec.settings.limits.iterations = 3;
    let limit = Sim::new(spec, "f", (0..9).map(|_| Turn::new("f")).collect()).run();
    assert_eq!((course(&limit).as_str(), limit.process.starts), ("ihcihcihcle", 1));
    let outcome = limit.state.outcome().expect("ended");
    assert_eq!((outcome.kind, limit.state.spent.cost_micros), (OutcomeKind::Limit, Some(30_000)));
}

#[test]
fn an_agent_with_a_cap_is_started_again_in_its_session() {
    let mut capped = sim((0..5).map(|_| Turn::new("f")).chain([Turn::new("p")]).collect());
    capped.process.cap = Some(2);
    capped.play();
    assert_eq!((course(&capped).as_str(), capped.process.starts), ("ihcihcihclihcihcihclce", 2));
    assert!(capped.sessions.iter().skip(1).all(|it| it.1), "one session");
}

#[test]
fn after_a_crash_of_agent_or_keeper_the_session_continues() {
    let crash = Turn::fails(ProviderClass::Crash, "f");
    let agent = sim(vec![Turn::new("f"), crash, Turn::new("p")]).run();
    assert_eq!((course(&agent).as_str(), agent.process.starts), ("ihcixwihclce", 2));
    let mut keeper = sim(vec![Turn::new("f"), Turn::new("p")]);
    while keeper.state.phase != Phase::Checking {
        keeper.step();
    }
    keeper.crash("boot-1");
    keeper.play();
    assert_eq!((keeper.process.starts, keeper.sessions[1].1), (2, true));
    assert!(keeper.state.outcome().is_some_and(|it| it.verified));
}

#[test]
fn a_keeper_that_dies_before_the_last_round_runs_it() {
    let mut sim = sim(vec![Turn::new("p")]);
    sim.play_iterations(1);
    sim.crash("boot-2");
    sim.play();
    assert_eq!(course(&sim), "ihcce");
}

#[test]
fn an_agent_that_exits_between_iterations_continues_in_a_new_process() {
    let mut sim = sim(vec![Turn::new("f"), Turn::new("p")]);
    while sim.state.phase != Phase::Checking {
        sim.step();
    }
    sim.process.alive = false;
    sim.event(Event::AgentLeft(Box::default()));
    sim.play();
    assert_eq!((course(&sim).as_str(), sim.process.starts), ("ihlcihclce", 2));
}

#[test]
fn a_stop_runs_the_checks_first_and_a_stop_now_does_not() {
    for (command, expect) in [(UserCommand::Stop, "ihcle"), (UserCommand::StopNow, "ihe")] {
        let mut sim = sim(vec![Turn::new("f"), Turn::new("f")]);
        while sim.state.phase != Phase::Checking {
            sim.step();
        }
        sim.command(command);
        sim.play();
        assert_eq!(course(&sim), expect);
    }
}

#[test]
fn a_fresh_session_needs_another_process() {
    let mut sim = sim(vec![Turn::new("f"), Turn::new("p")]);
    while sim.state.phase != Phase::Checking {
        sim.step();
    }
    sim.command(UserCommand::ResetSession);
    sim.play();
    assert_eq!((sim.process.starts, sim.sessions[1].1), (2, false));
}

#[test]
fn an_open_plan_keeps_the_session() {
    let mut spec = hooked();
    spec.plan = vec![item("x")];
    let sim = Sim::new(spec, "f", vec![Turn::new("p"), Turn { ticks: 1, ..Turn::new("p") }]).run();
    assert_eq!((course(&sim).as_str(), sim.process.starts), ("ihcihclce", 1));
}
