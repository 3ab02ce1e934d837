//! Stores the state of a long loop from time to time, so that readers do not fold its whole journal. No decision
//! depends on the stored state: a keeper that takes over folds all records.

use loopkeeper_core::decide::LoopState;
use loopkeeper_system::journal_file::JournalFile;

/// Iterations between two stored states: a reader folds at most so many, in a few hundredths of a second, and writing
/// ten thousand rows costs each of them less than a tenth of a millisecond.
const INTERVAL: u32 = 200;

/// When the state was stored last.
#[derive(Debug, Default)]
pub(super) struct StateSaver {
    /// The last iteration at that time; 0 before the first.
    last: u32,
}

impl StateSaver {
    /// Called after the records of `state` were written to `journal`.
    pub(super) fn save_if_due(&mut self, state: &LoopState, journal: &JournalFile) {
        if !self.is_due(state) {
            return;
        }
        self.last = state.iteration;
        if let Err(error) = journal.save_state(state) {
            tracing::warn!("the state of the loop cannot be stored, so it takes longer to show it: {error}");
        }
    }

    fn is_due(&self, state: &LoopState) -> bool {
        state.is_between_iterations() && state.iteration.saturating_sub(self.last) >= INTERVAL
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use loopkeeper_core::decide::{Phase, replay};
    use loopkeeper_system::journal_file::JournalFile;

    use super::StateSaver;

    const JOURNAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/journals/demo.jsonl");

    #[test]
    fn the_state_is_stored_between_iterations_every_200() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        fs::copy(JOURNAL, &path).unwrap();
        let opened = JournalFile::open(&path).unwrap();
        let mut state = replay(&opened.entries).unwrap();
        let mut saver = StateSaver::default();
        let stored = path.with_extension("state");
        let mut check = |iteration: u32, phase: Phase, expect: bool| {
            (state.iteration, state.phase) = (iteration, phase);
            saver.save_if_due(&state, &opened.journal);
            assert_eq!(fs::remove_file(&stored).is_ok(), expect, "{iteration}");
        };
        let between = || Phase::Boundary { wait: None };
        check(199, between(), false);
        check(200, Phase::Checking, false);
        check(200, between(), true);
        check(200, between(), false);
        check(399, between(), false);
        check(400, between(), true);
        // A keeper that takes over a long loop stores its state at once.
        saver = StateSaver::default();
        (state.iteration, state.phase) = (1234, between());
        saver.save_if_due(&state, &opened.journal);
        assert!(stored.exists());
    }

    #[test]
    fn a_failed_save_of_the_state_is_not_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        fs::copy(JOURNAL, &path).unwrap();
        let opened = JournalFile::open(&path).unwrap();
        let mut state = replay(&opened.entries).unwrap();
        (state.iteration, state.phase) = (200, Phase::Boundary { wait: None });
        fs::create_dir_all(path.with_extension("state").join("in the way")).unwrap();
        StateSaver::default().save_if_due(&state, &opened.journal);
        assert!(!path.with_extension("state.new").exists());
    }
}
