//! A session that its user attached to the loop: no process of it is started or ended, and without it the loop pauses.

use super::hook_mode::course;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::decide::{Event, Phase, UserCommand};
use crate::journal::{OutcomeKind, PauseReason, Record};
use loopkeeper_agent::{LoopMode, ProviderClass};

/// The loop that waits for its first session.
fn waiting(turns: Vec<Turn>) -> Sim {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.mode = LoopMode::Attach;
    let mut sim = Sim::new(spec, "f", turns);
    sim.play();
    assert_eq!(course(&sim), "p");
    assert!(wanted(&sim).contains("give `claude` in this folder any prompt"), "{}", wanted(&sim));
    sim
}

/// The reason why the loop is paused.
fn wanted(sim: &Sim) -> String {
    let pause = sim.state.pause.as_ref().expect("it is paused");
    assert_eq!(pause.reason, PauseReason::Session);
    pause.message.to_string()
}

fn attach(sim: &mut Sim, holds: u32) {
    sim.attach("s1", holds);
    sim.play();
}

#[test]
fn an_attached_session_works_until_everything_passes() {
    let mut sim = waiting(vec![Turn::new("f"), Turn::new("f"), Turn::new("p")]);
    attach(&mut sim, 8);
    // The round while its hook waited decides.
    assert_eq!(course(&sim), "pihcihcihcle");
    let outcome = sim.state.outcome().expect("ended");
    assert!(outcome.verified && outcome.kind == OutcomeKind::Completed, "{outcome:?}");
    assert!(sim.sessions.iter().all(|it| it.0 == "s1"), "{:?}", sim.sessions);
    assert_eq!(sim.sessions.iter().map(|it| it.1).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(sim.process.starts, 0);
    assert!(sim.prompts[0].contains("a fresh context"), "{}", sim.prompts[0]);
    assert!(sim.prompts[1].contains("You continue the session"), "{}", sim.prompts[1]);
    sim.attach("s1", 8);
    sim.play();
    assert_eq!(course(&sim), "pihcihcihcle", "a late session is let through");
}

#[test]
fn the_agents_own_cap_releases_it_until_the_next_prompt() {
    let mut sim = waiting((0..5).map(|_| Turn::new("f")).chain([Turn::new("p")]).collect());
    attach(&mut sim, 2);
    assert_eq!(course(&sim), "pihcihcihclp");
    assert!(wanted(&sim).contains("no longer continues this turn"), "{}", wanted(&sim));
    attach(&mut sim, 2);
    assert_eq!(course(&sim), "pihcihcihclpihcihcihcle");
}

#[test]
fn a_session_that_leaves_between_turns_is_awaited() {
    let mut sim = waiting(vec![Turn::new("p")]);
    sim.attach("s1", 8);
    sim.process.alive = false;
    sim.event(Event::AgentLeft(Box::default()));
    sim.play();
    assert_eq!((course(&sim).as_str(), sim.state.iteration), ("plp", 0));
    attach(&mut sim, 8);
    assert_eq!(course(&sim), "plpihcle");
}

#[test]
fn another_session_receives_the_complete_prompt() {
    let mut sim =
        waiting(vec![Turn::fails(ProviderClass::Crash, "f"), Turn::new("f"), Turn::new("f"), Turn::new("p")]);
    attach(&mut sim, 8);
    assert!(wanted(&sim).contains("your session was closed"), "{}", wanted(&sim));
    sim.attach("s2", 1);
    sim.play();
    attach(&mut sim, 8);
    let expect = [("s1", false), ("s2", false), ("s2", true), ("s1", true)];
    let told: Vec<_> = sim.sessions.iter().map(|(id, resumed)| (id.as_str(), *resumed)).collect();
    assert_eq!(told, expect);
    assert!(sim.prompts[1].contains("a fresh context"), "{}", sim.prompts[1]);
}

#[test]
fn a_turn_beyond_its_time_continues_at_its_end() {
    let mut sim = waiting(vec![Turn { hangs: true, ..Turn::new("f") }, Turn::new("p")]);
    attach(&mut sim, 8);
    assert!(wanted(&sim).contains("still working"), "{}", wanted(&sim));
    attach(&mut sim, 8);
    assert!(sim.state.outcome().is_some_and(|it| it.verified), "{}", course(&sim));
}

#[test]
fn a_loop_that_waits_for_something_else_releases_the_session() {
    let mut sim = waiting(vec![Turn::new("f"), Turn::new("p")]);
    sim.documents.push(criterion("new", "make new"));
    sim.untrusted = vec![criterion("new", "make new").id];
    attach(&mut sim, 8);
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Trust));
    let before = course(&sim);
    attach(&mut sim, 8);
    assert_eq!((course(&sim), sim.state.agents.hold.is_held, sim.process.alive), (before, false, false));
    sim.untrusted.clear();
    sim.command(UserCommand::Resume);
    sim.play();
    assert_eq!(sim.state.pause.as_ref().map(|it| it.reason), Some(PauseReason::Session));
}

#[test]
fn a_stop_ends_a_loop_without_a_session() {
    let mut sim = waiting(vec![Turn::new("p")]);
    sim.command(UserCommand::Stop);
    sim.play();
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Stopped));
}

/// Usage before the session was attached, or between two turns for the loop, is not charged.
#[test]
fn tokens_count_from_the_time_of_attaching() {
    let mut sim = waiting((0..3).map(|_| Turn::new("f")).chain([Turn::new("p")]).collect());
    sim.process.tokens = Some(50_000);
    attach(&mut sim, 1);
    assert_eq!((course(&sim).as_str(), sim.state.spent.tokens), ("pihcihclp", Some(2_000)));
    sim.process.uses(700);
    attach(&mut sim, 8);
    assert_eq!((course(&sim).as_str(), sim.state.spent.tokens), ("pihcihclpihcihcle", Some(4_000)));
    let told: Vec<_> =
        sim.state.history.recent().iter().filter(|it| !it.rolled_back).map(|it| it.tokens).collect();
    assert_eq!(told, [Some(1_000); 4]);
}

#[test]
fn usage_of_a_released_turn_counts_with_the_next() {
    let mut sim = waiting(vec![Turn { hangs: true, ..Turn::new("f") }, Turn::new("p")]);
    sim.process.tokens = Some(50_000);
    attach(&mut sim, 8);
    assert_eq!(sim.state.spent.tokens, None);
    sim.process.uses(3_000);
    attach(&mut sim, 8);
    assert_eq!(sim.state.spent.tokens, Some(4_000), "{}", course(&sim));
}

#[test]
fn a_limit_of_tokens_ends_it() {
    let mut made = spec(vec![criterion("tests pass", "make test")]);
    (made.settings.mode, made.settings.limits.tokens) = (LoopMode::Attach, Some(2_500));
    let mut sim = Sim::new(made, "f", (0..9).map(|_| Turn::new("f")).collect());
    sim.process.tokens = Some(50_000);
    sim.play();
    attach(&mut sim, 8);
    assert_eq!((sim.state.iteration, sim.state.spent.tokens), (3, Some(3_000)));
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit));
}

#[test]
fn a_stopping_loop_accepts_no_session() {
    let mut made = spec(vec![criterion("tests pass", "make test")]);
    made.settings.mode = LoopMode::Attach;
    let mut sim = Sim::new(made, "f", vec![Turn::new("p")]);
    while sim.state.phase != Phase::Baseline {
        assert!(sim.step());
    }
    sim.attach("s1", 8);
    sim.command(UserCommand::Stop);
    sim.attach("s2", 8);
    let left = |sim: &mut Sim| sim.event(Event::AgentLeft(Box::default()));
    while sim.state.outcome().is_none() {
        assert!(sim.step());
    }
    left(&mut sim);
    let joined = sim.entries.iter().filter(|it| matches!(it.record, Record::SessionJoined { .. })).count();
    assert_eq!((joined, course(&sim).ends_with('e')), (1, true), "{}", course(&sim));
}
