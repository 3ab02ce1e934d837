//! Merges the latest results of a task's criteria: of its loop or of stand-alone checks, whichever is newer. Read-only.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use loopkeeper_core::check::CheckResult;
use loopkeeper_core::journal::{PinnedCriterion, Record};
use loopkeeper_task::criterion::{Check, CriterionId};
use loopkeeper_view as view;

use super::snapshot::{LoopSnapshot, StoredResult};
use loopkeeper_system::journal_file::follow::{Follower, UpdateBase};

/// Results of rounds of checks without a loop.
pub(super) struct StandaloneChecks {
    follower: Follower,
    path: PathBuf,
    found: BTreeMap<CriterionId, ResultCandidate>,
    /// The tree after the last round.
    tree: String,
    /// Wall time of the last round, in milliseconds.
    at: u64,
    /// Changes whenever any of these results changes.
    version: u64,
}

struct ResultCandidate {
    at: u64,
    tree: String,
    result: CheckResult,
}

/// The latest of both, and the tree they belong to.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MergedResults {
    pub(super) results: BTreeMap<CriterionId, StoredResult>,
    pub(super) tree: String,
}

impl StandaloneChecks {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            follower: Follower::new(path),
            path: path.to_owned(),
            found: BTreeMap::new(),
            tree: String::new(),
            at: 0,
            version: 0,
        }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn reload(&mut self) {
        // No file: nothing was checked yet, or the results were deleted.
        let Ok(update) = self.follower.poll() else {
            if !self.found.is_empty() && !self.path.exists() {
                *self = Self { version: self.version + 1, ..Self::new(&self.path) };
            }
            return;
        };
        if update.since == UpdateBase::Start {
            self.found.clear();
        }
        self.version += u64::from(!update.entries.is_empty());
        for entry in update.entries {
            let Record::ChecksDone { round, .. } = entry.record else { continue };
            (self.at, self.tree) = (entry.at.wall, round.tree_after.clone());
            for result in round.results {
                let found = ResultCandidate { at: self.at, tree: round.tree_after.clone(), result };
                self.found.insert(found.result.criterion.clone(), found);
            }
        }
    }

    fn output(&self, id: &CriterionId) -> Option<String> {
        path_if_exists(&self.path.with_extension("outputs").join(format!("0000.{}.out", id.0)))
    }
}

/// The newer result of each criterion wins; while a loop runs, only its results count.
pub(super) fn merge_latest(
    alone: Option<&StandaloneChecks>,
    of_loop: Option<&LoopSnapshot>,
) -> MergedResults {
    let mut latest = MergedResults::default();
    let mut at = 0;
    if let Some(loop_view) = of_loop {
        let state = &loop_view.state;
        at = state.history.last().map_or(state.time.started_at.wall, |it| it.ended_at.wall);
        latest.tree.clone_from(&state.tree.judged);
        let with_output = criteria_with_output(&state.criteria.pinned);
        for (id, result) in &state.criteria.results {
            let output = with_output.contains(id).then(|| output_of_loop(loop_view, id)).flatten();
            let tree = state.tree.judged.clone();
            let held = StoredResult { result: result.clone(), output, tree, stale: false };
            latest.results.insert(id.clone(), held);
        }
        if state.outcome().is_none() && loop_view.status.keeper.alive {
            return latest;
        }
    }
    let Some(alone) = alone else { return latest };
    for (id, found) in &alone.found {
        if found.at > at || !latest.results.contains_key(id) {
            let (tree, output) = (found.tree.clone(), alone.output(id));
            let held = StoredResult { result: found.result.clone(), output, tree, stale: false };
            latest.results.insert(id.clone(), held);
        }
    }
    if alone.at > at {
        latest.tree.clone_from(&alone.tree);
    }
    latest
}

/// The criteria whose checks leave an output. A search for the output of another would read many files in vain.
fn criteria_with_output(pinned: &[PinnedCriterion]) -> HashSet<&CriterionId> {
    let leaves_output = |check: &Check| match check {
        Check::Command { .. } | Check::Get { .. } | Check::Judge { .. } => true,
        Check::Exists { .. }
        | Check::Missing { .. }
        | Check::Has { .. }
        | Check::Lacks { .. }
        | Check::Clean => false,
    };
    let pinned = pinned.iter().filter(|it| it.criterion.check.as_ref().is_some_and(leaves_output));
    pinned.map(|it| &it.criterion.id).collect()
}

/// Output of the last iteration whose checks left one.
fn output_of_loop(loop_view: &LoopSnapshot, id: &CriterionId) -> Option<String> {
    let folder = loop_view.dir.output();
    (0..=loop_view.state.iteration)
        .rev()
        .take(50)
        .find_map(|number| path_if_exists(&folder.join(format!("{number:04}.{}.out", id.0))))
}

fn path_if_exists(path: &Path) -> Option<String> {
    path.is_file().then(|| view::file_uri(&path.to_string_lossy()))
}
