//! The context of a request about a document: the text that the editor shows and the task parsed from that text.
//! Results come from the saved files, by criterion; positions never do.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::settings::LayerKind;
use loopkeeper_lint::LintCache;
use loopkeeper_system::config_files;
use loopkeeper_task as task;
use loopkeeper_view::editor::TaskView;
use lsp_types::{Position, Url};

use super::documents::Document;
use super::documents::positions::Encoding;
use super::session::ServerState;
use super::view_input;
use loopkeeper_workspace::snapshot::TaskSnapshot;
use loopkeeper_workspace::{WorkspaceSnapshot, is_config};

/// One open document with its line positions.
pub(crate) struct DocumentSnapshot {
    pub(crate) document: Arc<Document>,
    pub(crate) encoding: Encoding,
    path: PathBuf,
}

/// An open document that belongs to a task.
pub(crate) struct DocumentContext {
    pub(crate) shown: DocumentSnapshot,
    /// The document's name in its task.
    pub(crate) file: String,
    snapshot: Arc<WorkspaceSnapshot>,
    task: Arc<TaskSnapshot>,
    /// The hash of the last page of the task's commands that was shown.
    page: Option<String>,
}

impl DocumentSnapshot {
    /// `None` if the document is not open, so that requests about it have no result.
    pub(crate) fn of(shared: &ServerState, uri: &Url) -> Option<Self> {
        let document = shared.documents.get(uri)?;
        let path = document.path.clone()?;
        Some(Self { document, encoding: shared.session().encoding, path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// `loopkeeper.toml`, or the user's own configuration.
    pub(crate) fn is_config(&self) -> bool {
        is_config(&self.path)
    }

    /// The kind and name of a configuration file of another tool.
    pub(crate) fn other_tool_config(
        &self,
        snapshot: &WorkspaceSnapshot,
    ) -> Option<(LayerKind, &'static str)> {
        snapshot.roots.iter().find_map(|it| config_files::other_tool_file(it, &self.path))
    }

    pub(crate) fn text(&self) -> &str {
        &self.document.text
    }

    pub(crate) fn byte(&self, position: Position) -> usize {
        self.document.lines.byte(self.text(), position, self.encoding)
    }

    pub(crate) fn bytes(&self, range: lsp_types::Range) -> Range<usize> {
        self.document.lines.bytes(self.text(), range, self.encoding)
    }

    pub(crate) fn range(&self, bytes: &Range<usize>) -> lsp_types::Range {
        self.document.lines.range(self.text(), bytes, self.encoding)
    }
}

impl DocumentContext {
    /// `None` if the document is open but belongs to no task.
    pub(crate) async fn of(shared: &ServerState, shown: DocumentSnapshot) -> Option<Self> {
        let snapshot = shared.index().wait_until_ready().await;
        let task = snapshot.task_with(&shown.path)?;
        let task = current_task(shared, task);
        let named = |it: &&task::TaskDocument| task.root.join(&it.path) == shown.path;
        let file = task.documents.iter().find(named)?.path.clone();
        // The text as of this request, even if it has changed since.
        let page = shared.trust_pages.hash(&task.uri);
        Some(Self { shown, file, snapshot, task, page })
    }

    /// The root that the task's paths are relative to.
    pub(crate) fn root(&self) -> &Path {
        &self.task.root
    }

    pub(crate) fn with_view<T>(&self, view: impl FnOnce(&TaskView<'_>) -> T) -> T {
        view_input::with_task_view(&self.snapshot, &self.task, self.page.as_deref(), view)
    }
}

/// The task parsed from its open documents, because a snapshot may be some keystrokes behind.
fn current_task(shared: &ServerState, task: &Arc<TaskSnapshot>) -> Arc<TaskSnapshot> {
    let mut newer: Vec<(usize, Arc<Document>)> = Vec::new();
    for open in shared.documents.all() {
        let named = |it: &task::TaskDocument| {
            open.path.as_ref().is_some_and(|path| task.root.join(&it.path) == *path)
        };
        let Some(at) = task.documents.iter().position(named) else { continue };
        // The same text as in the snapshot, by identity or by content.
        let is_shown =
            task.texts.get(at).and_then(Option::as_ref).is_some_and(|it| Arc::ptr_eq(it, &open.text));
        if !is_shown && task.documents.get(at).is_some_and(|it| *it.text != *open.text) {
            newer.push((at, open));
        }
    }
    if newer.is_empty() {
        return Arc::clone(task);
    }
    let mut documents = task.documents.to_vec();
    for (at, open) in newer {
        if let Some(mine) = documents.get_mut(at) {
            mine.text = open.text.to_string();
        }
    }
    let mut now = TaskSnapshot::clone(task);
    now.task = Arc::new(task::parse_task(&documents));
    now.documents = Arc::new(documents);
    now.lints = LintCache::default();
    Arc::new(now)
}
