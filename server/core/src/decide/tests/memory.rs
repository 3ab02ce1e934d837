//! The part of a prompt that reports earlier iterations.

use crate::decide::UserCommand;
use crate::decide::sim::{Sim, Turn, criterion, spec};

fn sim(turns: Vec<Turn>) -> Sim {
    Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", turns)
}

/// The prompt of this iteration.
fn prompt(sim: &Sim, iteration: usize) -> &str {
    &sim.prompts[iteration - 1]
}

#[track_caller]
fn contains(text: &str, expect: &str) {
    assert!(text.contains(expect), "{expect:?} not in:\n{text}");
}

#[test]
fn work_messages_and_decisions_reach_the_next_prompt() {
    let turns = vec![
        Turn::new("f").says("Began.\n\nDecision: use SQLite\n"),
        Turn::new("f").says("Went on.\n\nDecision: keep the old names\nDecision: use SQLite\n"),
        Turn::new("f").says("Third."),
        Turn::new("p"),
    ];
    let sim = sim(turns).run();
    assert!(!prompt(&sim, 1).contains("tried before"), "{}", prompt(&sim, 1));
    let last = prompt(&sim, 4);
    contains(last, "- 1: 1 file changed, 0 of 1 pass\n- 2: 1 file changed, 0 of 1 pass\n- 3: 1 file changed");
    contains(last, "own words, no order of the user's:\n\n- keep the old names\n- use SQLite\n\n");
    contains(last, "Third.");
    contains(last, "Went on.");
    assert!(!last.contains("Began."), "{last}");
}

#[test]
fn a_revert_is_reported_and_drops_its_decisions() {
    let mut sim = sim(vec![Turn::new("f").says("Decision: one"), Turn::new("f").says("Decision: two")]);
    while sim.prompts.len() < 2 {
        sim.step();
    }
    sim.command(UserCommand::Pause);
    sim.play();
    sim.command(UserCommand::Rollback { to: 1, paths: Vec::new() });
    sim.play();
    sim.turns.extend([Turn::new("f"), Turn::new("p")]);
    sim.command(UserCommand::Resume);
    sim.play();
    let third = prompt(&sim, 3);
    contains(third, "- 1: 1 file changed");
    contains(third, "- 2 (rolled back: its changes are no longer in the files): 1 file changed");
    contains(third, "- one\n");
    assert!(!third.contains("- two\n"), "{third}");
    let rolled_back: Vec<u32> =
        sim.state.history.iter().filter(|it| it.rolled_back).map(|it| it.number).collect();
    assert_eq!(rolled_back, [2]);
}
