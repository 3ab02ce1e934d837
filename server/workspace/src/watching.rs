//! Watches folders, not everything below them: watching a whole tree costs a watch per folder and misses files in
//! folders that were just created. An event only reports which part to read again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loopkeeper_core::plugin_loop::FILES;
use loopkeeper_core::strays::is_configuration_name;
use loopkeeper_task::kind_of;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Invalidation;

/// Removed paths that are remembered between two updates.
const MAX_GONE: usize = 1000;

/// The watched paths, including those that do not exist yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WatchedPaths {
    pub(super) folders: BTreeSet<PathBuf>,
    /// Files that are read whatever their names are: those of `tasks.files`, configurations of other tools.
    pub(super) documents: BTreeSet<PathBuf>,
    /// Folders whose Markdown files are tasks.
    pub(super) plan_folders: BTreeSet<PathBuf>,
}

impl WatchedPaths {
    fn is_document(&self, path: &Path) -> bool {
        self.documents.contains(path)
            // Their folder, which may have just been created.
            || self.documents.iter().any(|it| it.parent() == Some(path))
            || path.extension().is_some_and(|it| it == "md")
                && path.parent().is_some_and(|it| self.plan_folders.contains(it))
    }
}

pub(super) struct FileWatcher {
    /// `None` if the system provides none; then polling and the editor's own events remain.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    paths: Arc<Mutex<WatchedPaths>>,
    gone: Arc<Mutex<GonePaths>>,
}

/// Paths that were removed or renamed since: a folder that was created again has lost its watch.
#[derive(Debug, Default)]
struct GonePaths {
    paths: BTreeSet<PathBuf>,
    /// There are more, or events were lost: any folder may have been created again.
    is_incomplete: bool,
}

impl GonePaths {
    fn record(&mut self, event: &notify::Result<Event>) {
        let Ok(event) = event else {
            self.is_incomplete = true;
            return;
        };
        if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
            let room = MAX_GONE.saturating_sub(self.paths.len());
            self.is_incomplete |= event.paths.len() > room;
            self.paths.extend(event.paths.iter().take(room).cloned());
        }
        self.is_incomplete |= event.need_rescan();
    }

    fn contains(&self, folder: &Path) -> bool {
        self.is_incomplete || self.paths.contains(folder)
    }
}

impl FileWatcher {
    pub(super) fn new(report: impl Fn(Invalidation) + Send + 'static) -> Self {
        let gone: Arc<Mutex<GonePaths>> = Arc::default();
        let removed = Arc::clone(&gone);
        let paths: Arc<Mutex<WatchedPaths>> = Arc::default();
        let known = Arc::clone(&paths);
        let handle_event = move |event: notify::Result<Event>| {
            removed.lock().unwrap_or_else(PoisonError::into_inner).record(&event);
            match event {
                Ok(event) => {
                    let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(invalidation) = classify_event(&event, &known) {
                        report(invalidation.in_burst());
                    }
                }
                // Events were lost.
                Err(_) => report(Invalidation::ALL.in_burst()),
            }
        };
        Self {
            watcher: notify::recommended_watcher(handle_event).ok(),
            watched: BTreeSet::new(),
            paths,
            gone,
        }
    }

    /// Watches exactly these folders. Missing ones are tried again next time. Returns whether a folder or a document is
    /// new: its events since the last update were missed.
    pub(super) fn set_paths(&mut self, paths: WatchedPaths) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let mut known = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_new =
            !paths.documents.is_subset(&known.documents) || paths.plan_folders != known.plan_folders;
        *known = paths;
        // Not held while folders are watched: the thread of the events may wait for it.
        let folders = known.folders.clone();
        drop(known);
        let gone = std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner));
        let lost = |it: &&PathBuf| !folders.contains(*it) || gone.contains(it) || !it.is_dir();
        for lost in self.watched.iter().filter(lost).cloned().collect::<Vec<_>>() {
            let _ = watcher.unwatch(&lost);
            self.watched.remove(&lost);
        }
        for folder in folders {
            if !self.watched.contains(&folder)
                && folder.is_dir()
                && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok()
            {
                self.watched.insert(folder);
                is_new = true;
            }
        }
        is_new
    }
}

/// The state that an event may have changed; `None` for events without effect, such as our own reads.
fn classify_event(event: &Event, known: &WatchedPaths) -> Option<Invalidation> {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Create(_)
        | EventKind::Remove(_)
        | EventKind::Modify(_) => {}
        _ if event.need_rescan() => return Some(Invalidation::ALL),
        _ => return None,
    }
    event
        .paths
        .iter()
        .map(|it| classify_path(it, known))
        .reduce(Invalidation::merge)
        .filter(|it| *it != Invalidation::default())
}

fn classify_path(path: &Path, known: &WatchedPaths) -> Invalidation {
    const NAMES: [&str; 5] = ["loopkeeper.toml", ".ralphrc", "ralph.yml", ".gitignore", ".ralph"];
    // The state file of another tool's loop, and the folder that it is created with.
    if path.ends_with(".claude") || FILES.iter().any(|it| path.ends_with(it)) {
        return Invalidation::FILES;
    }
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    if kind_of(&path.to_string_lossy()).is_some() || NAMES.contains(&name) || known.is_document(path) {
        // A saved task also changes the tree.
        return Invalidation { tree: true, ..Invalidation::FILES };
    }
    if is_configuration_name(name) {
        return Invalidation::FILES;
    }
    if name == "granted.jsonl" || ["trust", "workspaces", "trees"].contains(&name) {
        return Invalidation::STATE;
    }
    let in_workspace = path.ancestors().nth(2).is_some_and(|it| it.ends_with("workspaces"));
    let of_loops = in_workspace && ["root", "loops", "checks"].contains(&name)
        || path.extension().is_some_and(|it| it == "jsonl" || it == "lock")
        || path.parent().is_some_and(|it| it.ends_with("loops") || it.ends_with("workspaces"));
    if of_loops { Invalidation::LOOPS } else { Invalidation::default() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use notify::event::{Flag, RemoveKind};
    use notify::{Event, EventKind};

    use super::{GonePaths, Invalidation, MAX_GONE, WatchedPaths, classify_path};

    #[test]
    fn after_lost_events_every_folder_may_have_been_created_again() {
        let removed = |path: &str| Ok(Event::new(EventKind::Remove(RemoveKind::Any)).add_path(path.into()));
        let (here, other) = (Path::new("/w/.ralph"), Path::new("/w/docs"));
        let contains = |events: &[notify::Result<Event>]| {
            let mut gone = GonePaths::default();
            for it in events {
                gone.record(it);
            }
            assert!(gone.paths.len() <= MAX_GONE);
            (gone.contains(here), gone.contains(other))
        };
        assert_eq!(contains(&[]), (false, false));
        assert_eq!(contains(&[removed("/w/.ralph")]), (true, false));
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(contains(&[Ok(lost)]), (true, true));
        assert_eq!(contains(&[Err(notify::Error::generic("x"))]), (true, true));
        let many: Vec<_> = (0..=MAX_GONE).map(|it| removed(&format!("/w/{it}"))).collect();
        assert_eq!(contains(&many), (true, true));
        assert_eq!(contains(&many[1..]), (false, false));
    }

    #[test]
    fn a_path_selects_what_is_scanned() {
        let known = WatchedPaths {
            documents: ["/w/notes/shop.md".into()].into(),
            plan_folders: ["/w/specs".into()].into(),
            ..WatchedPaths::default()
        };
        let check = |path: &str, expect: Invalidation| {
            assert_eq!(classify_path(Path::new(path), &known), expect, "{path}");
        };
        let document = Invalidation { tree: true, ..Invalidation::FILES };
        check("/w/PROMPT.md", document);
        check("/w/.ralph/prd.json", document);
        check("/w/loopkeeper.toml", document);
        check("/w/.claude/ralph-loop.local.md", Invalidation::FILES);
        check("/w/.claude", Invalidation::FILES);
        check("/w/.claude/settings.json", Invalidation::default());
        check("/s/workspaces/0011223344556677/loops/20261120-abcdef/journal.jsonl", Invalidation::LOOPS);
        check("/s/workspaces/0011223344556677/checks/PROMPT.md.jsonl", Invalidation::LOOPS);
        check("/s/workspaces/0011223344556677/loops/20261120-abcdef", Invalidation::LOOPS);
        check("/s/workspaces/0011223344556677", Invalidation::LOOPS);
        check("/s/trees/0011223344556677.lock", Invalidation::LOOPS);
        // Touched by every update, including our own.
        check("/s/trees/lock", Invalidation::default());
        check("/s/workspaces", Invalidation::STATE);
        check("/s/workspaces/0011223344556677/root", Invalidation::LOOPS);
        check("/s/workspaces/0011223344556677/checks", Invalidation::LOOPS);
        check("/w/loops", Invalidation::default());
        check("/s/trust/granted.jsonl", Invalidation::STATE);
        check("/w/src/main.rs", Invalidation::default());
        check("/w/out.log", Invalidation::default());
        check("/w/notes/shop.md", document);
        check("/w/notes", document);
        check("/w/notes/other.md", Invalidation::default());
        check("/w/specs/plan.md", document);
        check("/w/specs/plan.txt", Invalidation::default());
        check("/w/yarn.lock", Invalidation::FILES);
    }
}
