//! Finds changes of tests and similar files that outlive their loop: made by the agent of a task's last loop, and
//! neither reverted, accepted nor committed by the user since. The next loop compares with the old versions.

use std::path::Path;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::weakening::{self, WeakeningScan};
use loopkeeper_core::journal::{Entry, OutcomeKind, Record, SnapshotWhen, UnacceptedChange};
use loopkeeper_keeper::weakening_scan::find_changed_judges;
use loopkeeper_system::git;
use loopkeeper_system::snapshots::SnapshotStore;
use loopkeeper_system::state_dir::workspace::{LoopDir, Workspace};
use loopkeeper_task::TaskId;
use loopkeeper_text::tr;

use super::failure::{Failure, FailureKind};
use super::follow::LoopTailer;

/// The changes that a new loop of the task takes over. Empty if the last loop cannot be read: its damage is reported
/// elsewhere. An error of the snapshots is none of that: without them the new loop would start from weakened tests.
pub(super) fn find_unaccepted(
    workspace: &Workspace,
    task: &TaskId,
) -> Result<Vec<UnacceptedChange>, Failure> {
    let Some(last) = LastLoop::find(workspace, task) else { return Ok(Vec::new()) };
    let is_verified = |state: &LoopState| {
        state.outcome().is_some_and(|it| it.kind == OutcomeKind::Completed && it.verified)
    };
    if is_verified(&last.state) { Ok(Vec::new()) } else { last.unaccepted(workspace) }
}

struct LastLoop {
    dir: LoopDir,
    state: LoopState,
    /// The commit that was checked out at the loop's last snapshot.
    commit: Option<String>,
}

impl LastLoop {
    fn find(workspace: &Workspace, task: &TaskId) -> Option<Self> {
        let mut dirs = workspace.loops().ok()?;
        dirs.sort_by(|a, b| b.id().cmp(a.id()));
        let mut last: Option<Self> = None;
        for dir in dirs {
            // Only ids of the same day are not ordered.
            if last.as_ref().is_some_and(|it| day(&it.dir) != day(&dir)) {
                break;
            }
            if let Some(found) = Self::read(dir, task)
                && last.as_ref().is_none_or(|it| it.started_at() <= found.started_at())
            {
                last = Some(found);
            }
        }
        last
    }

    fn read(dir: LoopDir, task: &TaskId) -> Option<Self> {
        let mut tailer = LoopTailer::new(&dir.journal());
        let mut commit = None;
        tailer.poll_each(|entry| commit = head_commit(&entry).or(commit.take())).ok()?;
        let state = tailer.into_state().filter(|it| it.spec.task == *task)?;
        Some(Self { dir, state, commit })
    }

    fn started_at(&self) -> u64 {
        self.state.time.started_at.wall
    }

    fn unaccepted(&self, workspace: &Workspace) -> Result<Vec<UnacceptedChange>, Failure> {
        let Some(scan) = weakening::inspection(&self.state) else { return Ok(Vec::new()) };
        let mut store = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
        let left = match self.last_tree() {
            Some(tree) => tree.to_owned(),
            None => store.take_snapshot()?.tree,
        };
        // Snapshots of an old loop are removed one day, and with them what its changes are compared with.
        let mut compared = scan.pins.values().chain([&scan.start, &left]);
        if !compared.all(|it| store.contains_snapshot(it)) {
            return Ok(Vec::new());
        }
        let judges = find_changed_judges(&scan, &store, &left)
            .map_err(|failure| Failure::from_message(FailureKind::Broken, failure.message))?;
        if judges.is_empty() {
            return Ok(Vec::new());
        }
        let now = store.take_snapshot()?.tree;
        let mut open = Vec::new();
        for path in judges.into_iter().map(|it| it.path) {
            let is_same = |tree: &str| store.is_same_entry(&now, tree, path.as_bytes());
            if is_same(&left)? && !is_same(scan.version_of(&path))? && !self.is_committed(&path) {
                open.push(self.describe(&scan, path));
            }
        }
        Ok(open)
    }

    /// The tree that the loop left. `None` if the keeper died while the agent worked: no snapshot contains the agent's
    /// changes then, so every change since the start of the iteration counts as the agent's.
    fn last_tree(&self) -> Option<&str> {
        let LoopState { tree, weakening, iteration, .. } = &self.state;
        let last = tree.snapshots.last();
        if last.is_some_and(|it| it.when == SnapshotWhen::Before && it.iteration == *iteration) {
            return None;
        }
        Some(if weakening.last_tree.is_empty() { &tree.last } else { &weakening.last_tree })
    }

    /// The user committed the current file after the loop. Commits by the agent belong to the loop.
    fn is_committed(&self, path: &str) -> bool {
        let root = self.dir.root();
        let head = git::head(root).ok().flatten().map(|it| it.commit);
        head.is_some() && head != self.commit && git::is_unmodified(root, Path::new(path)) == Some(true)
    }

    fn describe(&self, scan: &WeakeningScan, path: String) -> UnacceptedChange {
        let inherited = self.state.spec.unaccepted.iter().find(|it| it.path == path);
        let refused = self.state.weakening.weakened.iter().find(|it| it.path == path);
        let loop_id = inherited.map_or(self.dir.id(), |it| &it.loop_id).to_owned();
        let what = match (refused, inherited) {
            (Some(refused), _) => refused.what.clone(),
            (None, Some(inherited)) => inherited.what.clone(),
            (None, None) => tr!("{path} was changed by the agent of loop {id}", path, id = loop_id),
        };
        UnacceptedChange { tree: scan.version_of(&path).to_owned(), path, loop_id, what }
    }
}

/// The day in the id of a loop.
fn day(dir: &LoopDir) -> Option<&str> {
    dir.id().split_once('-').map(|(day, _)| day)
}

fn head_commit(entry: &Entry) -> Option<String> {
    match &entry.record {
        Record::SnapshotTaken { head, .. } => head.as_ref().map(|it| it.commit.clone()),
        _ => None,
    }
}
