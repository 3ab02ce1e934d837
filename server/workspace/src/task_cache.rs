//! Caches each assembled task with its inputs: it is rebuilt only if one of them changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::results::MergedResults;
use super::snapshot::{LoopSnapshot, TaskSnapshot, UntrustedCommands};
use super::tasks::SavedTask;

/// The texts that the editor shows, by their real paths.
pub(super) type OpenTexts = BTreeMap<PathBuf, Arc<str>>;

pub(super) struct CachedTask {
    pub(super) base: ResultsKey,
    /// The results for the base; expensive to compute.
    pub(super) latest: MergedResults,
    pub(super) overlay: OverlayKey,
    pub(super) task: Arc<TaskSnapshot>,
}

/// The inputs of results.
#[derive(Clone)]
pub(super) struct ResultsKey {
    pub(super) saved: Arc<SavedTask>,
    pub(super) last_loop: Option<Arc<LoopSnapshot>>,
    /// Version of the stand-alone checks.
    pub(super) round_version: u64,
    pub(super) checking: bool,
}

/// Other inputs of the view.
pub(super) struct OverlayKey {
    pub(super) texts: Vec<Option<Arc<str>>>,
    pub(super) untrusted: Arc<UntrustedCommands>,
    /// The current tree of its root, if results can be compared with it.
    pub(super) tree: Option<String>,
}

impl ResultsKey {
    pub(super) fn is_same_key(&self, other: &Self) -> bool {
        let same_loop = match (&self.last_loop, &other.last_loop) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        let same_saved = Arc::ptr_eq(&self.saved, &other.saved) || self.saved.is_same_view(&other.saved);
        same_loop
            && same_saved
            && self.round_version == other.round_version
            && self.checking == other.checking
    }

    /// A keeper is running: its own results count, for the tree as it changes it.
    pub(super) fn is_at_work(&self) -> bool {
        let at_work = |it: &Arc<LoopSnapshot>| {
            it.state.outcome().is_none() && it.status.keeper.alive && !it.status.stale
        };
        self.last_loop.as_ref().is_some_and(at_work)
    }
}

impl OverlayKey {
    /// Compares texts by their addresses: an edit allocates a new one.
    pub(super) fn is_same_key(&self, other: &Self) -> bool {
        let same = |(one, other): (&Option<Arc<str>>, &Option<Arc<str>>)| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        self.texts.len() == other.texts.len()
            && self.texts.iter().zip(&other.texts).all(same)
            && (Arc::ptr_eq(&self.untrusted, &other.untrusted) || self.untrusted == other.untrusted)
            && self.tree == other.tree
    }
}

/// The open text of each document of a task.
pub(super) fn open_texts(saved: &SavedTask, open: &OpenTexts) -> Vec<Option<Arc<str>>> {
    if open.is_empty() {
        return vec![None; saved.documents.len()];
    }
    let text = |path: &Path| open.get(path).cloned();
    saved.documents.iter().map(|it| text(&saved.root.join(&it.path))).collect()
}
