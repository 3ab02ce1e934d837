//! Sends `workspace/codeLens/refresh` when the text of lenses changed although their document did not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loopkeeper_view::editor::{Lens, lenses};

use crate::session::ServerState;
use crate::view_input;
use loopkeeper_workspace::WorkspaceSnapshot;

#[derive(Default)]
pub(super) struct LensPublisher {
    shown: BTreeMap<PathBuf, Vec<Lens>>,
    /// Whether a refresh is unanswered; at most one is in flight.
    under_way: Arc<AtomicBool>,
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
                    view_input::with_task_view(snapshot, task, None, |known| lenses(known, &document.path));
                now.insert(task.root.join(&document.path), lenses);
            }
        }
        let open = shared.documents.all().into_iter().filter_map(|it| it.path.clone()).collect();
        shared.early_lens_requests.retain(&open);
        // All are looked at, so that each early request leads to one refresh.
        let mut stays = true;
        for (path, lenses) in &now {
            stays &= match self.shown.get(path) {
                Some(shown) => shown == lenses,
                None => lenses.is_empty() || !shared.early_lens_requests.take(path),
            };
        }
        self.shown = now;
        if stays || self.under_way.swap(true, Ordering::SeqCst) {
            return;
        }
        let (shared, under_way) = (Arc::clone(shared), Arc::clone(&self.under_way));
        tokio::spawn(async move {
            let _ = shared.client.code_lens_refresh().await;
            under_way.store(false, Ordering::SeqCst);
        });
    }
}
