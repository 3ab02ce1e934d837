//! Which loops there are, which one is meant, and how each stands.

use std::path::Path;

use loopkeeper_core::decide::Loop;
use loopkeeper_core::view::{self, Facts, LoopStatus};

use super::failure::Failure;
use super::follow::Following;
use crate::adapters::clock;
use crate::adapters::state_dir::StateDir;
use crate::adapters::state_dir::lock::Keeper;
use crate::adapters::state_dir::workspace::LoopDir;

/// A loop as its journal and its lock show it.
pub(crate) struct Seen {
    pub(crate) dir: LoopDir,
    pub(crate) state: Loop,
    pub(crate) keeper: Keeper,
    pub(crate) damaged: bool,
}

impl Seen {
    /// Reads one loop. `None` while its first record is not there: it is just being started.
    pub(crate) fn read(store: &StateDir, dir: LoopDir) -> Result<Option<Self>, Failure> {
        // The keeper first: one that ends in between leaves a journal that says so.
        let keeper = store.keeper_of(&dir)?;
        let mut following = Following::new(&dir.journal());
        following.look()?;
        let damaged = following.is_damaged();
        Ok(following.state().cloned().map(|state| Self { dir, state, keeper, damaged }))
    }

    pub(crate) fn status(&self) -> LoopStatus {
        let keeper = match self.keeper {
            Keeper::Alive { pid } => Some(pid),
            Keeper::Gone => None,
        };
        let facts = Facts { now: clock::now(), keeper, damaged: self.damaged, activity: None };
        view::status(&self.state, &facts)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.keeper != Keeper::Gone
    }

    /// Active or interrupted: somebody may still want something of it.
    pub(crate) fn is_open(&self) -> bool {
        self.state.outcome.is_none()
    }
}

/// Every loop that can be read, oldest first.
pub(crate) fn all(store: &StateDir) -> Result<Vec<Seen>, Failure> {
    // One loop that cannot be read must not hide the others.
    Ok(store.loops()?.into_iter().filter_map(|dir| Seen::read(store, dir).ok().flatten()).collect())
}

/// The loop that `query` names; without one, the only active or interrupted loop, else the latest.
pub(crate) fn find(store: &StateDir, query: Option<&str>) -> Result<Seen, Failure> {
    if let Some(query) = query {
        let dir = store.find(query)?;
        let id = dir.id().to_owned();
        return Seen::read(store, dir)?.ok_or_else(|| starting(&id));
    }
    let here = std::env::current_dir().and_then(|it| it.canonicalize()).ok();
    let loops = all(store)?;
    choose(loops, here.as_deref())
        .ok_or_else(|| Failure::usage("there is no loop yet").hint("`loopkeeper run` starts one."))
}

/// Whoever stands in a work tree means a loop of this tree, where it has any.
fn choose(loops: Vec<Seen>, here: Option<&Path>) -> Option<Seen> {
    let near = |it: &Seen| here.is_some_and(|here| here.starts_with(it.dir.root()));
    let (near, far): (Vec<_>, Vec<_>) = loops.into_iter().partition(near);
    let mut loops = if near.is_empty() { far } else { near };
    let only = |wanted: fn(&Seen) -> bool| {
        let mut found = loops.iter().enumerate().filter(|(_, it)| wanted(it)).map(|(index, _)| index);
        found.next().filter(|_| found.next().is_none())
    };
    match only(Seen::is_open).or_else(|| only(|it| it.is_open() && it.is_alive())) {
        Some(index) => Some(loops.swap_remove(index)),
        None => loops.pop(),
    }
}

fn starting(id: &str) -> Failure {
    Failure::ended(format_args!("loop {id} has no record yet"))
        .hint("It is just being started, or its start was cut off.")
}

/// Open loops first, then the newest; of the ended ones only as many as anybody reads.
pub(crate) fn in_order(mut loops: Vec<Seen>) -> Vec<Seen> {
    const MOST_ENDED: usize = 20;
    loops.reverse();
    let (mut open, mut ended): (Vec<_>, Vec<_>) = loops.into_iter().partition(Seen::is_open);
    ended.truncate(MOST_ENDED);
    open.sort_by_key(|it| !it.is_alive());
    open.extend(ended);
    open
}
