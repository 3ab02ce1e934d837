//! `textDocument/documentSymbol`: a task's criteria and plan, each with its state.

use loopkeeper_core::view::editor::symbols;
use lsp_types::{DocumentSymbolParams, DocumentSymbolResponse};

use crate::lsp::convert;
use crate::lsp::shared::Shared;
use crate::lsp::sight::{Shown, Sight};

pub(crate) async fn handle(shared: &Shared, params: DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let shown = Shown::of(shared, &params.text_document.uri)?;
    let sight = Sight::of(shared, shown).await?;
    let all = sight.look(|known| symbols(known, &sight.file));
    let text = shared.session().client.text_document.as_ref();
    let support = text.and_then(|it| it.document_symbol.as_ref()?.hierarchical_document_symbol_support);
    if support != Some(true) {
        return Some(DocumentSymbolResponse::Flat(convert::flat_symbols(&sight.shown, all)));
    }
    let nested = all.into_iter().map(|it| convert::symbol(&sight.shown, it));
    Some(DocumentSymbolResponse::Nested(nested.collect()))
}
