//! Combinations of two features that hold on their own: what one leaves behind, the other has to expect.

use crate::decide::sim::{Act, Sim, criterion, spec};
use crate::journal::{LoopSpec, OutcomeKind};

/// Two checks, failing before the first iteration.
fn two() -> LoopSpec {
    spec(vec![criterion("tests", "t"), criterion("lint", "l")])
}

fn weakens(results: &'static str, paths: &[&'static str]) -> Act {
    Act { weakens: Some(paths.to_vec()), ..Act::new(results) }
}

#[track_caller]
fn ends(sim: &Sim, kind: OutcomeKind, iterations: u32, words: &str) {
    let outcome = sim.state.outcome().unwrap_or_else(|| panic!("has no outcome: {}", sim.sentence()));
    assert_eq!((outcome.kind, sim.state.iteration), (kind, iterations), "{}", outcome.sentence);
    assert!(outcome.sentence.to_string().contains(words), "{}", outcome.sentence);
}

#[test]
fn a_weakening_does_not_prevent_a_stop_by_exit_when() {
    let mut made = two();
    made.settings.exit.when = Some("iterations>=2".to_owned());
    let acts = vec![weakens("pf", &["tests/a.py"]), Act::new("pf"), Act::new("pf")];
    let sim = Sim::new(made, "ff", acts).run();
    ends(&sim, OutcomeKind::Stopped, 2, "iterations 2 >= 2, 1 of 2 required checks fail");
}
