//! `textDocument/codeLens`: the activity of a loop above its task's first line, results above their criteria.

use loopkeeper_view::editor::lenses;
use lsp_types::{CodeLens, CodeLensParams};

use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::session::ServerState;
use crate::to_proto;

pub(crate) async fn handle(shared: &ServerState, params: CodeLensParams) -> Option<Vec<CodeLens>> {
    let shown = DocumentSnapshot::of(shared, &params.text_document.uri)?;
    let path = shown.path().to_owned();
    let context = DocumentContext::of(shared, shown).await;
    let all = context.as_ref().map(|it| it.with_view(|view| lenses(view, &it.file))).unwrap_or_default();
    shared.early_lens_requests.record(&path, !all.is_empty());
    let context = context?;
    Some(all.into_iter().map(|it| to_proto::lens(&context.shown, it)).collect())
}
