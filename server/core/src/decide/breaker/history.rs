//! The history as input of the breaker: for every finished iteration, whether it counts and how much progress it made.
//! Contains no decision.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Status;
use crate::journal::{Role, SnapshotWhen};
use crate::loop_state::{Iteration, IterationOutline, LoopState, Phase};
use loopkeeper_task::criterion::CriterionId;

/// Number of earlier iterations whose trees are compared.
pub(super) const WINDOW: usize = 10;

#[derive(Clone, Copy)]
pub(super) struct BreakerHistory<'a> {
    pub(super) state: &'a LoopState,
    /// Number of finished iterations.
    pub(super) finished: usize,
    /// Number of them before the counts were last cleared.
    pub(super) old: usize,
}

/// A finished iteration.
pub(super) struct FinishedIteration<'a> {
    pub(super) outline: IterationOutline<'a>,
    past: BreakerHistory<'a>,
    index: usize,
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

impl<'a> FinishedIteration<'a> {
    /// The iteration failed for reasons unrelated to the work.
    pub(super) fn is_provider_failure(&self) -> bool {
        self.outline.figures.is_provider_failure
    }

    pub(super) fn changed(&self) -> bool {
        self.outline.figures.has_progress && !self.outline.figures.rolled_back
    }

    /// The agent ended with its own error but changed files, so repeated failures do concern the work.
    pub(super) fn failed_at_work(&self) -> bool {
        self.changed() && self.outline.figures.failed_by_itself
    }

    pub(super) fn tree(&self) -> &'a str {
        self.past.tree_after(self.outline.figures.number)
    }

    /// Its tree equals the tree of an earlier iteration.
    pub(super) fn repeats_earlier_tree(&self) -> bool {
        if !self.changed() {
            return false;
        }
        let (tree, number) = (self.tree(), self.outline.figures.number);
        let before = self.past.state.tree_at(number, SnapshotWhen::Before);
        let has_moved = !tree.is_empty() && before.is_none_or(|it| it != tree);
        let mut earlier = self.past.outlines_before(self.index).rev().take(WINDOW);
        has_moved && earlier.any(|it| self.past.tree_after(it.figures.number) == tree)
    }

    /// The tree did not occur before.
    pub(super) fn is_new(&self) -> bool {
        self.changed() && !self.repeats_earlier_tree()
    }

    /// Something measurable improved.
    pub(super) fn is_better(&self) -> bool {
        let progress = self.progress();
        progress.turned || (progress.facts && self.is_new())
    }

    /// A criterion turned to pass, or a plan item was done: [`ProgressDelta::turned`] without a comparison of findings, for
    /// streaks that may be as long as the loop.
    pub(super) fn has_turned(&self) -> bool {
        let mut kept = self.past.outlines_before(self.index).rev().filter(|it| !it.figures.rolled_back);
        let is_same = kept.next().is_some_and(|it| {
            let has_ticked = self.outline.figures.items_done > it.figures.items_done;
            !has_ticked && has_results(&it) && it.results == self.outline.results
        });
        !is_same && self.progress().turned
    }

    /// Measured against the last iteration that was kept and judged, or against the start if there is none.
    pub(super) fn progress(&self) -> ProgressDelta {
        let (state, row) = (self.past.state, &self.outline);
        let mut kept = self.past.outlines_before(self.index).rev().filter(|it| !it.figures.rolled_back);
        let before = kept.next();
        let items_done = match &before {
            Some(it) => it.figures.items_done,
            None => state.spec.plan.iter().filter(|it| it.done).count() as u32,
        };
        let ticked = row.figures.items_done > items_done;
        let before = before.filter(has_results).or_else(|| kept.find(has_results));
        if before.as_ref().is_some_and(|it| it.results == row.results && it.facts == row.facts) {
            return ProgressDelta { turned: ticked, passes: false, facts: false };
        }
        let earlier = before.as_ref().map_or_else(|| PassingCriteria::at_start(state), PassingCriteria::of);
        let now = PassingCriteria::of(row);
        ProgressDelta {
            turned: ticked || now.passing.iter().any(|it| earlier.failing.contains(it)),
            passes: !row.results.is_empty() && now.passing != earlier.passing,
            facts: now.facts.iter().any(|(id, fact)| earlier.facts.get(id).is_some_and(|it| it != fact)),
        }
    }
}

fn has_results(outline: &IterationOutline<'_>) -> bool {
    !outline.results.is_empty()
}

impl<'a> BreakerHistory<'a> {
    pub(super) fn of(state: &'a LoopState) -> Self {
        let finished = match state.phase {
            // The last row is not complete yet.
            Phase::Iterating(_) | Phase::Closing | Phase::Checking => state.history.len().saturating_sub(1),
            Phase::Starting
            | Phase::Baseline
            | Phase::Boundary { .. }
            | Phase::Preparing { .. }
            | Phase::Ended(_) => state.history.len(),
        };
        let mut past = Self { state, finished, old: 0 };
        past.old = past.count_up_to(state.breaker.since);
        past
    }

    /// Number of finished iterations up to the one of this number; they are in the order of their numbers.
    fn count_up_to(&self, number: u32) -> usize {
        let is_later =
            |it: &usize| self.state.history.outline(*it).is_some_and(|it| it.figures.number > number);
        let (mut first, mut last) = (0, self.finished);
        while first < last {
            let middle = usize::midpoint(first, last);
            (first, last) = if is_later(&middle) { (first, middle) } else { (middle + 1, last) };
        }
        first
    }

    fn tree_after(&self, number: u32) -> &'a str {
        self.state.tree_after(number).unwrap_or_default()
    }

    fn outlines_before(
        &self,
        index: usize,
    ) -> impl DoubleEndedIterator<Item = IterationOutline<'a>> + ExactSizeIterator + Clone {
        self.state.history.outlines_within(0..index)
    }

    /// The iterations since the counts were last cleared.
    pub(super) fn outlines(
        &self,
    ) -> impl DoubleEndedIterator<Item = IterationOutline<'a>> + ExactSizeIterator {
        self.state.history.outlines_within(self.old..self.finished)
    }

    /// The last `count` of them that are not packed.
    pub(super) fn newest_rows(&self, count: usize) -> &'a [Iteration] {
        let rows = self.state.history.recent();
        let packed = self.state.history.len() - rows.len();
        let finished = self.finished.saturating_sub(packed);
        let first = finished.saturating_sub(count).max(self.old.saturating_sub(packed));
        rows.get(first..finished).unwrap_or_default()
    }

    /// Facts of each of them.
    pub(super) fn counted_iterations(
        &self,
    ) -> impl DoubleEndedIterator<Item = FinishedIteration<'a>> + ExactSizeIterator {
        self.facts_from(self.old)
    }

    /// Facts of every finished iteration, whenever the counts were cleared.
    pub(super) fn all_iterations(
        &self,
    ) -> impl DoubleEndedIterator<Item = FinishedIteration<'a>> + ExactSizeIterator {
        self.facts_from(0)
    }

    fn facts_from(
        &self,
        first: usize,
    ) -> impl DoubleEndedIterator<Item = FinishedIteration<'a>> + ExactSizeIterator {
        let past = *self;
        let outlines = self.state.history.outlines_within(first..self.finished);
        outlines.enumerate().map(move |(at, outline)| FinishedIteration { outline, past, index: first + at })
    }

    /// Length of the streak that ends with the last iteration. Iterations unrelated to the work are skipped, unless
    /// they changed files.
    pub(super) fn in_a_row(&self, counts: impl Fn(&FinishedIteration<'_>) -> bool) -> u32 {
        let is_evidence = |it: &FinishedIteration<'_>| !it.is_provider_failure() || it.changed();
        let newest_first = self.counted_iterations().rev().filter(is_evidence);
        newest_first.take_while(|it| !it.is_provider_failure() && counts(it)).count() as u32
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
        let ids = |role| {
            let pinned = state.criteria.pinned.iter().filter(move |it| it.role == role);
            pinned.map(|it| &it.criterion.id).collect()
        };
        Self { passing: ids(Role::Guard), failing: ids(Role::Goal), facts: BTreeMap::new() }
    }

    fn of(row: &IterationOutline<'a>) -> Self {
        let ids = |matches: fn(Status) -> bool| {
            let results = row.results.iter().filter(move |it| matches(it.1));
            results.map(|(id, _)| id).collect()
        };
        Self {
            passing: ids(|it| it == Status::Pass),
            failing: ids(|it| !matches!(it, Status::Pass | Status::Unverified)),
            facts: row.facts.iter().map(|(id, fact)| (id, fact.as_str())).collect(),
        }
    }
}
