//! Groups of criteria: `(group parser)` gives several criteria one state. The configuration decides whether all of them
//! must hold, or most; criteria without a group must all hold.

use std::collections::BTreeMap;

use crate::journal::Pinned;
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

/// Whether all groups hold, and everything outside of them.
pub(super) fn all_groups_hold(state: &LoopState, checked: &[&Pinned]) -> bool {
    let rule = state.spec.settings.exit.groups;
    let loose = checked.iter().filter(|it| it.criterion.group.is_none());
    loose.into_iter().all(|it| passes(state, it)) && tallies(state, checked).values().all(|it| it.holds(rule))
}

/// Every group as the last round judged it.
pub fn group_tallies(state: &LoopState) -> BTreeMap<&str, GroupTally> {
    let checked: Vec<&Pinned> = state.required().filter(|it| it.criterion.check.is_some()).collect();
    tallies(state, &checked)
}

pub(super) fn tallies<'a>(state: &LoopState, checked: &[&'a Pinned]) -> BTreeMap<&'a str, GroupTally> {
    let mut groups: BTreeMap<&str, GroupTally> = BTreeMap::new();
    for pinned in checked {
        let Some(group) = pinned.criterion.group.as_deref() else { continue };
        let tally = groups.entry(group).or_default();
        tally.total += 1;
        tally.passing += usize::from(passes(state, pinned));
    }
    groups
}
