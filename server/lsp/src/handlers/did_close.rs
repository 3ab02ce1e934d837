//! `textDocument/didClose`: from now on the document is the file on disk.

use lsp_types::DidCloseTextDocumentParams;

use crate::session::ServerState;
use loopkeeper_workspace::Invalidation;

pub(crate) fn handle(shared: &ServerState, params: &DidCloseTextDocumentParams) {
    shared.documents.close(&params.text_document.uri);
    shared.index().invalidate(Invalidation::ALL);
}
