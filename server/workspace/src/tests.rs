//! The index itself: failed updates, changed folders. Its contents are tested over the server's pipes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;

use super::{IndexScope, Invalidation, OpenState, OpenText, TextProvider, WorkspaceIndex, WorkspaceSnapshot};
use loopkeeper_system::state_dir::StateDir;

/// A `TextProvider` that panics.
#[derive(Default)]
struct Broken(AtomicBool);

impl TextProvider for Broken {
    fn open(&self) -> Vec<OpenText> {
        assert!(!self.0.load(Ordering::SeqCst), "a bug");
        Vec::new()
    }
}

fn scope(state: &TempDir, folder: &Path, texts: Arc<dyn TextProvider>) -> IndexScope {
    let path = state.path().join("state");
    let state: OpenState = Arc::new(move || StateDir::at(&path));
    IndexScope { state, folders: vec![folder.to_owned()], trusted: true, texts }
}

fn work(name: &str) -> TempDir {
    let work = tempfile::tempdir().unwrap();
    std::fs::create_dir(work.path().join(".git")).unwrap();
    std::fs::write(work.path().join(name), "# Task\n").unwrap();
    work
}

async fn until(
    index: &WorkspaceIndex,
    is_so: impl FnMut(&Arc<WorkspaceSnapshot>) -> bool,
) -> Arc<WorkspaceSnapshot> {
    let mut snapshots = index.subscribe_snapshots();
    let found = timeout(Duration::from_secs(60), snapshots.wait_for(is_so)).await;
    found.expect("in time").expect("still looking").clone()
}

#[tokio::test]
async fn a_scan_that_panics_is_reported_and_the_next_one_works() {
    let (state, folder) = (tempfile::tempdir().unwrap(), work("PROMPT.md"));
    let texts = Arc::new(Broken::default());
    let index = WorkspaceIndex::start(scope(&state, folder.path(), texts.clone()));
    until(&index, |it| it.tasks.len() == 1).await;
    texts.0.store(true, Ordering::SeqCst);
    index.invalidate(Invalidation::ALL);
    let snapshot = until(&index, |it| it.trouble.is_some()).await;
    assert!(format!("{:?}", snapshot.trouble).contains("a bug"), "{:?}", snapshot.trouble);
    texts.0.store(false, Ordering::SeqCst);
    index.invalidate(Invalidation::ALL);
    until(&index, |it| it.trouble.is_none() && it.tasks.len() == 1).await;
}

#[tokio::test]
async fn other_folders_bring_their_own_tasks() {
    let (state, one, other) = (tempfile::tempdir().unwrap(), work("PROMPT.md"), work("RALPH.md"));
    let index = WorkspaceIndex::start(scope(&state, one.path(), Arc::new(Broken::default())));
    until(&index, |it| it.tasks.iter().any(|task| task.id.0 == "PROMPT.md")).await;
    index.set_folders(vec![other.path().to_owned()]);
    until(&index, |it| it.tasks.len() == 1 && it.tasks[0].id.0 == "RALPH.md").await;
}
