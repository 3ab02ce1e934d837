//! Counts consecutive iterations that changed only sources which the task does not mention. It is reported to the agent
//! and the user, and never pauses or ends a loop.

use crate::drift::{MAX_PATHS, TaskTexts, drift_share};
use crate::journal::DriftShare;
use crate::loop_state::{Iteration, LoopState, TaskDocuments};
use crate::prompt::markdown::{code_span, single_line};
use loopkeeper_text::tr;

/// Length from which a streak is reported.
const REPORTED_STREAK: u32 = 3;
/// Number of iterations that are searched: a long loop without changed sources is not searched to its beginning.
const LOOKBACK: usize = 100;

/// Iterations in a row whose changed sources the task does not mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriftStreak {
    pub iterations: u32,
    /// Up to three of the files, those of the newest iteration first.
    pub paths: Vec<String>,
}

impl DriftStreak {
    /// `the last 3 iterations changed no source that the task mentions`
    pub fn sentence(&self) -> String {
        tr!("the last {count} iterations changed no source that the task mentions", count = self.iterations)
    }
}

pub(super) fn share_of_iteration(
    state: &LoopState,
    changed: &[String],
    documents: &TaskDocuments,
) -> Option<DriftShare> {
    // The pinned criteria: the agent cannot add a mention to those.
    let criteria = state.pinned_criteria();
    let texts = TaskTexts {
        prompt: &documents.prompt,
        context: &documents.context,
        criteria: &criteria,
        plan: &documents.plan,
    };
    drift_share(&texts, changed)
}

/// The current streak; `None` if it is too short to be reported.
pub fn streak(state: &LoopState) -> Option<DriftStreak> {
    let mut found = DriftStreak { iterations: 0, paths: Vec::new() };
    let kept = state.history.newest(LOOKBACK).iter().rev().filter(|it| !it.rolled_back);
    for row in kept.take_while(|it| !is_on_topic(it)) {
        // An iteration without changed sources is no sign in either direction.
        let Some(share) = &row.drift else { continue };
        found.iterations += 1;
        for path in &share.paths {
            if found.paths.len() < MAX_PATHS && !found.paths.contains(path) {
                found.paths.push(path.clone());
            }
        }
    }
    (found.iterations >= REPORTED_STREAK).then_some(found)
}

/// A criterion that turned proves that the change was needed, whatever its file is called.
fn is_on_topic(row: &Iteration) -> bool {
    !row.milestones.is_empty() || row.drift.as_ref().is_some_and(|it| !it.is_complete())
}

/// The text for the next prompt.
pub(super) fn advice(state: &LoopState) -> Option<String> {
    let streak = streak(state)?;
    let paths: Vec<String> = streak.paths.iter().map(|it| code_span(&single_line(it))).collect();
    Some(format!(
        "But note: {} ({}). Change them only if a criterion needs it, and return to what the task asks for.",
        streak.sentence(),
        paths.join(", ")
    ))
}
