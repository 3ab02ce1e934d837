//! The history as the breaker sees it: of every iteration that is over, whether it says anything about the work,
//! and what it moved. Judges nothing by itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::{AgentEnding, ProviderClass};
use crate::check::Status;
use crate::decide::state::{Iteration, Loop, Phase};
use crate::journal::{Role, SnapshotWhen};
use crate::task::CriterionId;

use super::is_provider_trouble;
use super::oscillation::WINDOW;

pub(super) struct Past<'a> {
    looks: Vec<Look<'a>>,
    /// How many of them came before the counts were last cleared.
    old: usize,
}

/// One iteration that is over.
pub(super) struct Look<'a> {
    pub(super) row: &'a Iteration,
    pub(super) tree: &'a str,
    /// It says nothing about the work.
    pub(super) is_trouble: bool,
    /// An earlier iteration had left the very tree that this one made.
    pub(super) returned: bool,
    pub(super) moved: Moved,
}

/// What the checks and the plan say otherwise than before.
pub(super) struct Moved {
    /// A criterion turned to pass, or an item of the plan was done.
    pub(super) turned: bool,
    /// Other criteria pass.
    pub(super) passes: bool,
    /// What is found where one does not pass.
    facts: bool,
}

impl Look<'_> {
    pub(super) fn changed(&self) -> bool {
        self.row.changes.any() && !self.row.taken_back
    }

    /// The agent ended with an error of its own, and yet changed files: that it fails so again says something of
    /// the work.
    pub(super) fn failed_at_work(&self) -> bool {
        let own = |class| matches!(class, ProviderClass::Crash | ProviderClass::Unknown);
        let error = self.row.error.as_ref();
        self.changed()
            && !self.row.interrupted
            && self.row.ending == Some(AgentEnding::Exited)
            && error.is_some_and(|it| own(it.class))
    }

    /// The tree is one that was not there before.
    pub(super) fn is_new(&self) -> bool {
        self.changed() && !self.returned
    }

    /// Something that can be measured is better than before.
    pub(super) fn is_better(&self) -> bool {
        self.moved.turned || (self.is_new() && self.moved.facts)
    }
}

impl<'a> Past<'a> {
    pub(super) fn of(state: &'a Loop) -> Self {
        let over = match state.phase {
            // The last row is not complete yet.
            Phase::Iterating { .. } | Phase::Closing | Phase::Checking => {
                state.history.len().saturating_sub(1)
            }
            Phase::Starting | Phase::Baseline | Phase::Boundary | Phase::Preparing | Phase::Ended => {
                state.history.len()
            }
        };
        let rows = state.history.get(..over).unwrap_or_default();
        let old = rows.iter().filter(|it| it.number <= state.breaker.since).count();
        let mut standing = Standing::at_start(state);
        let trees = Trees::of(state);
        let after: Vec<&str> = rows.iter().map(|it| trees.after(it.number)).collect();
        let looks = rows.iter().zip(&after).enumerate().map(|(at, (row, tree))| {
            let earlier = after.get(at.saturating_sub(WINDOW)..at).unwrap_or_default();
            standing.look(row, tree, earlier.contains(tree) && trees.moved(row, tree))
        });
        Self { looks: looks.collect(), old }
    }

    /// Everything since the counts were last cleared.
    pub(super) fn counted(&self) -> &[Look<'a>] {
        self.looks.get(self.old..).unwrap_or_default()
    }

    /// How many in a row, the last one included, are so. What says nothing is passed over, unless files changed
    /// in it.
    pub(super) fn in_a_row(&self, is_so: impl Fn(&Look<'_>) -> bool) -> u32 {
        let says = |it: &&Look<'_>| !it.is_trouble || it.changed();
        let row = self.counted().iter().rev().filter(says);
        row.take_while(|it| !it.is_trouble && is_so(it)).count() as u32
    }
}

/// What passes and what is found, from one iteration to the next.
struct Standing<'a> {
    passing: BTreeSet<&'a CriterionId>,
    failing: BTreeSet<&'a CriterionId>,
    facts: BTreeMap<&'a CriterionId, &'a str>,
    items_done: u32,
    /// Whose results these are.
    of: Option<&'a Iteration>,
}

impl<'a> Standing<'a> {
    fn at_start(state: &'a Loop) -> Self {
        let of = |role| {
            let those = state.pinned.iter().filter(move |it| it.role == role);
            those.map(|it| &it.criterion.id).collect()
        };
        let items_done = state.spec.plan.iter().filter(|it| it.done).count() as u32;
        Self {
            passing: of(Role::Guard),
            failing: of(Role::Goal),
            facts: BTreeMap::new(),
            items_done,
            of: None,
        }
    }

    fn look(&mut self, row: &'a Iteration, tree: &'a str, returned: bool) -> Look<'a> {
        let is_trouble = is_provider_trouble(row);
        if self.of.is_some_and(|it| it.row == row.row && it.facts == row.facts) {
            let moved = Moved { turned: row.items_done > self.items_done, passes: false, facts: false };
            self.items_done = if row.taken_back { self.items_done } else { row.items_done };
            return Look { row, tree, is_trouble, returned, moved };
        }
        let passed = |it: &&(CriterionId, Status)| it.1 == Status::Pass;
        let facts: BTreeMap<_, _> = row.facts.iter().map(|(id, fact)| (id, fact.as_str())).collect();
        let passing: BTreeSet<_> = row.row.iter().filter(passed).map(|(id, _)| id).collect();
        let judged = !row.row.is_empty();
        let moved = Moved {
            turned: passing.iter().any(|it| self.failing.contains(it)) || row.items_done > self.items_done,
            passes: judged && passing != self.passing,
            facts: facts.iter().any(|(id, fact)| self.facts.get(id).is_some_and(|it| it != fact)),
        };
        let look = Look { row, tree, is_trouble, returned, moved };
        if row.taken_back {
            return look;
        }
        self.items_done = row.items_done;
        if judged {
            let failed = row.row.iter().filter(|it| !matches!(it.1, Status::Pass | Status::Unverified));
            *self =
                Self { failing: failed.map(|(id, _)| id).collect(), passing, facts, of: Some(row), ..*self };
        }
        look
    }
}

/// The tree before and after each iteration.
struct Trees<'a> {
    before: BTreeMap<u32, &'a str>,
    after: BTreeMap<u32, &'a str>,
}

impl<'a> Trees<'a> {
    fn of(state: &'a Loop) -> Self {
        let of = |when| {
            let those = state.snapshots.iter().filter(move |it| it.when == when);
            those.map(|it| (it.iteration, it.tree.as_str())).collect()
        };
        Self { before: of(SnapshotWhen::Before), after: of(SnapshotWhen::After) }
    }

    fn after(&self, iteration: u32) -> &'a str {
        self.after.get(&iteration).copied().unwrap_or_default()
    }

    fn moved(&self, row: &Iteration, tree: &str) -> bool {
        let differs = || self.before.get(&row.number).is_none_or(|it| *it != tree);
        !tree.is_empty() && row.changes.any() && !row.taken_back && differs()
    }
}
