//! Sends `workspace/codeLens/refresh` when the text of lenses changed although their document did not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loopkeeper_view::editor::{Lens, lenses};

use crate::session::ServerState;
use crate::view_input;
use loopkeeper_workspace::WorkspaceSnapshot;

#[derive(Default)]
pub(super) struct LensPublisher {
    shown: BTreeMap<PathBuf, Vec<Lens>>,
    changes: LensChanges,
}

/// Counts the changes that no answered refresh includes. At most one refresh is in flight; changes during it lead to
/// one more, because the client may have requested the lenses before them.
#[derive(Clone, Default)]
struct LensChanges(Arc<AtomicUsize>);

impl LensChanges {
    /// Returns whether the caller has to start refreshing, because no refresh is in flight.
    fn add(&self) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst) == 0
    }

    /// Sends refreshes until one includes every change.
    async fn refresh<F: Future>(&self, send: impl Fn() -> F) {
        loop {
            let included = self.0.load(Ordering::SeqCst);
            send().await;
            if self.0.fetch_sub(included, Ordering::SeqCst) == included {
                return;
            }
        }
    }
}

impl LensPublisher {
    /// Does not wait: the client decides whether and when it requests lenses again.
    pub(super) fn publish(&mut self, shared: &Arc<ServerState>, snapshot: &WorkspaceSnapshot) {
        let workspace = shared.session().client.workspace.as_ref();
        let lens = workspace.and_then(|it| it.code_lens.as_ref());
        if lens.and_then(|it| it.refresh_support) != Some(true) {
            return;
        }
        let mut now = BTreeMap::new();
        for task in snapshot.tasks.iter().filter(|it| it.live) {
            for document in task.documents.iter() {
                let lenses =
                    view_input::with_task_view(snapshot, task, None, |view| lenses(view, &document.path));
                now.insert(task.root.join(&document.path), lenses);
            }
        }
        let open = shared.documents.all().into_iter().filter_map(|it| it.path.clone()).collect();
        shared.early_lens_requests.retain(&open);
        // Without an early exit, so that each early request leads to only one refresh.
        let mut is_unchanged = true;
        for (path, lenses) in &now {
            is_unchanged &= match self.shown.get(path) {
                Some(shown) => shown == lenses,
                None => lenses.is_empty() || !shared.early_lens_requests.take(path),
            };
        }
        self.shown = now;
        if is_unchanged || !self.changes.add() {
            return;
        }
        let (shared, changes) = (Arc::clone(shared), self.changes.clone());
        tokio::spawn(async move { changes.refresh(|| shared.client.code_lens_refresh()).await });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::LensChanges;

    #[tokio::test]
    async fn changes_during_a_refresh_lead_to_one_more() {
        let (changes, sent) = (LensChanges::default(), Cell::new(0));
        assert!(changes.add());
        let send = || {
            sent.set(sent.get() + 1);
            let changes = changes.clone();
            let is_first = sent.get() == 1;
            async move {
                for _ in 0..if is_first { 2 } else { 0 } {
                    assert!(!changes.add(), "a refresh is in flight");
                }
            }
        };
        changes.refresh(send).await;
        assert_eq!(sent.get(), 2);
        assert!(changes.add(), "no refresh is in flight any more");
    }
}
