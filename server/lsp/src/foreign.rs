//! Shows loops of Claude Code's plugin in the editor, on their state files.

use loopkeeper_text::DocumentRange;
use loopkeeper_text::language::translate;
use loopkeeper_view::editor::{self, EditorAction};
use loopkeeper_view::file_uri;
use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Position, Range};

use super::document_context::DocumentSnapshot;
use super::ext::ForeignLoop;
use loopkeeper_operations::foreign::PluginLoopFile;
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
        message: translate(editor::FOREIGN_MESSAGE).to_owned(),
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
        blocks: editor::hover_blocks(&found.state),
    })
}
