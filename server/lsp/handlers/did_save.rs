//! `textDocument/didSave`: what the editor shows is what runs. A loop at work is told whose doing it is.

use std::sync::Arc;

use lsp_types::{DidSaveTextDocumentParams, Url};

use crate::front::{replan, saved};
use crate::lookout::Nudge;
use crate::lookout::picture::TaskSeen;
use crate::lsp::documents::{Document, is_same};
use crate::lsp::shared::{Shared, real};

pub(crate) fn handle(shared: &Shared, params: &DidSaveTextDocumentParams) {
    let uri = &params.text_document.uri;
    shared.documents.save(uri);
    if let (Some(task), Some(document)) = (task_of(shared, uri), shared.documents.get(uri)) {
        tokio::task::spawn_blocking(move || tell(&task, &document));
    }
    shared.lookout().nudge(Nudge::ALL);
}

fn task_of(shared: &Shared, uri: &Url) -> Option<Arc<TaskSeen>> {
    let path = uri.to_file_path().ok()?;
    shared.lookout().picture().task_with(&real(&path)).cloned()
}

/// Only where the file holds what the editor saved: what the agent wrote over it meanwhile is the agent's.
fn tell(task: &TaskSeen, document: &Document) {
    let Some(path) = &document.path else { return };
    let on_disk = replan::documents(&task.root, &task.id).unwrap_or_default();
    let saved = on_disk.iter().find(|it| task.root.join(&it.path) == *path);
    if let Some(saved) = saved.filter(|it| is_same(it.text.trim_start_matches('\u{feff}'), &document.text)) {
        // A loop that just ended, or a keeper of an older version: what was saved is shown as not taken up.
        let _ = saved::tell(&task.root, &task.id, &saved.path, &saved.text);
    }
}
