//! Lists, at the end of a loop, changed files that other programs execute later without being asked: the sandbox
//! confines what the agent wrote only until then.

use std::collections::BTreeSet;

use super::Decision;
use crate::autorun::autorun_sentence;
use crate::journal::{Outcome, Record};
use crate::loop_state::LoopState;
use loopkeeper_text::clauses::append_clause;

/// Changed files that are executed later without being asked, of iterations that were not rolled back.
pub fn autorun_files(state: &LoopState) -> BTreeSet<&str> {
    state.history.autorun_files()
}

/// The same decisions; the sentence of an end names the files.
pub(super) fn with_note(state: &LoopState, decisions: Vec<Decision>) -> Vec<Decision> {
    let add = |decision| match decision {
        Decision::Record(Record::Ended { outcome }) => {
            Decision::Record(Record::Ended { outcome: with_files(state, outcome) })
        }
        other => other,
    };
    decisions.into_iter().map(add).collect()
}

fn with_files(state: &LoopState, outcome: Outcome) -> Outcome {
    let Some(note) = autorun_sentence(autorun_files(state)) else { return outcome };
    let sentence = outcome.sentence.map_fact(|fact| append_clause(fact.trim_end_matches('.'), &note));
    Outcome { sentence, ..outcome }
}
