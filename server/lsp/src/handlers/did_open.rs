//! `textDocument/didOpen`: from now on the document is the editor's text.

use lsp_types::DidOpenTextDocumentParams;

use crate::session::ServerState;
use loopkeeper_workspace::Invalidation;

pub(crate) fn handle(shared: &ServerState, params: DidOpenTextDocumentParams) {
    let opened = params.text_document;
    shared.documents.open(opened.uri, opened.version, opened.text);
    // Files are read again only for a document that no refresh has read; a state folder may have been repaired.
    shared.index().invalidate(Invalidation::LOOPS);
}
