//! Sessions: fresh by default, or continued until they expire, are lost, or are given up.

use crate::decide::UserCommand;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::SessionReason::{self, Breaker, Ended, Refused, Reset, RolledBack, Started, Unconfirmed};
use crate::journal::{LoopSpec, Record};
use loopkeeper_agent::ProviderClass;

const HOUR: u64 = 60 * 60_000;

fn resuming_spec() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.session.resume = true;
    spec
}

fn sim(turns: Vec<Turn>) -> Sim {
    Sim::new(resuming_spec(), "f", turns)
}

/// Which start's session each start was given, `+` where it continues: `1 1+ 3`.
fn starts(sim: &Sim) -> String {
    let first = |id: &String| sim.sessions.iter().position(|it| it.0 == *id).map_or(0, |it| it + 1);
    let one = |(id, resumed): &(String, bool)| format!("{}{}", first(id), if *resumed { "+" } else { "" });
    sim.sessions.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn reasons(sim: &Sim) -> Vec<SessionReason> {
    let reason = |it: &Record| match it {
        Record::SessionChanged { reason, .. } => Some(*reason),
        _ => None,
    };
    sim.entries.iter().filter_map(|it| reason(&it.record)).collect()
}

fn work() -> Turn {
    Turn::new("f")
}

#[test]
fn every_iteration_has_a_fresh_session_unless_set_to_continue() {
    let turns = || vec![work(), work(), Turn::new("p")];
    let fresh = Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", turns()).run();
    assert_eq!((starts(&fresh).as_str(), reasons(&fresh)), ("1 2 3", vec![]));
    let on = sim(turns()).run();
    assert_eq!(starts(&on), "1 1+ 1+");
    assert_eq!(reasons(&on), [Started, Ended]);
    assert!(on.prompts[0].contains("You start with a fresh context"), "{}", on.prompts[0]);
    assert!(
        on.prompts[1].contains("You continue the session of the previous iteration"),
        "{}",
        on.prompts[1]
    );
    assert!(on.state.session.current.is_none(), "an ended loop has no current session");
    assert_eq!(on.state.session.resets, 0);
}

#[test]
fn an_unused_session_expires() {
    let after = |rest: u64, boot: &str| {
        let mut sim = sim(vec![work(), Turn::new("p")]);
        while sim.state.iteration < 1 {
            sim.step();
        }
        sim.command(UserCommand::Pause);
        sim.play();
        sim.now = sim.now.plus_ms(rest);
        if !boot.is_empty() {
            sim.crash(boot);
        }
        sim.command(UserCommand::Resume);
        sim.play();
        starts(&sim)
    };
    assert_eq!(after(23 * HOUR, ""), "1 1+");
    assert_eq!(after(25 * HOUR, ""), "1 2");
    // Another boot restarted the clock.
    assert_eq!(after(23 * HOUR, "boot-2"), "1 1+");
    assert_eq!(after(25 * HOUR, "boot-2"), "1 2");
}

#[test]
fn a_lost_session_starts_again_without_a_crash() {
    let forgets = || Turn { forgets: true, ..Turn::idle("f") };
    let sim = sim(vec![work(), forgets(), work(), Turn::new("p")]).run();
    assert_eq!(starts(&sim), "1 1+ 3 3+");
    assert_eq!(reasons(&sim), [Started, Refused, Started, Ended]);
    assert!(!sim.entries.iter().any(|it| matches!(it.record, Record::Waiting { .. })), "no wait");
    assert_eq!((sim.state.streaks.failures, sim.state.session.resets), (0, 1));
    // An agent that loses its session twice starts with fresh ones from then on.
    let turns = vec![work(), forgets(), work(), forgets(), work(), work(), Turn::new("p")];
    assert_eq!(starts(&super::sessions::sim(turns).run()), "1 1+ 3 3+ 5 6 7");
}

#[test]
fn a_session_that_the_agent_never_began_is_not_resumed() {
    let crash = Turn::fails(ProviderClass::Crash, "f");
    let sim = sim(vec![crash, work(), Turn::new("p")]).run();
    assert_eq!(starts(&sim), "1 2 2+");
    assert_eq!(reasons(&sim), [Started, Unconfirmed, Ended]);
    // A session that was begun is resumed after a failure.
    let failure = Turn::fails(ProviderClass::Transient, "f");
    assert_eq!(starts(&super::sessions::sim(vec![work(), failure, Turn::new("p")]).run()), "1 1+ 1+");
}

#[test]
fn an_open_breaker_and_a_reset_give_up_the_session() {
    let idle = || Turn::idle("f");
    let mut tripped = sim(vec![idle(), idle(), idle(), Turn::new("p")]).run();
    tripped.command(UserCommand::Resume);
    tripped.play();
    assert_eq!(starts(&tripped), "1 1+ 1+ 4");
    assert_eq!(reasons(&tripped)[1], Breaker);
    let mut reset = sim(vec![work(), work(), Turn::new("p")]);
    while reset.state.iteration < 2 {
        reset.step();
    }
    reset.command(UserCommand::ResetSession);
    reset.play();
    assert_eq!(starts(&reset), "1 1+ 3");
    assert_eq!(reasons(&reset)[1], Reset);
    // Nothing to leave.
    let mut none = sim(vec![Turn::new("p")]);
    none.command(UserCommand::ResetSession);
    none.play();
    assert_eq!((none.refused.len(), reasons(&none).len()), (0, 2));
}

#[test]
fn a_new_keeper_continues_the_session_and_another_loop_does_not() {
    let mut first = sim(vec![work(), Turn::new("p")]);
    first.play_iterations(1);
    first.crash("boot-1");
    first.play();
    assert_eq!(starts(&first), "1 1+");
    let other = Sim::new(
        LoopSpec { loop_id: "20261120-bcdefg".to_owned(), ..resuming_spec() },
        "f",
        vec![Turn::new("p")],
    );
    let other = other.run();
    assert!(first.sessions.iter().all(|it| it.0 != other.sessions[0].0));
}

#[test]
fn only_the_last_fifty_changes_are_kept() {
    let mut spec = resuming_spec();
    spec.settings.limits.iterations = 60;
    spec.settings.limits.duration_ms = u64::MAX / 4;
    spec.settings.session.expires_ms = 1_000;
    spec.settings.limits.between_ms = 10_000;
    let sim = Sim::new(spec, "f", (0..60).map(|_| work()).collect()).run();
    assert_eq!(sim.state.session.changes.len(), 50);
    assert_eq!(sim.state.session.resets, 59);
    assert_eq!(sim.state.session.changes.last().map(|it| it.reason), Some(Ended));
}

#[test]
fn a_session_with_reverted_work_is_not_resumed() {
    let play = |to: u32, paths: Vec<String>| {
        let mut on = sim(vec![work(), work(), work(), Turn::new("p")]);
        while on.prompts.len() < 2 {
            on.step();
        }
        on.command(UserCommand::Pause);
        on.play();
        on.command(UserCommand::Rollback { to, paths });
        on.command(UserCommand::Resume);
        on.run()
    };
    let back = play(1, Vec::new());
    assert_eq!(reasons(&back), [Started, RolledBack, Started, Ended]);
    assert_eq!(starts(&back), "1 1+ 3 3+");
    assert!(back.prompts[2].contains("You start with a fresh context"), "{}", back.prompts[2]);
    // All of its work is still in the files, or only some files were rolled back.
    assert_eq!(reasons(&play(2, Vec::new())), [Started, Ended]);
    assert_eq!(reasons(&play(0, vec!["a".to_owned()])), [Started, Ended]);
}
