//! Added files to which nothing refers, from the round that could end the loop to their removal.

use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::journal::Record;

fn played(results: &[&'static str], strays: &[&str]) -> Sim {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.limits.iterations = u32::try_from(results.len()).unwrap();
    let mut sim = Sim::new(spec, "f", results.iter().map(|it| Turn::new(it)).collect());
    sim.strays = strays.iter().map(ToString::to_string).collect();
    sim.run()
}

#[test]
fn strays_are_those_of_the_last_iteration() {
    let sim = played(&["p"], &["src/a.py", "src/b.py"]);
    assert_eq!(sim.state.strays(), ["src/a.py", "src/b.py"]);
    let mut rolled_back = sim.state.clone();
    rolled_back.history[0].rolled_back = true;
    assert_eq!(rolled_back.strays(), [""; 0]);
    let none = played(&["p"], &[]);
    assert_eq!(none.state.strays(), [""; 0]);
    let ended = none.entries.iter().find(|it| matches!(it.record, Record::IterationEnded { .. })).unwrap();
    assert!(!serde_json::to_string(&ended.record).unwrap().contains("strays"));
}

#[test]
fn at_most_twenty_strays_are_recorded() {
    let many: Vec<String> = (0..30).map(|it| format!("src/a{it}.py")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(played(&["p"], &many).state.strays(), many[..20]);
}
