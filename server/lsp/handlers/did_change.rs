//! `textDocument/didChange`: the whole new text, as the server asked for.

use lsp_types::DidChangeTextDocumentParams;

use crate::lookout::Nudge;
use crate::lsp::shared::Shared;

pub(crate) fn handle(shared: &Shared, params: DidChangeTextDocumentParams) {
    let encoding = shared.session().encoding;
    let id = params.text_document;
    shared.documents.change(&id.uri, id.version, &params.content_changes, encoding);
    shared.lookout().nudge(Nudge::TEXTS);
}
