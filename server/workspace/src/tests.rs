//! Tests of the index itself: failed updates, changed folders. Its contents are tested over the server's pipes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;

use super::{IndexScope, Invalidation, OpenState, OpenText, TextProvider, WorkspaceIndex, WorkspaceSnapshot};
use loopkeeper_system::state_dir::StateDir;

/// A `TextProvider` that panics while its flag is set.
#[derive(Default)]
struct PanickingTexts(AtomicBool);

impl TextProvider for PanickingTexts {
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

fn work_tree(name: &str) -> TempDir {
    let work_tree = tempfile::tempdir().unwrap();
    std::fs::create_dir(work_tree.path().join(".git")).unwrap();
    std::fs::write(work_tree.path().join(name), "# Task\n").unwrap();
    work_tree
}

async fn wait_until(
    index: &WorkspaceIndex,
    is_so: impl FnMut(&Arc<WorkspaceSnapshot>) -> bool,
) -> Arc<WorkspaceSnapshot> {
    let mut snapshots = index.subscribe_snapshots();
    let found = timeout(Duration::from_secs(60), snapshots.wait_for(is_so)).await;
    found.expect("in time").expect("still looking").clone()
}

#[tokio::test]
async fn a_scan_that_panics_is_reported_and_the_next_one_works() {
    let (state, folder) = (tempfile::tempdir().unwrap(), work_tree("PROMPT.md"));
    let texts = Arc::new(PanickingTexts::default());
    let index = WorkspaceIndex::start(scope(&state, folder.path(), texts.clone()));
    wait_until(&index, |it| it.tasks.len() == 1).await;
    texts.0.store(true, Ordering::SeqCst);
    index.invalidate(Invalidation::ALL);
    let snapshot = wait_until(&index, |it| it.problem.is_some()).await;
    assert!(format!("{:?}", snapshot.problem).contains("a bug"), "{:?}", snapshot.problem);
    texts.0.store(false, Ordering::SeqCst);
    index.invalidate(Invalidation::ALL);
    wait_until(&index, |it| it.problem.is_none() && it.tasks.len() == 1).await;
}

#[tokio::test]
async fn other_folders_bring_their_own_tasks() {
    let (state, one, other) = (tempfile::tempdir().unwrap(), work_tree("PROMPT.md"), work_tree("RALPH.md"));
    let index = WorkspaceIndex::start(scope(&state, one.path(), Arc::new(PanickingTexts::default())));
    wait_until(&index, |it| it.tasks.iter().any(|task| task.id.0 == "PROMPT.md")).await;
    index.set_folders(vec![other.path().to_owned()]);
    wait_until(&index, |it| it.tasks.len() == 1 && it.tasks[0].id.0 == "RALPH.md").await;
}

fn title_of(snapshot: &WorkspaceSnapshot, id: &str) -> Option<String> {
    snapshot.tasks.iter().find(|it| it.id.0 == id).map(|it| it.title.clone())
}

#[tokio::test]
async fn a_task_that_only_the_configuration_names_is_read_again() {
    let (state, folder) = (tempfile::tempdir().unwrap(), work_tree("PROMPT.md"));
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("loopkeeper.toml", "[tasks]\nfiles = [\"notes/shop.md\", \"late/later.md\"]\n");
    write("notes/shop.md", "# Shop\n");
    let index = WorkspaceIndex::start(scope(&state, folder.path(), Arc::new(PanickingTexts::default())));
    wait_until(&index, |it| title_of(it, "notes/shop.md").as_deref() == Some("Shop")).await;
    write("notes/shop.md", "# Market\n");
    wait_until(&index, |it| title_of(it, "notes/shop.md").as_deref() == Some("Market")).await;
    write("late/later.md", "# Later\n");
    wait_until(&index, |it| title_of(it, "late/later.md").is_some()).await;
}

#[tokio::test]
async fn a_second_lock_file_is_named_when_it_appears_and_no_longer_when_it_is_removed() {
    let (state, folder) = (tempfile::tempdir().unwrap(), work_tree("PROMPT.md"));
    std::fs::write(folder.path().join("yarn.lock"), "").unwrap();
    let index = WorkspaceIndex::start(scope(&state, folder.path(), Arc::new(PanickingTexts::default())));
    let found = |it: &WorkspaceSnapshot| -> Vec<String> {
        it.tasks.iter().flat_map(|it| it.leftovers.iter().flat_map(|it| it.added.clone())).collect()
    };
    wait_until(&index, |it| it.tasks.len() == 1 && found(it).is_empty()).await;
    std::fs::write(folder.path().join("pnpm-lock.yaml"), "").unwrap();
    wait_until(&index, |it| found(it) == ["yarn.lock", "pnpm-lock.yaml"]).await;
    std::fs::remove_file(folder.path().join("yarn.lock")).unwrap();
    wait_until(&index, |it| found(it).is_empty()).await;
}

#[tokio::test]
async fn a_plan_in_a_folder_that_another_tool_names_is_found_and_read_again() {
    let (state, folder) = (tempfile::tempdir().unwrap(), work_tree("notes.md"));
    let plan = |title: &str| format!("# {title}\n\n### Task 1: Add\n\n- [ ] add\n");
    for name in [".ralphex", "specs/next"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("specs/next/shop.md"), plan("Shop")).unwrap();
    std::fs::write(folder.path().join(".ralphex/config"), "plans_dir = specs/next\n").unwrap();
    let index = WorkspaceIndex::start(scope(&state, folder.path(), Arc::new(PanickingTexts::default())));
    wait_until(&index, |it| title_of(it, "specs/next/shop.md").as_deref() == Some("Shop")).await;
    std::fs::write(folder.path().join("specs/next/shop.md"), plan("Market")).unwrap();
    wait_until(&index, |it| title_of(it, "specs/next/shop.md").as_deref() == Some("Market")).await;
    std::fs::write(folder.path().join("specs/next/later.md"), plan("Later")).unwrap();
    wait_until(&index, |it| title_of(it, "specs/next/later.md").is_some()).await;
    std::fs::write(folder.path().join(".ralphex/config"), "plans_dir = specs\n").unwrap();
    wait_until(&index, |it| it.tasks.is_empty()).await;
}
