//! Finds changes of tests and similar files that outlive their loop: made by the agent of a task's last loop, and
//! neither reverted, accepted nor committed by the user since. The next loop compares with the old versions.

use std::collections::BTreeSet;
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
    if is_verified(&last.state) { Ok(Vec::new()) } else { last.unaccepted_changes(workspace) }
}

struct LastLoop {
    dir: LoopDir,
    state: LoopState,
    /// The commit that was checked out at the loop's last snapshot.
    commit: Option<String>,
    interrupted: InterruptedIteration,
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
        let (mut commit, mut interrupted) = (None, InterruptedIteration::default());
        let take = |entry: Entry| {
            commit = head_commit(&entry).or(commit.take());
            interrupted = interrupted.after(&entry.record);
        };
        tailer.poll_each(take).ok()?;
        let state = tailer.into_state().filter(|it| it.spec.task == *task)?;
        Some(Self { dir, state, commit, interrupted })
    }

    fn started_at(&self) -> u64 {
        self.state.time.started_at.wall
    }

    fn unaccepted_changes(&self, workspace: &Workspace) -> Result<Vec<UnacceptedChange>, Failure> {
        let Some(scan) = weakening::inspection(&self.state) else { return Ok(Vec::new()) };
        let mut store = SnapshotStore::open(&workspace.snapshots(), workspace.root())?;
        let scan = self.with_trees_left(scan, &mut store)?;
        let left = trees_left(&scan);
        // Snapshots of an old loop are removed one day, and with them what its changes are compared with.
        let mut compared = scan.pins.values().map(String::as_str).chain([scan.start.as_str()]).chain(left);
        if !compared.all(|it| store.contains_snapshot(it)) {
            return Ok(Vec::new());
        }
        let judges = changed_judges(&scan, &store)?;
        if judges.is_empty() {
            return Ok(Vec::new());
        }
        let now = store.take_snapshot()?.tree;
        let mut open = Vec::new();
        for path in judges {
            let is_same = |tree: &str| store.is_same_entry(&now, tree, path.as_bytes());
            let is_left = is_same(scan.last_version_of(&path))?;
            if is_left && !is_same(scan.version_of(&path))? && !self.is_committed(&path) {
                open.push(self.describe(&scan, path));
            }
        }
        Ok(open)
    }

    /// With the trees that the loop left, of all files and of those that were rolled back by themselves. If the keeper
    /// died while the agent worked, no snapshot contains the agent's changes: every change since the start of the
    /// iteration counts as the agent's then.
    fn with_trees_left(
        &self,
        scan: WeakeningScan,
        store: &mut SnapshotStore,
    ) -> Result<WeakeningScan, Failure> {
        if self.interrupted.0 == Some(self.state.iteration) {
            let last_tree = store.take_snapshot()?.tree;
            return Ok(WeakeningScan { last_tree, partial_rollbacks: Vec::new(), ..scan });
        }
        if scan.last_tree.is_empty() {
            return Ok(WeakeningScan { last_tree: self.state.tree.last.clone(), ..scan });
        }
        Ok(scan)
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

/// The iteration whose agent has changed files of which there is no snapshot: neither one after it, nor one before it
/// that a rollback restored completely. A rollback of some paths leaves the others.
#[derive(Clone, Copy, Default)]
struct InterruptedIteration(Option<u32>);

impl InterruptedIteration {
    fn after(self, record: &Record) -> Self {
        match record {
            Record::SnapshotTaken { when: SnapshotWhen::Before, iteration, .. } => Self(Some(*iteration)),
            Record::SnapshotTaken { when: SnapshotWhen::After, .. } => Self(None),
            Record::RolledBack { paths, .. } if paths.is_empty() => Self(None),
            _ => self,
        }
    }
}

/// The trees that hold the files as the loop left them.
fn trees_left(scan: &WeakeningScan) -> BTreeSet<&str> {
    let rolled_back = scan.partial_rollbacks.iter().map(|it| it.tree.as_str());
    rolled_back.chain([scan.last_tree.as_str()]).collect()
}

/// Judges that the loop left different from their version that counts.
fn changed_judges(scan: &WeakeningScan, store: &SnapshotStore) -> Result<BTreeSet<String>, Failure> {
    let mut changed = BTreeSet::new();
    for tree in trees_left(scan) {
        let judges = find_changed_judges(scan, store, tree)
            .map_err(|failure| Failure::from_message(FailureKind::Broken, failure.message))?;
        changed.extend(judges.into_iter().map(|it| it.path).filter(|it| scan.last_version_of(it) == tree));
    }
    Ok(changed)
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use loopkeeper_core::journal::Record;
    use loopkeeper_system::clock;
    use loopkeeper_system::journal_file::{self, JournalFile};
    use loopkeeper_system::snapshots::SnapshotStore;
    use loopkeeper_system::state_dir::StateDir;
    use loopkeeper_system::state_dir::workspace::Workspace;
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::find_unaccepted;

    const JOURNAL: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/journals/a-plan-one-box-at-a-time.jsonl");

    /// A work tree with snapshots, and the journal of a loop in it.
    struct RecordedLoop {
        _folder: TempDir,
        workspace: Workspace,
        snapshots: SnapshotStore,
        journal: JournalFile,
    }

    impl RecordedLoop {
        fn start(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap().join("work");
            fs::create_dir_all(root.join("tests")).unwrap();
            let store = StateDir::at(&folder.path().join("state")).unwrap();
            let workspace = store.workspace(&root).unwrap();
            let dir = workspace.new_loop(&store, clock::now()).unwrap();
            let snapshots = SnapshotStore::open(&workspace.snapshots(), &root).unwrap();
            let mut journal = JournalFile::create(&dir.journal()).unwrap();
            let started = journal_file::read(&PathBuf::from(JOURNAL)).unwrap().entries.remove(0);
            journal.append(clock::now(), vec![started.record]).unwrap();
            let mut recorded = Self { _folder: folder, workspace, snapshots, journal };
            recorded.write(files);
            recorded.record_snapshot(0, "after");
            recorded
        }

        fn write(&self, files: &[(&str, &str)]) {
            for (path, text) in files {
                fs::write(self.workspace.root().join(path), text).unwrap();
            }
        }

        fn record(&mut self, kind: &str, fields: &Value) {
            let record: Record = serde_json::from_value(json!({kind: fields})).unwrap();
            self.journal.append(clock::now(), vec![record]).unwrap();
        }

        fn record_snapshot(&mut self, iteration: u32, when: &str) -> String {
            let tree = self.snapshots.take_snapshot().unwrap().tree;
            self.record("snapshot-taken", &json!({"iteration": iteration, "when": when, "tree": tree}));
            tree
        }

        /// The snapshot before the agent's work, and the work itself.
        fn begin(&mut self, iteration: u32, files: &[(&str, &str)]) {
            let tree = self.record_snapshot(iteration, "before");
            let intent = json!({"iteration": iteration, "session": "s", "prompt": "p", "tree": tree,
                "callsThisHour": 1});
            self.record("iteration-intended", &intent);
            self.write(files);
        }

        fn iterate(&mut self, iteration: u32, files: &[(&str, &str)]) -> String {
            self.begin(iteration, files);
            let tree = self.record_snapshot(iteration, "after");
            let round = json!({"treeBefore": tree, "treeAfter": tree, "results": []});
            self.record("checks-done", &json!({"iteration": iteration, "round": round}));
            tree
        }

        fn roll_back(&mut self, to: u32, tree: &str, paths: &[&str]) {
            let selected: Vec<String> = paths.iter().map(|&it| it.to_owned()).collect();
            self.record_snapshot(to, "before-rollback");
            let selected_or_all = (!selected.is_empty()).then_some(selected.as_slice());
            let restored = self.snapshots.restore(tree, selected_or_all).unwrap();
            let rollback = json!({"to": to, "tree": tree, "from": restored.before, "paths": paths,
                "after": restored.after});
            self.record("rolled-back", &rollback);
        }

        fn unaccepted(&self) -> Vec<String> {
            let task = loopkeeper_task::TaskId("PROMPT.md".to_owned());
            find_unaccepted(&self.workspace, &task).unwrap().into_iter().map(|it| it.path).collect()
        }
    }

    const TEST: &str = "tests/test_a.py";
    const START: &[(&str, &str)] = &[(TEST, "assert add(1, 2) == 3\n"), ("a.py", "one\n")];

    /// The trees of the start and of two iterations; each changes the test.
    fn two_iterations() -> (RecordedLoop, [String; 3]) {
        let mut recorded = RecordedLoop::start(START);
        let start = recorded.snapshots.take_snapshot().unwrap().tree;
        let first = recorded.iterate(1, &[(TEST, "assert add(1, 2)\n"), ("a.py", "two\n")]);
        let second = recorded.iterate(2, &[(TEST, "pass\n"), ("a.py", "three\n")]);
        (recorded, [start, first, second])
    }

    #[test]
    fn a_change_that_a_rollback_leaves_stays_unaccepted() {
        let check = |edited: &[(&str, &str)], to: usize, paths: &[&str], expect: &[&str]| {
            let (mut recorded, trees) = two_iterations();
            recorded.write(edited);
            recorded.roll_back(u32::try_from(to).unwrap(), &trees[to], paths);
            assert_eq!(recorded.unaccepted(), expect, "{edited:?} {to} {paths:?}");
        };
        for edited in [&[][..], &[("b.py", "an edit of the user\n")]] {
            check(edited, 0, &[], &[]);
            check(edited, 0, &[TEST], &[]);
            check(edited, 0, &["tests"], &[]);
            check(edited, 0, &["a.py"], &[TEST]);
            check(edited, 1, &[], &[TEST]);
            check(edited, 1, &[TEST], &[TEST]);
            check(edited, 1, &["tests/"], &[TEST]);
        }
        check(&[(TEST, "assert add(1, 2) > 0\n")], 0, &["a.py"], &[]);
    }

    #[test]
    fn a_rollback_to_a_change_that_was_reverted_since_is_unaccepted() {
        let (mut recorded, [_, first, _]) = two_iterations();
        recorded.iterate(3, START);
        assert_eq!(recorded.unaccepted(), <[&str; 0]>::default());
        recorded.write(&[("b.py", "an edit of the user\n")]);
        recorded.roll_back(1, &first, &[TEST]);
        assert_eq!(recorded.unaccepted(), [TEST]);
    }

    #[test]
    fn changes_of_an_interrupted_iteration_outlive_a_rollback_of_other_paths() {
        let check = |paths: &[&str], expect: &[&str]| {
            let mut recorded = RecordedLoop::start(START);
            let start = recorded.snapshots.take_snapshot().unwrap().tree;
            recorded.begin(1, &[(TEST, "pass\n"), ("a.py", "two\n")]);
            recorded.roll_back(0, &start, paths);
            assert_eq!(recorded.unaccepted(), expect, "{paths:?}");
        };
        check(&["a.py"], &[TEST]);
        check(&[TEST], &[]);
        check(&[], &[]);
    }

    #[test]
    fn an_edit_after_an_interrupted_iteration_was_rolled_back_is_of_the_user() {
        let mut recorded = RecordedLoop::start(START);
        let start = recorded.snapshots.take_snapshot().unwrap().tree;
        recorded.begin(1, &[(TEST, "pass\n")]);
        recorded.roll_back(0, &start, &[]);
        recorded.write(&[(TEST, "assert add(1, 2) > 0\n")]);
        assert_eq!(recorded.unaccepted(), <[&str; 0]>::default());
    }
}
