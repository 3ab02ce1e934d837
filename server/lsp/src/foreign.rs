//! Shows loops of Claude Code's plugin in the editor, on their state files.

use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_text::DocumentRange;
use loopkeeper_view::editor::{self, EditorAction};
use loopkeeper_view::file_uri;
use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Position, Range, Url};

use super::commands::{CommandOutcome, CommandRefusal, run_blocking};
use super::document_context::DocumentSnapshot;
use super::ext::{CommandResult, ForeignLoop, ImportArgs};
use super::session::{ServerState, canonical_parent_path};
use super::virtual_documents;
use loopkeeper_operations::foreign::{self, PluginLoopFile};
use loopkeeper_workspace::WorkspaceSnapshot;

/// One entry of the status.
pub(crate) fn entry(found: &PluginLoopFile) -> ForeignLoop {
    ForeignLoop {
        uri: file_uri(&found.path.to_string_lossy()),
        root: file_uri(&found.folder.to_string_lossy()),
        state: found.state.clone(),
    }
}

/// A diagnostic on the first line of the state file.
pub(crate) fn diagnostic() -> Diagnostic {
    let dashes = Range::new(Position::new(0, 0), Position::new(0, 3));
    Diagnostic {
        range: dashes,
        severity: Some(DiagnosticSeverity::INFORMATION),
        code: Some(NumberOrString::String(editor::FOREIGN_CODE.to_owned())),
        source: Some(editor::Diagnostic::SOURCE.to_owned()),
        message: editor::FOREIGN_MESSAGE.to_owned(),
        ..Diagnostic::default()
    }
}

/// The loop whose state file is shown.
fn shown_one<'a>(snapshot: &'a WorkspaceSnapshot, shown: &DocumentSnapshot) -> Option<&'a PluginLoopFile> {
    snapshot.foreign.iter().find(|it| it.path == *shown.path())
}

pub(crate) fn actions(snapshot: &WorkspaceSnapshot, shown: &DocumentSnapshot) -> Option<Vec<EditorAction>> {
    let found = shown_one(snapshot, shown)?;
    Some(editor::remedies(&file_uri(&found.path.to_string_lossy())).to_vec())
}

pub(crate) fn hover(snapshot: &WorkspaceSnapshot, shown: &DocumentSnapshot) -> Option<editor::Hover> {
    let found = shown_one(snapshot, shown)?;
    let end = shown.text().find('\n').unwrap_or(shown.text().len());
    Some(editor::Hover {
        place: DocumentRange { file: String::new(), range: 0..end },
        blocks: editor::about(&found.state),
    })
}

/// Converts the loop to a task, and cancels it.
pub(crate) async fn import(shared: &Arc<ServerState>, args: ImportArgs) -> CommandOutcome {
    let path = state_file_path(shared, &args.file)
        .ok_or_else(|| CommandRefusal::bad_argument("`file` is not a file URI of an opened folder"))?;
    let document = run_blocking(move || {
        let taken = foreign::open(&path)?.take_over()?;
        match taken.trouble {
            None => Ok(taken.document),
            Some(trouble) => Err(CommandRefusal::internal_error(format_args!(
                "{} was written, and the loop goes on in its own session: {trouble}",
                taken.document.display()
            ))),
        }
    })
    .await?;
    let uri = virtual_documents::uri(&document);
    virtual_documents::open_page(shared, &uri);
    Ok(CommandResult { uri: Some(uri), ..CommandResult::default() })
}

/// `None` if `loop_id` is not one of these loops.
pub(crate) async fn stop(shared: &Arc<ServerState>, loop_id: &str) -> Option<CommandOutcome> {
    let path = state_file_path(shared, loop_id)?;
    let stopped = run_blocking(move || Ok(foreign::open(&path)?.cancel()?)).await;
    Some(stopped.map(|()| CommandResult::default()))
}

/// Accepts only files below the opened folders, because a client may forward a URI from any source.
fn state_file_path(shared: &ServerState, uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok().filter(|it| it.scheme() == "file")?;
    let path = canonical_parent_path(&url.to_file_path().ok()?);
    shared.index().snapshot().roots.iter().any(|it| path.starts_with(it)).then_some(path)
}
