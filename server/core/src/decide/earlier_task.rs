//! The data that a loop passes to the next task of a queue.

use super::prompt_input::decisions;
use crate::journal::EarlierTask;
use crate::loop_state::LoopState;

/// Number of commits that are named, the newest ones.
const MAX_COMMITS: usize = 20;

/// The account of an ended loop for the tasks after it.
pub fn earlier_task(state: &LoopState) -> EarlierTask {
    let kept = state.history.iter().rev().filter(|it| !it.rolled_back);
    let newest = kept.flat_map(|it| it.into_owned().commits.into_iter().rev()).take(MAX_COMMITS);
    let mut commits: Vec<String> = newest.collect();
    commits.reverse();
    EarlierTask {
        title: state.spec.title.clone(),
        sentence: state.outcome().map_or_else(String::new, |it| it.sentence.to_string()),
        commits,
        decisions: decisions(state).into_iter().map(str::to_owned).collect(),
        continued: false,
    }
}
