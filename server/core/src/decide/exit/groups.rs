//! Groups of criteria: `(group parser)` gives several criteria one state. The configuration decides whether all of them
//! must hold, or most; criteria without a group must all hold. `(group core/parser)` is a part of the group `core`.

use std::collections::BTreeMap;

use crate::journal::PinnedCriterion;
use crate::loop_state::LoopState;
use crate::settings::GroupRule;

use super::passes;

/// One group: how many of its required criteria with a check pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupTally {
    pub passing: usize,
    pub total: usize,
}

impl GroupTally {
    pub fn holds(self, rule: GroupRule) -> bool {
        match rule {
            GroupRule::All => self.passing == self.total,
            GroupRule::Majority => self.passing * 2 > self.total,
        }
    }
}

/// Whether all groups hold, and all criteria without a group.
pub(super) fn all_groups_hold(state: &LoopState, checked: &[&PinnedCriterion]) -> bool {
    let rule = state.spec.settings.exit.groups;
    let mut loose = checked.iter().filter(|it| it.criterion.group.is_none());
    loose.all(|it| passes(state, it)) && tallies(state, checked).values().all(|it| it.holds(rule))
}

/// Every group as the last round judged it.
pub fn group_tallies(state: &LoopState) -> BTreeMap<&str, GroupTally> {
    let checked: Vec<&PinnedCriterion> = state.required().filter(|it| it.criterion.check.is_some()).collect();
    tallies(state, &checked)
}

pub(super) fn tallies<'a>(
    state: &LoopState,
    checked: &[&'a PinnedCriterion],
) -> BTreeMap<&'a str, GroupTally> {
    let mut groups: BTreeMap<&str, GroupTally> = BTreeMap::new();
    for pinned in checked {
        let Some(group) = pinned.criterion.group.as_deref() else { continue };
        for group in with_parents(group) {
            let tally = groups.entry(group).or_default();
            tally.total += 1;
            tally.passing += usize::from(passes(state, pinned));
        }
    }
    groups
}

/// The parent groups of a group, and the group itself: `a`, `a/b`. Limited, because a name may consist of slashes.
fn with_parents(group: &str) -> impl Iterator<Item = &str> {
    const MAX_PARENTS: usize = 8;
    let parents = group.match_indices('/').filter_map(|(at, _)| group.get(..at));
    let parents = parents.filter(|it| !it.is_empty() && !it.ends_with('/'));
    parents.take(MAX_PARENTS).chain(std::iter::once(group))
}

#[cfg(test)]
mod tests {
    use super::{GroupTally, group_tallies, with_parents};
    use crate::decide::sim::{Sim, Turn, criterion, spec};
    use loopkeeper_task::criterion::Criterion;

    #[test]
    fn parents_end_at_slashes() {
        let check = |group: &str, expect: &[&str]| {
            assert_eq!(with_parents(group).collect::<Vec<_>>(), expect, "{group}");
        };
        check("core", &["core"]);
        check("core/parser", &["core", "core/parser"]);
        check("a/b/c", &["a", "a/b", "a/b/c"]);
        check("core/", &["core", "core/"]);
        check("/core", &["/core"]);
        check("a//b", &["a", "a//b"]);
        check("é/ü", &["é", "é/ü"]);
        assert_eq!(with_parents(&"a/".repeat(1000)).count(), 9);
    }

    #[test]
    fn a_group_counts_the_criteria_of_its_parts() {
        let check = |groups: &[&str], start: &'static str, expect: &[(&str, usize, usize)]| {
            let one = |(n, group): (usize, &&str)| Criterion {
                group: Some((*group).to_owned()),
                ..criterion(&n.to_string(), "make x")
            };
            let criteria = groups.iter().enumerate().map(one).collect();
            let mut spec = spec(criteria);
            spec.settings.limits.iterations = 1;
            let sim = Sim::new(spec, start, vec![Turn::new(start)]).run();
            let found: Vec<_> = group_tallies(&sim.state)
                .into_iter()
                .map(|(name, GroupTally { passing, total })| (name.to_owned(), passing, total))
                .collect();
            let expect: Vec<_> = expect.iter().map(|(name, a, b)| ((*name).to_owned(), *a, *b)).collect();
            assert_eq!(found, expect, "{groups:?}");
        };
        check(&["core", "core/parser"], "pf", &[("core", 1, 2), ("core/parser", 0, 1)]);
        check(&["core/a", "core/b"], "pf", &[("core", 1, 2), ("core/a", 1, 1), ("core/b", 0, 1)]);
        // A name that only begins alike is another group.
        check(&["core", "corecursion"], "pf", &[("core", 1, 1), ("corecursion", 0, 1)]);
    }
}
