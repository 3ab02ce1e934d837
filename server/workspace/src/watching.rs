//! Watches folders, not everything below them: watching a whole tree costs a watch per folder and misses files in
//! folders that were just created. An event only reports which part to read again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loopkeeper_core::plugin_loop::FILES;
use loopkeeper_task::kind_of;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Invalidation;

/// Limit between two updates.
const MAX_GONE: usize = 1000;

pub(super) struct FileWatcher {
    /// `None` if the system provides none; then polling and the editor's own events remain.
    watcher: Option<RecommendedWatcher>,
    places: BTreeSet<PathBuf>,
    /// Paths that were removed or renamed since: a folder that was created again has lost its watch.
    gone: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl FileWatcher {
    pub(super) fn new(tell: impl Fn(Invalidation) + Send + 'static) -> Self {
        let gone: Arc<Mutex<BTreeSet<PathBuf>>> = Arc::default();
        let note = Arc::clone(&gone);
        let hear = move |event: notify::Result<Event>| match event {
            Ok(event) => {
                if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
                    let mut gone = note.lock().unwrap_or_else(PoisonError::into_inner);
                    // Only folders are looked up in it, and there are never this many.
                    if gone.len() < MAX_GONE {
                        gone.extend(event.paths.iter().cloned());
                    }
                }
                if let Some(invalidation) = classify_event(&event) {
                    tell(invalidation.in_burst());
                }
            }
            // Events were lost.
            Err(_) => tell(Invalidation::ALL.in_burst()),
        };
        Self { watcher: notify::recommended_watcher(hear).ok(), places: BTreeSet::new(), gone }
    }

    /// Watches exactly these folders. Missing ones are tried again next time. Returns whether one is new: events in it
    /// since the last update were missed.
    pub(super) fn set_paths(&mut self, places: &BTreeSet<PathBuf>) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let gone = std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner));
        let lost = |it: &&PathBuf| !places.contains(*it) || gone.contains(*it) || !it.is_dir();
        for lost in self.places.iter().filter(lost).cloned().collect::<Vec<_>>() {
            let _ = watcher.unwatch(&lost);
            self.places.remove(&lost);
        }
        let mut is_new = false;
        for place in places {
            if !self.places.contains(place)
                && place.is_dir()
                && watcher.watch(place, RecursiveMode::NonRecursive).is_ok()
            {
                self.places.insert(place.clone());
                is_new = true;
            }
        }
        is_new
    }
}

/// What an event may have changed; `None` for events without effect, such as our own reads.
fn classify_event(event: &Event) -> Option<Invalidation> {
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
        .map(|it| meaning_of(it))
        .reduce(Invalidation::merge)
        .filter(|it| *it != Invalidation::default())
}

fn meaning_of(path: &Path) -> Invalidation {
    const NAMES: [&str; 5] = ["loopkeeper.toml", ".ralphrc", "ralph.yml", ".gitignore", ".ralph"];
    // The state file of another tool's loop, and the folder that it is created with.
    if path.ends_with(".claude") || FILES.iter().any(|it| path.ends_with(it)) {
        return Invalidation::FILES;
    }
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    if kind_of(&path.to_string_lossy()).is_some() || NAMES.contains(&name) {
        // A saved task also changes the tree.
        return Invalidation { tree: true, ..Invalidation::FILES };
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

    use super::{Invalidation, meaning_of};

    #[test]
    fn a_path_selects_what_is_scanned() {
        let check =
            |path: &str, expect: Invalidation| assert_eq!(meaning_of(Path::new(path)), expect, "{path}");
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
    }
}
