//! `textDocument/completion`: keys and values of the configuration, forms of a check in a task's backticks.

use loopkeeper_view::editor;
use loopkeeper_workspace::config_kind;
use lsp_types::{CompletionParams, CompletionResponse};

use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::session::ServerState;
use crate::to_proto;

pub(crate) async fn handle(shared: &ServerState, params: CompletionParams) -> Option<CompletionResponse> {
    let at = params.text_document_position;
    let shown = DocumentSnapshot::of(shared, &at.text_document.uri)?;
    let offset = shown.byte(at.position);
    let (shown, all) = if shown.is_config() {
        let all = editor::settings::complete(config_kind(shown.path()), shown.text(), offset);
        (shown, all)
    } else {
        let all = editor::in_check(shown.text(), offset);
        // Other documents with backticks belong to no task.
        (DocumentContext::of(shared, shown).await?.shown, all)
    };
    let items = all.into_iter().map(|it| to_proto::completion(&shown, it));
    Some(CompletionResponse::Array(items.collect()))
}
