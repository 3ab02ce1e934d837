//! Iterations that change only what the task does not mention.

use crate::decide::drift::streak;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::OutcomeKind;

const AUTH: &[&str] = &["src/auth.py"];
const THEME: &[&str] = &["src/theme.py", "README.md"];

/// Results of the checks after an iteration, and the files that it changed.
type IterationActs = (&'static str, &'static [&'static str]);

fn turns(changes: &[IterationActs]) -> Vec<Turn> {
    changes.iter().map(|(results, files)| Turn { changed: files.to_vec(), ..Turn::new(results) }).collect()
}

fn played(changes: &[IterationActs]) -> Sim {
    let mut spec = spec(vec![criterion("tests pass", "make test"), criterion("it lints", "make lint")]);
    spec.settings.limits.iterations = changes.len() as u32;
    let mut sim = Sim::new(spec, "ff", turns(changes));
    sim.prompt = "Reject empty passwords in `src/auth.py`.";
    sim.run()
}

#[test]
fn three_drifting_iterations_in_a_row_are_a_streak() {
    let cases: [(&[IterationActs], u32); 7] = [
        (&[("ff", THEME), ("ff", THEME)], 0),
        (&[("ff", THEME), ("ff", THEME), ("ff", THEME)], 3),
        (&[("ff", THEME), ("ff", THEME), ("ff", THEME), ("ff", THEME)], 4),
        (&[("ff", THEME), ("ff", AUTH), ("ff", THEME), ("ff", THEME)], 0),
        // A change that turned a criterion was needed.
        (&[("ff", THEME), ("fp", THEME), ("fp", THEME), ("fp", THEME)], 0),
        // No source changed: neither counts nor ends it.
        (&[("ff", THEME), ("ff", THEME), ("ff", &["README.md"]), ("ff", THEME)], 3),
        (&[("ff", AUTH), ("ff", THEME), ("ff", &[]), ("ff", THEME), ("ff", THEME)], 3),
    ];
    for (changes, expect) in cases {
        let sim = played(changes);
        assert_eq!(streak(&sim.state).map_or(0, |it| it.iterations), expect, "{changes:?}");
    }
}

#[test]
fn the_next_prompt_names_the_files() {
    let sim = played(&[("ff", THEME), ("ff", THEME), ("ff", THEME), ("ff", AUTH), ("ff", AUTH)]);
    let advice = "But note: the last 3 iterations changed no source that the task mentions (`src/theme.py`).";
    let has_advice: Vec<bool> = sim.prompts.iter().map(|it| it.contains(advice)).collect();
    assert_eq!(has_advice, [false, false, false, true, false]);
}

#[test]
fn drift_neither_ends_nor_pauses_a_loop() {
    let theme: Vec<_> = (0..12).map(|_| ("ff", THEME)).collect();
    let sim = played(&theme);
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Limit), "{}", sim.sentence());
    assert_eq!(sim.state.iteration, 12);
}

#[test]
fn changes_that_were_rolled_back_do_not_count() {
    let mut sim = played(&[("ff", THEME), ("ff", THEME), ("ff", THEME)]);
    sim.state.history[1].rolled_back = true;
    assert_eq!(streak(&sim.state), None);
}

#[test]
fn a_task_without_sources_has_no_share() {
    let spec = spec(vec![criterion("tests pass", "make test")]);
    let sim = Sim::new(spec, "f", turns(&[("f", THEME), ("f", THEME), ("f", THEME), ("p", THEME)])).run();
    assert!(sim.state.history.iter().all(|it| it.drift.is_none()));
}
