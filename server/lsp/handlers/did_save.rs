//! `textDocument/didSave`: what the editor shows is what runs.

use lsp_types::DidSaveTextDocumentParams;

use crate::lookout::Nudge;
use crate::lsp::shared::Shared;

pub(crate) fn handle(shared: &Shared, params: &DidSaveTextDocumentParams) {
    shared.documents.save(&params.text_document.uri);
    shared.lookout().nudge(Nudge::ALL);
}
