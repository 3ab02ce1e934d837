//! The part of an iteration that decisions compare at any age: its numbers, its results and how it failed.

use crate::check::Status;
use loopkeeper_agent::errors::{Fingerprint, FingerprintedError};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::moment::Moment;

use super::Iteration;

/// The part of an iteration that is kept as it is for as long as the loop lasts.
#[derive(Debug, Clone, Copy, Default)]
pub struct IterationOutline<'a> {
    pub figures: IterationFigures,
    pub results: &'a [(CriterionId, Status)],
    pub failing: Option<&'a Fingerprint>,
    /// Empty for an old iteration: see [`super::IterationHistory::pack_oldest`].
    pub facts: &'a [(CriterionId, String)],
    /// Empty for an old iteration.
    pub errors: &'a [FingerprintedError],
}

/// Numbers and facts of an iteration without its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude each other")]
pub struct IterationFigures {
    pub number: u32,
    pub started_at: Moment,
    pub ended_at: Moment,
    pub duration_ms: u64,
    pub cost_micros: Option<u64>,
    pub tokens: Option<u64>,
    pub output_bytes: u64,
    pub items_done: u32,
    pub denials: u32,
    /// The end of its agent is on record.
    pub has_ended: bool,
    /// It failed for reasons unrelated to the work.
    pub is_provider_failure: bool,
    /// The agent ended with its own error.
    pub failed_by_itself: bool,
    /// It changed files or made a commit.
    pub has_progress: bool,
    pub has_claim: bool,
    pub has_milestones: bool,
    pub test_only: bool,
    pub rolled_back: bool,
}

impl<'a> IterationOutline<'a> {
    pub(super) fn of(row: &'a Iteration) -> Self {
        Self {
            figures: IterationFigures::of(row),
            results: &row.row,
            failing: row.failing.as_ref(),
            facts: &row.facts,
            errors: &row.errors,
        }
    }

    /// The result of a criterion after it; `None`: it was not judged.
    pub fn status_of(&self, criterion: &CriterionId) -> Option<Status> {
        self.results.iter().find(|(id, _)| id == criterion).map(|(_, status)| *status)
    }
}

impl IterationFigures {
    pub(super) fn of(row: &Iteration) -> Self {
        Self {
            number: row.number,
            started_at: row.started_at,
            ended_at: row.ended_at,
            duration_ms: row.duration_ms,
            cost_micros: row.cost_micros,
            tokens: row.tokens,
            output_bytes: row.output_bytes,
            items_done: row.items_done,
            denials: row.denials,
            has_ended: row.ending.is_some(),
            is_provider_failure: row.is_provider_failure(),
            failed_by_itself: row.failed_by_itself(),
            has_progress: row.changes.has_progress(),
            has_claim: row.claim.is_some(),
            has_milestones: !row.milestones.is_empty(),
            test_only: row.test_only,
            rolled_back: row.rolled_back,
        }
    }

    /// The duration of the iteration with its checks.
    pub fn whole_ms(&self) -> u64 {
        self.ended_at.ms_since(self.started_at)
    }
}
