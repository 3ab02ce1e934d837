//! The criteria of a loop or of one check round with their latest results, as views list them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use loopkeeper_core::check::{CheckResult, CriteriaTally, Status};
use loopkeeper_core::journal::{PinnedCriterion, Role};
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::{DocumentRange, sanitize};

/// Counts over the required and optional criteria alike; `passed + failed + unverified` is less than `total`
/// while some were never run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CriteriaStatus {
    pub passed: u64,
    pub failed: u64,
    /// Criteria without a check, which only a claim can support.
    pub unverified: u64,
    pub total: u64,
    /// The counts in words, shown in every view: `all 5 required pass, 1 optional not checked`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The required criteria for a status bar: `5/5 pass`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
    pub items: Vec<CriterionStatus>,
}

/// One criterion with its latest result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionStatus {
    pub id: CriterionId,
    pub name: String,
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Absent: it was never run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fact: String,
    /// The condition of a failed comparison, `>= 80`, and the value it found, `76.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    #[serde(default)]
    pub duration_ms: u64,
    /// Whether it passed before the first iteration and fails now.
    #[serde(default)]
    pub regressed: bool,
    /// Whether the agent ticked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticked: Option<bool>,
    /// Whether files changed since its last run.
    #[serde(default)]
    pub stale: bool,
    pub place: SourceRange,
}

/// Location of a criterion in its file, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceRange {
    /// Path relative to the root, safe to show.
    pub file: String,
    pub start: usize,
    pub length: usize,
}

impl From<&DocumentRange> for SourceRange {
    fn from(place: &DocumentRange) -> Self {
        let file = sanitize::visible(&place.file);
        Self { file, start: place.range.start, length: place.range.len() }
    }
}

/// The criteria of a loop, as pinned.
pub fn criteria<'a>(
    pinned: &[PinnedCriterion],
    result: impl Fn(&CriterionId) -> Option<&'a CheckResult>,
) -> CriteriaStatus {
    collect(pinned.iter().map(|it| criterion_status(&it.criterion, Some(it.role), result(&it.criterion.id))))
}

/// The criteria of a task that no loop has pinned.
pub fn criteria_without_loop(criteria: &[Criterion], results: &[CheckResult]) -> CriteriaStatus {
    // The first result of a criterion is the one that counts.
    let found: HashMap<&CriterionId, &CheckResult> =
        results.iter().rev().map(|it| (&it.criterion, it)).collect();
    task_criteria(criteria, |id| found.get(id).copied())
}

pub(super) fn task_criteria<'a>(
    criteria: &[Criterion],
    result: impl Fn(&CriterionId) -> Option<&'a CheckResult>,
) -> CriteriaStatus {
    collect(criteria.iter().map(|it| criterion_status(it, None, result(&it.id))))
}

impl CriteriaStatus {
    /// Whether every required criterion passed. A criterion without a check never passes.
    pub fn holds(&self) -> bool {
        self.items.iter().filter(|it| it.required).all(|it| it.status == Some(Status::Pass))
    }

    /// The counts in words.
    pub fn sentence(&self) -> String {
        CriteriaTally::of(self.items.iter().map(|it| (it.required, it.status))).sentence()
    }
}

fn collect(items: impl Iterator<Item = CriterionStatus>) -> CriteriaStatus {
    let items: Vec<_> = items.collect();
    let tally = CriteriaTally::of(items.iter().map(|it| (it.required, it.status)));
    let count =
        |wanted: fn(Status) -> bool| items.iter().filter(|it| it.status.is_some_and(wanted)).count() as u64;
    CriteriaStatus {
        passed: count(|it| it == Status::Pass),
        failed: count(|it| !matches!(it, Status::Pass | Status::Unverified)),
        unverified: count(|it| it == Status::Unverified),
        total: items.len() as u64,
        summary: tally.sentence(),
        brief: tally.brief(),
        items,
    }
}

fn criterion_status(
    criterion: &Criterion,
    role: Option<Role>,
    result: Option<&CheckResult>,
) -> CriterionStatus {
    // Without a check there is nothing to run, so "unverified" is more precise than "never run".
    let status = known_status(criterion, result.map(|it| it.status));
    let compared = result.and_then(|it| it.failed_comparison(criterion));
    CriterionStatus {
        id: criterion.id.clone(),
        // Documents are untrusted.
        name: sanitize::line(&criterion.name),
        required: criterion.required,
        role,
        status,
        fact: result.map(|it| it.fact.clone()).unwrap_or_default(),
        expected: compared.as_ref().map(|it| it.expected.clone()),
        actual: compared.map(|it| it.actual),
        duration_ms: result.map_or(0, |it| it.duration_ms),
        regressed: role == Some(Role::Guard) && status.is_some_and(|it| it != Status::Pass),
        ticked: criterion.ticked,
        stale: false,
        place: SourceRange::from(&criterion.place),
    }
}

/// The status that counts, given the one `found` in a round.
pub(super) fn known_status(criterion: &Criterion, found: Option<Status>) -> Option<Status> {
    match criterion.check {
        None => Some(Status::Unverified),
        // The judge has not run yet.
        Some(_) => found.filter(|it| *it != Status::Unverified),
    }
}

/// The counts of a task's criteria with their latest results.
pub(super) fn tally_of_task<'a>(
    criteria: &[Criterion],
    result: impl Fn(&CriterionId) -> Option<&'a CheckResult>,
) -> CriteriaTally {
    CriteriaTally::of(
        criteria.iter().map(|it| (it.required, known_status(it, result(&it.id).map(|it| it.status)))),
    )
}

#[cfg(test)]
mod tests;
