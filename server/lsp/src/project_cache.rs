//! Caches the project facts for completion: the commands of its manifests and the names of its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loopkeeper_operations::project_checks::{self, FoundCheck};
use loopkeeper_system::project_files;
use loopkeeper_view::editor::{DeclaredCommand, ProjectFacts};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Facts of this age are read again.
const MAX_AGE: Duration = Duration::from_secs(1);
/// How long a request waits while older facts can answer it.
const REFRESH_TIMEOUT: Duration = Duration::from_millis(25);
/// How long the first request waits for a large project.
const FIRST_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_FILES: usize = 20_000;
/// Tasks in other folders have other commands.
const MAX_FOLDERS: usize = 16;

/// Root and folder of a task.
type FactsKey = (PathBuf, PathBuf);

#[derive(Clone, Default)]
pub(crate) struct ProjectCache(Arc<Mutex<BTreeMap<FactsKey, CachedFacts>>>);

#[derive(Default)]
struct CachedFacts {
    /// `None` until they were read for the first time.
    known: Option<(Instant, Arc<FolderFacts>)>,
    /// The requests that await the read under way; `None`: there is none.
    awaiting: Option<Vec<oneshot::Sender<Arc<FolderFacts>>>>,
    last_used: Option<Instant>,
}

/// The facts for tasks in one folder.
#[derive(Debug, Default)]
pub(crate) struct FolderFacts {
    commands: Vec<DeclaredCommand>,
    files: Vec<String>,
}

impl FolderFacts {
    fn read(root: &Path, folder: &Path) -> Self {
        let commands = declared_commands(&project_checks::offered_checks(root, folder));
        Self { commands, files: project_files::list_files(root, MAX_FILES) }
    }

    pub(crate) fn facts(&self) -> ProjectFacts<'_> {
        ProjectFacts { commands: &self.commands, files: &self.files }
    }
}

/// The commands as views show them.
pub(crate) fn declared_commands(checks: &[FoundCheck]) -> Vec<DeclaredCommand> {
    let declared = |it: &FoundCheck| DeclaredCommand {
        criterion: it.criterion(),
        command: it.command.clone(),
        file: it.file.clone(),
    };
    checks.iter().map(declared).collect()
}

impl ProjectCache {
    /// The facts for a task document. If reading takes long, they are those that were known before.
    pub(crate) async fn read(&self, root: &Path, document: &Path) -> Arc<FolderFacts> {
        let key = (root.to_owned(), document.parent().unwrap_or(root).to_owned());
        let (known, wait, result) = {
            let mut all = self.lock();
            make_room(&mut all, &key);
            let cached = all.entry(key.clone()).or_default();
            cached.last_used = Some(Instant::now());
            let known = cached.known.clone();
            match &known {
                Some((read, facts)) if read.elapsed() < MAX_AGE => return Arc::clone(facts),
                Some((_, facts)) if cached.awaiting.is_some() => return Arc::clone(facts),
                Some(_) | None => {}
            }
            let (sender, result) = oneshot::channel();
            if let Some(awaiting) = &mut cached.awaiting {
                awaiting.push(sender);
            } else {
                cached.awaiting = Some(vec![sender]);
                self.refresh(key);
            }
            let wait = if known.is_some() { REFRESH_TIMEOUT } else { FIRST_TIMEOUT };
            (known.map(|it| it.1).unwrap_or_default(), wait, result)
        };
        match timeout(wait, result).await {
            Ok(Ok(facts)) => facts,
            Ok(Err(_)) | Err(_) => known,
        }
    }

    /// Reads the facts on a blocking thread, whether or not the result is still awaited.
    fn refresh(&self, key: FactsKey) {
        let cache = self.clone();
        tokio::spawn(async move {
            let (root, folder) = key.clone();
            let read = spawn_blocking(move || Arc::new(FolderFacts::read(&root, &folder))).await;
            let mut all = cache.lock();
            let cached = all.entry(key).or_default();
            let awaiting = cached.awaiting.take().unwrap_or_default();
            // After a panic the next request reads them again.
            let Ok(facts) = read else { return };
            cached.known = Some((Instant::now(), Arc::clone(&facts)));
            for it in awaiting {
                // A request that timed out was answered with older facts.
                let _ = it.send(Arc::clone(&facts));
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<FactsKey, CachedFacts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the facts that were not used for the longest time, unless they are being read.
fn make_room(all: &mut BTreeMap<FactsKey, CachedFacts>, key: &FactsKey) {
    if all.len() < MAX_FOLDERS || all.contains_key(key) {
        return;
    }
    let idle = all.iter().filter(|(_, it)| it.awaiting.is_none());
    if let Some(oldest) = idle.min_by_key(|(_, it)| it.last_used).map(|(key, _)| key.clone()) {
        all.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use loopkeeper_view::editor::in_check;

    use super::{MAX_FOLDERS, ProjectCache};

    #[tokio::test]
    async fn requests_that_come_together_read_a_project_once() {
        let root = tempfile::tempdir().unwrap();
        let (cache, document) = (ProjectCache::default(), root.path().join("PROMPT.md"));
        let (one, other) =
            tokio::join!(cache.read(root.path(), &document), cache.read(root.path(), &document));
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[tokio::test]
    async fn a_full_cache_drops_only_the_folder_that_was_used_longest_ago() {
        let root = tempfile::tempdir().unwrap();
        let cache = ProjectCache::default();
        for folder in 0..=MAX_FOLDERS {
            cache.read(root.path(), &root.path().join(format!("{folder}/PROMPT.md"))).await;
        }
        let folders: Vec<_> = cache.lock().keys().map(|(_, folder)| folder.clone()).collect();
        assert_eq!(folders.len(), MAX_FOLDERS);
        assert!(!folders.contains(&root.path().join("0")) && folders.contains(&root.path().join("1")));
    }

    /// The budget is for a release build on an idle machine; a debug build on a busy one takes several times as long.
    #[tokio::test]
    async fn a_project_of_two_thousand_files_is_completed_from_known_facts() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("go.mod"), "module a\n").unwrap();
        for folder in 0..40 {
            let folder = root.path().join(format!("src/f{folder}"));
            fs::create_dir_all(&folder).unwrap();
            (0..50).for_each(|it| fs::write(folder.join(format!("a{it}.go")), "").unwrap());
        }
        let (cache, document) = (ProjectCache::default(), root.path().join("PROMPT.md"));
        let first = cache.read(root.path(), &document).await;
        assert_eq!(first.facts().files.len(), 2_001);
        let begun = Instant::now();
        let again = cache.read(root.path(), &document).await;
        let text = "- a: `exists src/";
        let all = in_check(text, text.len(), again.facts());
        let limit = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 50 });
        assert!(begun.elapsed() < limit, "{:?}", begun.elapsed());
        assert!(all.iter().any(|it| it.label == "src/f0/" && it.detail == "50 files"), "{all:?}");
        let other = root.path().join("src/f0/PROMPT.md");
        assert!(!Arc::ptr_eq(&again, &cache.read(root.path(), &other).await));
    }
}
