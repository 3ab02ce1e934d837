//! `textDocument/didChange`: the full new text, as negotiated.

use lsp_types::DidChangeTextDocumentParams;

use crate::session::ServerState;
use loopkeeper_workspace::Invalidation;

pub(crate) fn handle(shared: &ServerState, params: DidChangeTextDocumentParams) {
    let encoding = shared.session().encoding;
    let id = params.text_document;
    shared.documents.change(&id.uri, id.version, &params.content_changes, encoding);
    shared.index().invalidate(Invalidation::TEXTS);
}
