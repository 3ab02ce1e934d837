//! `textDocument/codeLens`: the activity of a loop above its task's first line, results above their criteria.

use loopkeeper_view::editor::lenses;
use lsp_types::{CodeLens, CodeLensParams};

use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::session::ServerState;
use crate::to_proto;

pub(crate) async fn handle(shared: &ServerState, params: CodeLensParams) -> Option<Vec<CodeLens>> {
    let shown = DocumentSnapshot::of(shared, &params.text_document.uri)?;
    let sight = DocumentContext::of(shared, shown).await?;
    let all = sight.with_view(|known| lenses(known, &sight.file));
    Some(all.into_iter().map(|it| to_proto::lens(&sight.shown, it)).collect())
}
