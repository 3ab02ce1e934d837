//! A step between two iterations as data: its decisions, and the work that begins with them. A step can be inspected
//! before it is taken; the state changes only in [`NextStep::take`].

use super::{Decision, Effect};
use crate::loop_state::{LoopState, Preparation, RegressionReview, RollbackCause, TreeWork, VolatileState};

/// Number of final verdicts and runs of mutants after an iteration that are repeated because files changed meanwhile.
const MAX_DISTURBANCES: u32 = 3;

#[derive(Debug)]
pub(super) struct NextStep {
    pub decisions: Vec<Decision>,
    change: Option<WorkChange>,
}

#[derive(Debug)]
enum WorkChange {
    Snapshot,
    Commit,
    Checks,
    /// The iteration with this number is judged again before its regression counts.
    SecondRound(u32),
    Rollback(RollbackCause),
}

impl From<Vec<Decision>> for NextStep {
    fn from(decisions: Vec<Decision>) -> Self {
        Self { decisions, change: None }
    }
}

impl NextStep {
    /// Nothing until a result arrives that was requested before.
    pub(super) fn nothing() -> Self {
        Vec::new().into()
    }

    pub(super) fn snapshot() -> Self {
        Self::effect(Effect::TakeSnapshot, WorkChange::Snapshot)
    }

    pub(super) fn commit(effect: Effect) -> Self {
        Self::effect(effect, WorkChange::Commit)
    }

    /// Work that needs the files as checks do.
    pub(super) fn checks(effect: Effect) -> Self {
        Self::effect(effect, WorkChange::Checks)
    }

    /// Judges the files as they are now.
    pub(super) fn round(state: &LoopState) -> Self {
        Self::checks(Effect::RunChecks { criteria: state.pinned_criteria(), repeats: 0 })
    }

    /// The same, unless checks are running: their result continues the loop.
    pub(super) fn round_once(state: &LoopState, live: &VolatileState) -> Self {
        if live.work.is_checking() { Self::nothing() } else { Self::round(state) }
    }

    /// Judges the files again that changed during a final verdict; `None` if that happened too often.
    pub(super) fn disturbed_round(state: &LoopState, live: &mut VolatileState) -> Option<Self> {
        if live.disturbances == MAX_DISTURBANCES {
            return None;
        }
        live.disturbances += 1;
        Some(Self::round(state))
    }

    pub(super) fn second_round(state: &LoopState, iteration: u32) -> Self {
        Self { change: Some(WorkChange::SecondRound(iteration)), ..Self::round(state) }
    }

    pub(super) fn rollback(to: u32, cause: RollbackCause) -> Self {
        Self::effect(Effect::PrepareRollback { to, paths: Vec::new() }, WorkChange::Rollback(cause))
    }

    fn effect(effect: Effect, change: WorkChange) -> Self {
        Self { decisions: vec![Decision::Effect(effect)], change: Some(change) }
    }

    /// Begins the work of the step.
    pub(super) fn take(self, live: &mut VolatileState) -> Vec<Decision> {
        match self.change {
            Some(WorkChange::Snapshot) => live.work.preparation = Preparation::Snapshot,
            Some(WorkChange::Commit) => live.work.is_committing = true,
            Some(WorkChange::Checks) => live.work.tree = TreeWork::Checks,
            Some(WorkChange::SecondRound(iteration)) => {
                live.work.tree = TreeWork::Checks;
                live.regression = RegressionReview::JudgedTwice(iteration);
            }
            Some(WorkChange::Rollback(cause)) => live.work.tree = TreeWork::Rollback(cause),
            None => {}
        }
        self.decisions
    }
}
