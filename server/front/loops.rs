//! Which loops there are, which one is meant, and how each stands.

use std::path::{Path, PathBuf};

use loopkeeper_core::decide::{Loop, Phase};
use loopkeeper_core::task::TaskId;
use loopkeeper_core::view::{self, Facts, LoopStatus};

use super::failure::Failure;
use super::follow::Following;
use super::work::Work;
use crate::adapters::clock;
use crate::adapters::state_dir::StateDir;
use crate::adapters::state_dir::lock::Keeper;
use crate::adapters::state_dir::workspace::LoopDir;

/// A loop as its journal and its lock show it.
pub(crate) struct Seen {
    pub(crate) dir: LoopDir,
    pub(crate) state: Loop,
    pub(crate) keeper: Keeper,
    /// What is wrong with its journal.
    pub(crate) damage: Option<String>,
}

impl Seen {
    /// Reads one loop. `None` while its first record is not there: it is just being started.
    pub(crate) fn read(store: &StateDir, dir: LoopDir) -> Result<Option<Self>, Failure> {
        // The keeper first: one that ends in between leaves a journal that says so.
        let keeper = store.keeper_of(&dir)?;
        let mut following = Following::new(&dir.journal());
        following.look()?;
        let damage = following.damage().map(str::to_owned);
        match (following.state(), damage) {
            (None, Some(damage)) => Err(damaged(&damage)),
            (state, damage) => Ok(state.cloned().map(|state| Self { dir, state, keeper, damage })),
        }
    }

    pub(crate) fn status(&self) -> LoopStatus {
        let keeper = match self.keeper {
            Keeper::Alive { pid } => Some(pid),
            Keeper::Gone => None,
        };
        let facts = Facts { now: clock::now(), keeper, damaged: self.damage.is_some(), activity: None };
        view::status(&self.state, &facts)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.keeper != Keeper::Gone
    }

    /// Two roots may have tasks of the same name.
    pub(crate) fn works_on(&self, work: &Work) -> bool {
        self.state.spec.task == work.id && self.dir.root() == work.root
    }

    /// When an order that leaves the running iteration alone takes effect.
    pub(crate) fn next_boundary(&self) -> &'static str {
        match self.state.phase {
            Phase::Starting | Phase::Baseline => "before its first iteration",
            Phase::Boundary | Phase::Preparing | Phase::Ended => "now",
            Phase::Iterating { .. } | Phase::Closing | Phase::Checking => "after its current iteration",
        }
    }

    /// What changes in its documents now counts as the agent's doing, unless it is told otherwise.
    pub(crate) fn is_in_iteration(&self) -> bool {
        matches!(self.state.phase, Phase::Iterating { .. } | Phase::Closing | Phase::Checking)
    }

    /// It works where somebody stands.
    pub(crate) fn is_around(&self, here: Option<&Path>) -> bool {
        here.is_some_and(|it| it.starts_with(self.dir.root()))
    }

    /// Active or interrupted: somebody may still want something of it.
    pub(crate) fn is_open(&self) -> bool {
        self.state.outcome.is_none()
    }
}

/// The loop that works on the task right now.
pub(crate) fn at_work(root: &Path, id: &TaskId) -> Option<Seen> {
    let store = StateDir::open().ok()?;
    let (holder, _) = store.tree_holder(root).ok()??;
    let seen = Seen::read(&store, store.find(&holder).ok()?).ok()??;
    (seen.is_alive() && seen.state.spec.task == *id).then_some(seen)
}

/// Every loop that can be read, oldest first; whoever asks is told why the others cannot.
pub(crate) fn all(store: &StateDir, tell: impl Fn(Failure)) -> Result<Vec<Seen>, Failure> {
    let mut loops = Vec::new();
    for dir in store.loops()? {
        match Seen::read(store, dir) {
            Ok(seen) => loops.extend(seen),
            // One that cannot be read must not hide the others, and must not be hidden itself.
            Err(failure) => tell(failure),
        }
    }
    Ok(loops)
}

/// A record that nobody may go on from.
pub(crate) fn damaged(what: &str) -> Failure {
    Failure::ended(what).hint("Nothing was changed. Restore it from a backup, or start a new loop.")
}

/// Where the user stands.
pub(crate) fn here() -> Option<PathBuf> {
    std::env::current_dir().and_then(|it| it.canonicalize()).ok()
}

/// The loop that `query` names; `latest` is the latest of this tree, where it has any; without one, the only active or interrupted loop, else the latest.
pub(crate) fn find(store: &StateDir, query: Option<&str>, tell: impl Fn(Failure)) -> Result<Seen, Failure> {
    if let Some(query) = query.filter(|it| *it != LATEST) {
        let dir = store.find(query)?;
        let id = dir.id().to_owned();
        return Seen::read(store, dir)?.ok_or_else(|| starting(&id));
    }
    let here = here();
    let mut loops = all(store, tell)?;
    let candidate = |it: &Seen| Candidate {
        near: it.is_around(here.as_deref()),
        open: it.is_open(),
        alive: it.is_alive(),
    };
    let candidates: Vec<_> = loops.iter().map(candidate).collect();
    let meant = if query.is_some() {
        meant(&candidates).next_back().map(|(index, _)| index)
    } else {
        choose(&candidates)
    };
    match meant {
        Some(index) => Ok(loops.swap_remove(index)),
        None => Err(Failure::usage("there is no loop yet").hint("`loopkeeper run` starts one.")),
    }
}

/// The word for the loop that began last.
const LATEST: &str = "latest";

/// What of a loop decides whether it is the one that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    /// It works where the user stands.
    near: bool,
    open: bool,
    alive: bool,
}

/// Whoever stands in a work tree means a loop of this tree, where it has any: `rollback latest 3` must not reach
/// into another one. Loops are oldest first.
fn meant(loops: &[Candidate]) -> impl DoubleEndedIterator<Item = (usize, &Candidate)> {
    let has_near = loops.iter().any(|it| it.near);
    loops.iter().enumerate().filter(move |(_, it)| it.near || !has_near)
}

fn choose(loops: &[Candidate]) -> Option<usize> {
    let meant = || meant(loops);
    let only = |wanted: fn(&Candidate) -> bool| {
        let mut found = meant().filter(|(_, it)| wanted(it)).map(|(index, _)| index);
        found.next().filter(|_| found.next().is_none())
    };
    let latest = || meant().next_back().map(|(index, _)| index);
    only(|it| it.open).or_else(|| only(|it| it.open && it.alive)).or_else(latest)
}

fn starting(id: &str) -> Failure {
    Failure::ended(format_args!("loop {id} has no record yet"))
        .hint("It is just being started, or its start was cut off.")
}

/// Open loops first, then the newest, those where the user stands before others; of the ended ones only as many as
/// anybody reads.
pub(crate) fn in_order(mut loops: Vec<Seen>, here: Option<&Path>) -> Vec<Seen> {
    const MOST_ENDED: usize = 20;
    loops.reverse();
    loops.sort_by_key(|it| !it.is_around(here));
    let (mut open, mut ended): (Vec<_>, Vec<_>) = loops.into_iter().partition(Seen::is_open);
    ended.truncate(MOST_ENDED);
    open.sort_by_key(|it| (!it.is_around(here), !it.is_alive()));
    open.extend(ended);
    open
}

#[cfg(test)]
mod tests {
    use super::{Candidate, choose};

    #[test]
    fn without_a_name_the_loop_that_is_meant_is_chosen() {
        let check = |words: &[&str], expect: Option<usize>| {
            let candidate = |word: &&str| Candidate {
                near: word.contains("near"),
                open: !word.contains("ended"),
                alive: word.contains("active"),
            };
            let loops: Vec<_> = words.iter().map(candidate).collect();
            assert_eq!(choose(&loops), expect, "{words:?}");
        };
        check(&[], None);
        check(&["ended", "ended"], Some(1));
        check(&["active", "ended"], Some(0));
        check(&["interrupted", "ended"], Some(0));
        check(&["interrupted", "active", "ended"], Some(1));
        check(&["active", "active", "ended"], Some(2));
        check(&["interrupted", "interrupted", "ended"], Some(2));
        // A loop elsewhere is never meant by somebody who stands where there is one.
        check(&["near ended", "active"], Some(0));
        check(&["near ended", "near interrupted", "near ended", "active"], Some(1));
    }
}
