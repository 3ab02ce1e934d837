//! Bounds the memory of each iteration in a long loop: texts of old iterations remain only in the journal. Data that
//! decisions may need at any age is kept: numbers, results, trees, commits and lasting decisions.

use crate::loop_state::{Iteration, LoopState};
use loopkeeper_agent::claims::Claims;

/// Number of newest iterations that are kept whole.
const MAX_WHOLE: usize = 100;

/// An iteration began, so one more is old.
pub(super) fn shorten_next(state: &mut LoopState) {
    let breaker = &state.spec.settings.breaker;
    // The breaker compares errors and facts of this many iterations in a row.
    let compared = (breaker.same_error as usize).max(MAX_WHOLE);
    // It counts this many, which stay unpacked.
    let counted = breaker.no_progress.max(breaker.permission_denials).max(breaker.fast_failures);
    let rows = state.history.recent_mut();
    let before = |count: usize| rows.len().checked_sub(count + 1);
    let (old, incomparable) = (before(MAX_WHOLE), before(compared));
    if let Some(row) = old.and_then(|at| rows.get_mut(at)) {
        shorten(row);
    }
    if let Some(row) = incomparable.and_then(|at| rows.get_mut(at)) {
        (row.errors, row.facts) = (Vec::new(), Vec::new());
    }
    state.history.pack_oldest(compared.max(counted as usize) + 1);
}

fn shorten(row: &mut Iteration) {
    row.final_text = String::new();
    (row.tools, row.commands) = (Vec::new(), Vec::new());
    (row.changes.files, row.changes.per_file) = (Vec::new(), Vec::new());
    let Claims { promise, exit_signal, progress, decisions, .. } = std::mem::take(&mut row.claims);
    row.claims = Claims { promise, exit_signal, progress, decisions, ..Claims::default() };
}

#[cfg(test)]
mod tests {
    use super::{MAX_WHOLE, shorten_next};
    use crate::decide::sim::{Sim, Turn, criterion, spec};
    use crate::decide::{IterationHistory, LoopState, apply, replay};
    use loopkeeper_agent::errors::{Fingerprint, FingerprintedError};

    /// A loop of this many iterations, each shortened when it became old.
    fn long_loop(iterations: usize, prepare: fn(&mut LoopState)) -> LoopState {
        let message = "Decision: keep the old names\n\nCould you confirm that?";
        let spec = spec(vec![criterion("tests pass", "make test")]);
        let mut state = Sim::new(spec, "f", vec![Turn::new("f").says(message)]).run().state;
        prepare(&mut state);
        let mut row = state.history[0].clone();
        let (fingerprint, text) = (Fingerprint("e".repeat(12)), "assertion failed".to_owned());
        row.errors.push(FingerprintedError { fingerprint, text });
        row.changes.files = vec!["src/main.rs".to_owned()];
        state.history = IterationHistory::default();
        for _ in 0..iterations {
            state.history.push(row.clone());
            shorten_next(&mut state);
        }
        state
    }

    #[test]
    fn old_iterations_keep_numbers_results_and_decisions() {
        let state = long_loop(MAX_WHOLE + 1, |_| ());
        let (old, new) = (&state.history[0], &state.history[1]);
        assert!(old.final_text.is_empty() && old.errors.is_empty() && old.facts.is_empty());
        assert!(old.changes.files.is_empty() && old.claims.question.is_none());
        assert!(new.final_text.contains("confirm") && new.errors.len() == 1 && new.facts.len() == 1);
        assert_eq!(old.claims.decisions, ["keep the old names"]);
        assert_eq!((&old.row, old.changes.count), (&new.row, new.changes.count));
    }

    #[test]
    fn data_that_decisions_compare_is_kept() {
        let state = long_loop(MAX_WHOLE + 1, |it| it.spec.settings.breaker.same_error = MAX_WHOLE as u32 + 1);
        let old = &state.history[0];
        assert!(old.final_text.is_empty());
        assert_eq!((old.errors.len(), old.facts.len()), (1, 1));
    }

    /// Each of two criteria passes in turn, so that the loop neither ends nor trips.
    #[test]
    fn a_long_loop_replays_to_the_same_state_from_any_record() {
        let mut spec = spec(vec![criterion("a", "make a"), criterion("b", "make b")]);
        spec.settings.limits.iterations = 3 * MAX_WHOLE as u32;
        let turns = (0..3 * MAX_WHOLE).map(|it| Turn::new(if it % 2 == 0 { "fp" } else { "pf" })).collect();
        let sim = Sim::new(spec, "ff", turns).run();
        assert_eq!(sim.state.history.len(), 3 * MAX_WHOLE, "{}", sim.sentence());
        assert!(sim.state.history.recent().len() < 2 * MAX_WHOLE);
        assert_eq!(replay(&sim.entries).unwrap(), sim.state);
        for cut in [1, sim.entries.len() / 2, sim.entries.len() - 1] {
            let (before, after) = sim.entries.split_at(cut);
            let stored = serde_json::to_string(&replay(before).unwrap()).unwrap();
            let mut state: LoopState = serde_json::from_str(&stored).unwrap();
            for entry in after {
                apply(&mut state, entry);
            }
            assert_eq!(state, sim.state, "{cut}");
        }
    }

    #[test]
    fn rows_that_the_breaker_counts_are_not_packed() {
        let rows = |prepare: fn(&mut LoopState)| long_loop(10 * MAX_WHOLE, prepare).history.recent().len();
        assert!((MAX_WHOLE..2 * MAX_WHOLE).contains(&rows(|_| ())));
        let counted = rows(|it| it.spec.settings.breaker.no_progress = 5 * MAX_WHOLE as u32);
        assert!((5 * MAX_WHOLE..6 * MAX_WHOLE).contains(&counted), "{counted}");
        let compared = rows(|it| it.spec.settings.breaker.same_error = 20 * MAX_WHOLE as u32);
        assert_eq!(compared, 10 * MAX_WHOLE);
    }
}
