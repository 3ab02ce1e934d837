//! `textDocument/didOpen`: from now on the editor's text is the document.

use lsp_types::DidOpenTextDocumentParams;

use crate::lookout::Nudge;
use crate::lsp::shared::Shared;

pub(crate) fn handle(shared: &Shared, params: DidOpenTextDocumentParams) {
    let opened = params.text_document;
    shared.documents.open(opened.uri, opened.version, opened.text);
    // It may be a task, or stand in a folder, that nobody knew of.
    shared.lookout().nudge(Nudge::FILES);
}
