//! The history as input of the breaker: for every finished iteration, whether it counts and how much progress it made.
//! Contains no decision.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Status;
use crate::journal::{Role, SnapshotWhen};
use crate::loop_state::{Iteration, LoopState, Phase};
use loopkeeper_agent::{AgentEnding, ProviderClass};
use loopkeeper_task::criterion::CriterionId;

use super::is_provider_trouble;

/// Number of earlier iterations whose trees are compared.
pub(super) const WINDOW: usize = 10;

pub(super) struct BreakerHistory<'a> {
    state: &'a LoopState,
    rows: &'a [Iteration],
    /// Number of rows before the counts were last cleared.
    old: usize,
}

/// A finished iteration.
pub(super) struct IterationFacts<'a> {
    pub(super) row: &'a Iteration,
    pub(super) tree: &'a str,
    /// The iteration failed for reasons unrelated to the work.
    pub(super) is_trouble: bool,
    /// Its tree equals the tree of an earlier iteration.
    pub(super) returned: bool,
    pub(super) moved: ProgressDelta,
}

/// Changes of check results and of the plan against an earlier iteration.
pub(super) struct ProgressDelta {
    /// A criterion turned to pass, or a plan item was done.
    pub(super) turned: bool,
    /// The set of passing criteria differs.
    pub(super) passes: bool,
    /// The findings of failing criteria differ.
    facts: bool,
}

impl IterationFacts<'_> {
    pub(super) fn changed(&self) -> bool {
        self.row.changes.has_progress() && !self.row.taken_back
    }

    /// The agent ended with its own error but changed files, so repeated failures do concern the work.
    pub(super) fn failed_at_work(&self) -> bool {
        let own = |class| matches!(class, ProviderClass::Crash | ProviderClass::Unknown);
        let error = self.row.error.as_ref();
        self.changed()
            && !self.row.interrupted
            && self.row.ending == Some(AgentEnding::Exited)
            && error.is_some_and(|it| own(it.class))
    }

    /// The tree did not occur before.
    pub(super) fn is_new(&self) -> bool {
        self.changed() && !self.returned
    }

    /// Something measurable improved.
    pub(super) fn is_better(&self) -> bool {
        self.moved.turned || (self.is_new() && self.moved.facts)
    }
}

impl<'a> BreakerHistory<'a> {
    pub(super) fn of(state: &'a LoopState) -> Self {
        let over = match state.phase {
            // The last row is not complete yet.
            Phase::Iterating(_) | Phase::Closing | Phase::Checking => state.history.len().saturating_sub(1),
            Phase::Starting
            | Phase::Baseline
            | Phase::Boundary { .. }
            | Phase::Preparing { .. }
            | Phase::Ended(_) => state.history.len(),
        };
        let rows = state.history.get(..over).unwrap_or_default();
        let old = rows.partition_point(|it| it.number <= state.breaker.since);
        Self { state, rows, old }
    }

    /// The iterations since the counts were last cleared.
    pub(super) fn rows(&self) -> &'a [Iteration] {
        self.rows.get(self.old..).unwrap_or_default()
    }

    /// Facts of each of them.
    pub(super) fn counted_iterations(&self) -> impl DoubleEndedIterator<Item = IterationFacts<'a>> {
        self.all_iterations().skip(self.old)
    }

    /// Facts of every finished iteration, whenever the counts were cleared.
    pub(super) fn all_iterations(
        &self,
    ) -> impl DoubleEndedIterator<Item = IterationFacts<'a>> + ExactSizeIterator {
        let (state, rows) = (self.state, self.rows);
        rows.iter().enumerate().map(move |(at, row)| {
            let earlier = rows.get(..at).unwrap_or_default();
            iteration_facts(state, earlier, row)
        })
    }

    /// Length of the streak that ends with the last iteration. Iterations unrelated to the work are skipped, unless
    /// they changed files.
    pub(super) fn in_a_row(&self, is_so: impl Fn(&IterationFacts<'_>) -> bool) -> u32 {
        let says = |it: &IterationFacts<'_>| !it.is_trouble || it.changed();
        let row = self.counted_iterations().rev().filter(says);
        row.take_while(|it| !it.is_trouble && is_so(it)).count() as u32
    }
}

fn iteration_facts<'a>(
    state: &'a LoopState,
    earlier: &'a [Iteration],
    row: &'a Iteration,
) -> IterationFacts<'a> {
    let after = |it: &Iteration| state.tree_after(it.number).unwrap_or_default();
    let tree = after(row);
    let differs = || state.tree_at(row.number, SnapshotWhen::Before).is_none_or(|it| it != tree);
    let has_moved = !tree.is_empty() && row.changes.has_progress() && !row.taken_back && differs();
    let returned = has_moved && earlier.iter().rev().take(WINDOW).any(|it| after(it) == tree);
    IterationFacts {
        row,
        tree,
        is_trouble: is_provider_trouble(row),
        returned,
        moved: progress_since(state, earlier, row),
    }
}

/// Measured against the last iteration that was kept and judged, or against the start if there is none.
fn progress_since(state: &LoopState, earlier: &[Iteration], row: &Iteration) -> ProgressDelta {
    let mut kept = earlier.iter().rev().filter(|it| !it.taken_back);
    let items_done = match kept.clone().next() {
        Some(it) => it.items_done,
        None => state.spec.plan.iter().filter(|it| it.done).count() as u32,
    };
    let ticked = row.items_done > items_done;
    let before = kept.find(|it| !it.row.is_empty());
    if before.is_some_and(|it| it.row == row.row && it.facts == row.facts) {
        return ProgressDelta { turned: ticked, passes: false, facts: false };
    }
    let standing = before.map_or_else(|| PassingCriteria::at_start(state), PassingCriteria::of);
    let now = PassingCriteria::of(row);
    ProgressDelta {
        turned: ticked || now.passing.iter().any(|it| standing.failing.contains(it)),
        passes: !row.row.is_empty() && now.passing != standing.passing,
        facts: now.facts.iter().any(|(id, fact)| standing.facts.get(id).is_some_and(|it| it != fact)),
    }
}

/// The passing criteria and the findings.
struct PassingCriteria<'a> {
    passing: BTreeSet<&'a CriterionId>,
    failing: BTreeSet<&'a CriterionId>,
    facts: BTreeMap<&'a CriterionId, &'a str>,
}

impl<'a> PassingCriteria<'a> {
    fn at_start(state: &'a LoopState) -> Self {
        let of = |role| {
            let those = state.criteria.pinned.iter().filter(move |it| it.role == role);
            those.map(|it| &it.criterion.id).collect()
        };
        Self { passing: of(Role::Guard), failing: of(Role::Goal), facts: BTreeMap::new() }
    }

    fn of(row: &'a Iteration) -> Self {
        let of = |is_so: fn(Status) -> bool| {
            let those = row.row.iter().filter(move |it| is_so(it.1));
            those.map(|(id, _)| id).collect()
        };
        Self {
            passing: of(|it| it == Status::Pass),
            failing: of(|it| !matches!(it, Status::Pass | Status::Unverified)),
            facts: row.facts.iter().map(|(id, fact)| (id, fact.as_str())).collect(),
        }
    }
}
