//! The criteria that a loop is judged by, and what its rounds of checks found.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{CheckResult, Status};
use crate::journal::{Pinned, Proposal, Role};
use loopkeeper_task::criterion::{Criterion, CriterionId};

use super::{FlakyState, UnrunnableChecks};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CriteriaState {
    pub pinned: Vec<Pinned>,
    /// The documents' criteria as last seen before the user could change them; `None` after a crash.
    pub seen: Option<Vec<Criterion>>,
    pub proposed: Vec<Proposal>,
    /// The last result of each criterion.
    pub results: BTreeMap<CriterionId, CheckResult>,
    /// Everything required held before the first iteration.
    pub held_at_start: bool,
    /// A goal has turned at some time.
    pub turned: bool,
    /// First iteration of the present row of rounds in which everything required with a check passed.
    pub passing_since: Option<u32>,
    /// What passed right before the present iteration.
    pub passing_before: BTreeSet<CriterionId>,
    pub flaky: FlakyState,
    pub unrunnable: UnrunnableChecks,
}

impl CriteriaState {
    pub(crate) fn starting(criteria: &[Criterion]) -> Self {
        let pin = |it: &Criterion| Pinned { criterion: it.clone(), role: Role::Open };
        Self { pinned: criteria.iter().map(pin).collect(), seen: Some(criteria.to_vec()), ..Self::default() }
    }

    pub(crate) fn has_checks(&self) -> bool {
        self.pinned.iter().any(|it| it.criterion.check.is_some())
    }

    pub(crate) fn status_of(&self, id: &CriterionId) -> Option<Status> {
        self.results.get(id).map(|it| it.status)
    }

    pub(crate) fn required(&self) -> impl Iterator<Item = &Pinned> {
        self.pinned.iter().filter(|it| it.criterion.required)
    }

    /// Whether all required criteria with a check passed in the last round, and there is at least one.
    pub(crate) fn required_checks_pass(&self) -> bool {
        let mut checked = self.required().filter(|it| it.criterion.check.is_some()).peekable();
        let passes = |it: &Pinned| self.status_of(&it.criterion.id) == Some(Status::Pass);
        checked.peek().is_some() && checked.all(passes)
    }
}
