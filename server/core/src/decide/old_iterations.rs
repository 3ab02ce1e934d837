//! Bounds what the state keeps of each iteration of a long loop: texts of old ones are in the journal alone. Kept is what
//! decisions may need however old it is: numbers, results, trees, commits and lasting decisions.

use crate::claims::Claims;
use crate::loop_state::{Iteration, LoopState};

/// Number of newest iterations that are kept whole.
const WHOLE: usize = 100;

/// An iteration began, so one more is old.
pub(super) fn shorten_next(state: &mut LoopState) {
    let settings = &state.spec.settings;
    // The breaker may compare so many iterations in a row.
    let compared = (settings.breaker.same_error as usize).max(WHOLE);
    let names_files = !settings.may_change.is_empty();
    let before = |count: usize| state.history.len().checked_sub(count + 1);
    let (old, incomparable) = (before(WHOLE), before(compared));
    if let Some(row) = old.and_then(|at| state.history.get_mut(at)) {
        shorten(row);
        if !names_files {
            (row.changes.files, row.changes.per_file) = (Vec::new(), Vec::new());
        }
    }
    if let Some(row) = incomparable.and_then(|at| state.history.get_mut(at)) {
        (row.errors, row.facts) = (Vec::new(), Vec::new());
    }
}

fn shorten(row: &mut Iteration) {
    row.final_text = String::new();
    (row.tools, row.commands) = (Vec::new(), Vec::new());
    let Claims { promise, exit_signal, progress, decisions, .. } = std::mem::take(&mut row.claims);
    row.claims = Claims { promise, exit_signal, progress, decisions, ..Claims::default() };
}

#[cfg(test)]
mod tests {
    use super::{WHOLE, shorten_next};
    use crate::decide::LoopState;
    use crate::decide::sim::{Act, Sim, criterion, spec};
    use loopkeeper_agent::errors::{Fingerprint, SeenError};

    /// A loop of so many iterations, each shortened when it became old.
    fn long_loop(iterations: usize, prepare: fn(&mut LoopState)) -> LoopState {
        let message = "Decision: keep the old names\n\nCould you confirm that?";
        let spec = spec(vec![criterion("tests pass", "make test")]);
        let mut state = Sim::new(spec, "f", vec![Act::new("f").says(message)]).run().state;
        prepare(&mut state);
        let mut row = state.history.first().unwrap().clone();
        let (fingerprint, text) = (Fingerprint("e".repeat(12)), "assertion failed".to_owned());
        row.errors.push(SeenError { fingerprint, text });
        row.changes.files = vec!["src/main.rs".to_owned()];
        state.history.clear();
        for _ in 0..iterations {
            state.history.push(row.clone());
            shorten_next(&mut state);
        }
        state
    }

    #[test]
    fn old_iterations_keep_numbers_results_and_decisions() {
        let state = long_loop(WHOLE + 1, |_| ());
        let (old, new) = (state.history.first().unwrap(), state.history.get(1).unwrap());
        assert!(old.final_text.is_empty() && old.errors.is_empty() && old.facts.is_empty());
        assert!(old.changes.files.is_empty() && old.claims.question.is_none());
        assert!(new.final_text.contains("confirm") && new.errors.len() == 1 && new.facts.len() == 1);
        assert_eq!(old.claims.decisions, ["keep the old names"]);
        assert_eq!((&old.row, old.changes.count), (&new.row, new.changes.count));
    }

    #[test]
    fn data_that_decisions_compare_is_kept() {
        let state = long_loop(WHOLE + 1, |state| {
            state.spec.settings.breaker.same_error = WHOLE as u32 + 1;
            state.spec.settings.may_change = vec!["tests/**".to_owned()];
        });
        let old = state.history.first().unwrap();
        assert!(old.final_text.is_empty());
        assert_eq!((old.errors.len(), old.facts.len(), old.changes.files.len()), (1, 1, 1));
    }
}
