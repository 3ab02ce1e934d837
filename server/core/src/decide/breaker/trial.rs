//! The single iteration that a half-open breaker admits. Its time limit is that of any iteration, or the remaining time
//! of the loop if that is shorter.

use crate::loop_state::LoopState;
use loopkeeper_agent::AgentEnding;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::failing;
use super::history::{BreakerHistory, FinishedIteration};

pub(super) enum TrialResult {
    /// The trial produced a new tree, and more criteria pass or the failures differ.
    Progressed,
    Failed(String),
}

/// `None`: the trial is pending, or the provider prevented it and it is repeated.
pub(super) fn trial_result(state: &LoopState) -> Option<TrialResult> {
    let after = state.breaker.trial_after?;
    let past = BreakerHistory::of(state);
    let trial = past.counted_iterations().next_back().filter(|it| it.outline.figures.number > after)?;
    let figures = trial.outline.figures;
    let duration = words::duration(figures.duration_ms);
    match past.newest_rows(1).first()?.ending {
        Some(AgentEnding::TimedOut) => {
            return Some(TrialResult::Failed(tr!("out of time after {duration}", duration)));
        }
        Some(AgentEnding::Idle) => {
            return Some(TrialResult::Failed(tr!("no activity after {duration}", duration)));
        }
        Some(AgentEnding::Capped) => return Some(TrialResult::Failed(tr!("too many steps").to_owned())),
        Some(AgentEnding::Exited | AgentEnding::Held | AgentEnding::Stopped | AgentEnding::NotStarted)
        | None => {}
    }
    if figures.is_provider_failure {
        return None;
    }
    Some(if figures.rolled_back {
        TrialResult::Failed(tr!("its changes were rolled back").to_owned())
    } else if trial.is_new() && !fails_as_before(&past, &trial) {
        TrialResult::Progressed
    } else if trial.is_new() {
        TrialResult::Failed(tr!("still with the same failure: {failure}", failure = failing::text(state)))
    } else if trial.repeats_earlier_tree() {
        TrialResult::Failed(tr!("the files only returned to an earlier state").to_owned())
    } else {
        TrialResult::Failed(tr!("still without a file change").to_owned())
    })
}

/// Files changed, and the same criteria fail in the same way as before the trial.
fn fails_as_before(past: &BreakerHistory<'_>, trial: &FinishedIteration<'_>) -> bool {
    let mut earlier =
        past.all_iterations().rev().filter(|it| it.outline.figures.number < trial.outline.figures.number);
    let before = earlier.find(failing::is_judged_work).and_then(|it| it.outline.failing);
    before.is_some() && trial.outline.failing == before && !trial.progress().turned
}
