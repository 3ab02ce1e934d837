//! Follows the loops of some roots, each through its journal. Read-only; drops loops that are neither open nor among
//! the last that ended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_view::{self as view, DisplayState, StatusFacts};

use super::snapshot::LoopSnapshot;
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_operations::abandoned;
use loopkeeper_operations::follow::LoopTailer;
use loopkeeper_system::clock;
use loopkeeper_system::journal_file::JournalError;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Number of ended loops that are still shown.
const MAX_ENDED: usize = 20;

#[derive(Default)]
pub(super) struct LoopIndex {
    followed: BTreeMap<String, FollowedLoop>,
    /// Ended too long ago to be shown: not read again.
    passed_over: BTreeSet<String>,
    roots: Vec<PathBuf>,
}

struct FollowedLoop {
    folder: PathBuf,
    tailer: LoopTailer,
    loop_view: Option<Arc<LoopSnapshot>>,
}

impl LoopIndex {
    /// Reads the loops of `roots`; returns messages about those that could not be read.
    pub(super) fn refresh(&mut self, store: &StateDir, roots: &[PathBuf]) -> Vec<String> {
        if self.roots != roots {
            *self = Self { roots: roots.to_vec(), ..Self::default() };
        }
        let mut problems = Vec::new();
        let mut dirs: Vec<LoopDir> = Vec::new();
        for workspace in roots.iter().filter_map(|it| store.known_workspace(it)) {
            match workspace.loops() {
                Ok(loops) => dirs.extend(loops),
                Err(error) => problems.push(error.to_string()),
            }
        }
        let ids: BTreeSet<&str> = dirs.iter().map(LoopDir::id).collect();
        self.followed.retain(|id, _| ids.contains(id.as_str()));
        self.passed_over.retain(|id| ids.contains(id.as_str()));
        for dir in dirs.into_iter().filter(|it| !self.passed_over.contains(it.id())) {
            let new = || FollowedLoop {
                folder: dir.path().to_owned(),
                tailer: LoopTailer::from_saved_state(&dir.journal()),
                loop_view: None,
            };
            let followed = self.followed.entry(dir.id().to_owned()).or_insert_with(new);
            if let Err(problem) = followed.read_updates(store, &dir) {
                problems.push(problem);
            }
        }
        self.drop_old_loops();
        problems
    }

    /// Order: needs the user, working, paused, then the last that ended.
    pub(super) fn in_order(&self) -> Vec<Arc<LoopSnapshot>> {
        let mut loops: Vec<Arc<LoopSnapshot>> =
            self.followed.values().filter_map(|it| it.loop_view.clone()).collect();
        let rank = |it: &LoopSnapshot| match it.status.state {
            DisplayState::NeedsYou => 0,
            DisplayState::Working => 1,
            DisplayState::Paused => 2,
            DisplayState::Done | DisplayState::Idle => 3,
        };
        loops.sort_by_key(|it| (rank(it), std::cmp::Reverse(it.state.time.started_at.wall)));
        loops
    }

    /// The folders in which something may still be written, including loops without a record.
    pub(super) fn open_folders(&self) -> impl Iterator<Item = &Path> {
        let is_open =
            |it: &&FollowedLoop| it.loop_view.as_ref().is_none_or(|it| it.state.outcome().is_none());
        self.followed.values().filter(is_open).map(|it| it.folder.as_path())
    }

    fn drop_old_loops(&mut self) {
        let ended = |it: &&Arc<LoopSnapshot>| it.state.outcome().is_some();
        let loops = self.in_order();
        for old in loops.iter().filter(ended).skip(MAX_ENDED) {
            self.followed.remove(&old.status.id);
            self.passed_over.insert(old.status.id.clone());
        }
    }
}

impl FollowedLoop {
    fn read_updates(&mut self, store: &StateDir, dir: &LoopDir) -> Result<(), String> {
        // An ended loop does not change, except for a rollback, which is recorded.
        let ended = self.loop_view.as_ref().is_some_and(|it| it.state.outcome().is_some());
        // The keeper first: if it ends in between, the journal records that.
        let keeper = if ended {
            KeeperLiveness::Gone
        } else {
            store.keeper_of(dir).map_err(|error| error.to_string())?
        };
        let has_news = match self.tailer.advance() {
            // It is just being started: its folder exists before its first record.
            Err(JournalError::Gone { .. }) if self.loop_view.is_none() => return Ok(()),
            other => other.map_err(|error| error.to_string())?,
        };
        let damage = self.tailer.damage().map(|it| it.fact().to_owned());
        let Some(state) = self.tailer.shared_state() else {
            return damage.map_or(Ok(()), |damage| Err(format!("loop {}: {damage}", dir.id())));
        };
        let same = |it: &Arc<LoopSnapshot>| {
            let known = (it.status.keeper.alive, it.status.keeper.stopped);
            !has_news && it.damage == damage && known == (keeper.is_alive(), keeper.is_stopped())
        };
        if self.loop_view.as_ref().is_some_and(same) {
            return Ok(());
        }
        if !keeper.is_alive() {
            abandoned::clean_up(store, dir, state.outcome().is_some());
        }
        let (now, damaged) = (clock::now(), damage.is_some());
        let facts = StatusFacts { now, keeper, damaged, activity: None };
        let status = view::status(&state, &facts);
        self.loop_view = Some(Arc::new(LoopSnapshot { dir: dir.clone(), state, status, damage }));
        Ok(())
    }
}
