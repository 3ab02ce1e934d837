//! `textDocument/didClose`: the file is the document again.

use lsp_types::DidCloseTextDocumentParams;

use crate::lookout::Nudge;
use crate::lsp::shared::Shared;

pub(crate) fn handle(shared: &Shared, params: &DidCloseTextDocumentParams) {
    shared.documents.close(&params.text_document.uri);
    shared.lookout().nudge(Nudge::ALL);
}
