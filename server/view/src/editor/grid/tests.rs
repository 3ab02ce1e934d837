use super::{grid, iteration_tally, row, start_tally};
use loopkeeper_core::check::Status;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, item, spec};

fn played(names: &[&str], start: &'static str, turns: Vec<Turn>) -> LoopState {
    let mut spec = spec(
        names
            .iter()
            .map(|it| criterion(it, "make"))
            .enumerate()
            .map(|(at, mut it)| {
                it.id.0 = format!("c{at}");
                it
            })
            .collect(),
    );
    // An open item keeps the loop running regardless of the checks.
    spec.plan = vec![item("never ticked")];
    spec.settings.limits.iterations = turns.len() as u32;
    Sim::new(spec, start, turns).run().state
}

fn check(state: &LoopState, expect: &str) {
    assert_eq!(grid(state), expect.trim_start_matches('\n').trim_end(), "\n{}", grid(state));
}

#[test]
fn rows_begin_with_the_baseline() {
    let state = played(&["a", "b"], "fp", vec![Turn::new("ff"), Turn::new("pf"), Turn::new("pz")]);
    assert_eq!(row(&state, &state.criteria.pinned[0].criterion.id), "✗✗✓✓");
    assert_eq!(row(&state, &state.criteria.pinned[1].criterion.id), "✓✗✗✗");
    assert_eq!(row(&state, &loopkeeper_task::criterion::CriterionId("other".into())), "····");
}

#[test]
fn counts_of_an_iteration_separate_optional_criteria() {
    let mut state = played(&["a", "b", "c"], "fpf", vec![Turn::new("ppf"), Turn::new("fpp")]);
    let words = |state: &LoopState, at: usize| iteration_tally(state, &state.history[at]).sentence();
    assert_eq!(start_tally(&state).sentence(), "1 of 3 criteria pass");
    assert_eq!([words(&state, 0), words(&state, 1)], ["2 of 3 criteria pass"; 2]);
    state.criteria.pinned[2].criterion.required = false;
    assert_eq!(start_tally(&state).sentence(), "1 of 2 required pass, 1 optional fails");
    assert_eq!(words(&state, 0), "all 2 required pass, 1 optional fails");
    assert_eq!(words(&state, 1), "1 of 2 required pass, 1 optional passes");
    // A judge that has not run yet has no result.
    state.history[0].row[2].1 = Status::Unverified;
    assert_eq!(words(&state, 0), "all 2 required pass, 1 optional not checked");
    // A criterion that was removed from the task since was required then.
    state.criteria.pinned.remove(0);
    assert_eq!(words(&state, 0), "all 2 required pass, 1 optional not checked");
}

#[test]
fn the_grid_shows_progress_flapping_and_being_stuck() {
    let mut turns = vec![Turn::new("fp"), Turn::new("pp"), Turn::new("ff"), Turn::idle("ff")];
    turns.extend((0..7).map(|_| Turn::new("fp")));
    let state = played(&["tests", "界面 is translated into every language"], "ff", turns);
    check(
        &state,
        "
                                  1        10
tests                            ✗✗✓✗✗✗✗✗✗✗✗✗  fails, broke in 3
界面 is translated into every l… ✗✓✓✗✗✓✓✓✓✓✓✓  pass
breaker                           ───▃───────  no progress 0 of 3
files                             ▂▂▂ ▂▂▂▂▂▂▂
reached                           ◆◆  ◆",
    );
}

#[test]
fn only_the_last_iterations_fit() {
    let turns: Vec<Turn> = (0..34).map(|_| Turn::new("f")).collect();
    let state = played(&["tests"], "f", turns);
    let drawn = grid(&state);
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines[0].trim_start(), "5    10        20        30");
    assert_eq!(lines[1], format!("tests   …{}  fails", "✗".repeat(30)));
}

#[test]
fn a_loop_without_iterations_has_a_grid() {
    let state = Sim::new(spec(vec![criterion("tests", "make")]), "f", vec![]).state;
    check(&state, "tests   ·");
}

#[test]
fn a_rollback_after_the_end_leaves_the_counts_of_the_breaker() {
    let mut state = played(&["a"], "f", vec![Turn::new("f"), Turn::new("f"), Turn::new("f"), Turn::new("f")]);
    assert!(state.outcome().is_some());
    let label =
        |state: &LoopState| grid(state).lines().find(|it| it.starts_with("breaker")).map(str::to_owned);
    let before = label(&state);
    state.history.recent_mut().iter_mut().for_each(|it| it.rolled_back = true);
    assert_eq!(label(&state), before);
    assert!(before.is_some_and(|it| it.ends_with("no progress 0 of 3")));
}
