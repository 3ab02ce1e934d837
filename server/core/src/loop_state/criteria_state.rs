//! The criteria of a loop, and the results of its rounds of checks.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::number_history::{NumberHistory, judge_history};
use crate::check::{CheckResult, Status};
use crate::journal::{PinnedCriterion, Proposal, Role, Round};
use loopkeeper_task::criterion::{Criterion, CriterionId};
use serde::{Deserialize, Serialize};

use super::{FlakyState, UnrunnableChecks};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CriteriaState {
    pub pinned: Vec<PinnedCriterion>,
    /// The documents' criteria as last seen before the user could change them; `None` after a crash.
    pub seen: Option<Vec<Criterion>>,
    pub proposed: Vec<Proposal>,
    /// The last result of each criterion.
    pub results: BTreeMap<CriterionId, CheckResult>,
    /// Histories of the judged criteria that have number rules.
    pub numbers: BTreeMap<CriterionId, NumberHistory>,
    /// All required checks passed before the first iteration.
    pub held_at_start: bool,
    /// A goal has turned at some time.
    pub turned: bool,
    /// The first iteration of the current series of rounds in which all required checks passed.
    pub passing_since: Option<u32>,
    /// The criteria that passed right before the present iteration.
    pub passing_before: BTreeSet<CriterionId>,
    pub flaky: FlakyState,
    pub unrunnable: UnrunnableChecks,
}

impl CriteriaState {
    pub(crate) fn starting(criteria: &[Criterion]) -> Self {
        let pin = |it: &Criterion| PinnedCriterion { criterion: it.clone(), role: Role::Open };
        Self { pinned: criteria.iter().map(pin).collect(), seen: Some(criteria.to_vec()), ..Self::default() }
    }

    /// Judges a round by the number rules of these criteria, before it is recorded.
    pub(crate) fn judge_numbers(&self, pinned: &[PinnedCriterion], round: &mut Round) {
        for result in &mut round.results {
            if let Some(it) = pinned.iter().find(|it| it.criterion.id == result.criterion) {
                judge_history(&it.criterion, self.numbers.get(&result.criterion).copied(), result);
            }
        }
    }

    /// Adds the number of a recorded result, unless its check is not installed: it did not run yet.
    pub(crate) fn record_number(&mut self, result: &CheckResult) {
        let of_result = |it: &&PinnedCriterion| it.criterion.id == result.criterion;
        let has_rules =
            self.pinned.iter().find(of_result).is_some_and(|it| !it.criterion.number_rules.is_empty());
        if !has_rules || result.missing_on_machine().is_some() {
            return;
        }
        self.numbers
            .entry(result.criterion.clone())
            .and_modify(|it| it.add(result))
            .or_insert_with(|| NumberHistory::starting(result));
    }

    pub(crate) fn has_checks(&self) -> bool {
        self.pinned.iter().any(|it| it.criterion.check.is_some())
    }

    pub(crate) fn status_of(&self, id: &CriterionId) -> Option<Status> {
        self.results.get(id).map(|it| it.status)
    }

    pub(crate) fn required(&self) -> impl Iterator<Item = &PinnedCriterion> {
        self.pinned.iter().filter(|it| it.criterion.required)
    }

    /// Whether all required criteria with a check passed in the last round, and there is at least one.
    pub(crate) fn required_checks_pass(&self) -> bool {
        let mut checked = self.required().filter(|it| it.criterion.check.is_some()).peekable();
        let passes = |it: &PinnedCriterion| self.status_of(&it.criterion.id) == Some(Status::Pass);
        checked.peek().is_some() && checked.all(passes)
    }
}
