//! What a loop hands to the next task of a queue.

use super::prompt_input::decisions;
use crate::journal::EarlierTask;
use crate::loop_state::LoopState;

/// Number of commits that are named, the newest ones.
const MAX_COMMITS: usize = 20;

/// The account of an ended loop for the tasks after it.
pub fn earlier_task(state: &LoopState) -> EarlierTask {
    let mut commits: Vec<String> = state.kept_iterations().flat_map(|it| &it.commits).cloned().collect();
    commits.drain(..commits.len().saturating_sub(MAX_COMMITS));
    EarlierTask {
        title: state.spec.title.clone(),
        sentence: state.outcome().map_or_else(String::new, |it| it.sentence.to_string()),
        commits,
        decisions: decisions(state).into_iter().map(str::to_owned).collect(),
        continued: false,
    }
}
