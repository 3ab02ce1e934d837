//! `textDocument/documentSymbol`: a task's criteria and plan, each with its state.

use loopkeeper_view::editor::symbols;
use lsp_types::{DocumentSymbolParams, DocumentSymbolResponse};

use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::session::ServerState;
use crate::to_proto;

pub(crate) async fn handle(
    shared: &ServerState,
    params: DocumentSymbolParams,
) -> Option<DocumentSymbolResponse> {
    let shown = DocumentSnapshot::of(shared, &params.text_document.uri)?;
    let context = DocumentContext::of(shared, shown).await?;
    let all = context.with_view(|view| symbols(view, &context.file));
    let text = shared.session().client.text_document.as_ref();
    let support = text.and_then(|it| it.document_symbol.as_ref()?.hierarchical_document_symbol_support);
    if support != Some(true) {
        return Some(DocumentSymbolResponse::Flat(to_proto::flat_symbols(&context.shown, all)));
    }
    let nested = all.into_iter().map(|it| to_proto::symbol(&context.shown, it));
    Some(DocumentSymbolResponse::Nested(nested.collect()))
}
