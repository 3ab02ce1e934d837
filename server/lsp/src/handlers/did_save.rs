//! `textDocument/didSave`: runs use saved files. A running loop is notified that the change is the user's.

use std::sync::Arc;

use lsp_types::{DidSaveTextDocumentParams, Url};

use crate::documents::{Document, canonical_parent_path, file_path, is_same};
use crate::session::ServerState;
use loopkeeper_operations::{notify_saved, plan_edit};
use loopkeeper_workspace::Invalidation;
use loopkeeper_workspace::snapshot::TaskSnapshot;

pub(crate) fn handle(shared: &ServerState, params: &DidSaveTextDocumentParams) {
    let uri = &params.text_document.uri;
    shared.documents.save(uri);
    if let (Some(task), Some(document)) = (task_of(shared, uri), shared.documents.get(uri)) {
        tokio::task::spawn_blocking(move || notify_keeper(&task, &document));
    }
    shared.index().invalidate(Invalidation::ALL);
}

fn task_of(shared: &ServerState, uri: &Url) -> Option<Arc<TaskSnapshot>> {
    shared.index().snapshot().task_with(&canonical_parent_path(&file_path(uri)?)).cloned()
}

/// Notifies only if the file contains what the editor saved: a later write is attributed to the agent.
fn notify_keeper(task: &TaskSnapshot, document: &Document) {
    let Some(path) = &document.path else { return };
    let on_disk = plan_edit::documents(&task.root, &task.id).unwrap_or_default();
    let saved = on_disk.iter().find(|it| task.root.join(&it.path) == *path);
    if let Some(saved) = saved.filter(|it| is_same(it.text.trim_start_matches('\u{feff}'), &document.text)) {
        // If the loop just ended or its keeper is older, the save is shown as not taken up.
        let _ = notify_saved::notify_keeper(&task.root, &task.id, &saved.path, &saved.text);
    }
}
