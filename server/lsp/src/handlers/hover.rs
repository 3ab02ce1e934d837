//! `textDocument/hover`: a criterion's check and last result, a loop's grid, a key of the configuration,
//! another tool's loop.

use loopkeeper_view::editor;
use lsp_types::{Hover, HoverParams};

use super::code_action::past_marker;
use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::foreign;
use crate::session::ServerState;
use crate::to_proto;

pub(crate) async fn handle(shared: &ServerState, params: HoverParams) -> Option<Hover> {
    let at = params.text_document_position_params;
    let shown = DocumentSnapshot::of(shared, &at.text_document.uri)?;
    let offset = shown.byte(at.position);
    let session = shared.session();
    if shown.is_config() {
        let hover = editor::settings::explain("", shown.text(), offset)?;
        return Some(to_proto::hover(&shown, session, &hover));
    }
    let snapshot = shared.index().wait_until_ready().await;
    if let Some((kind, file)) = shown.other_tool_config(&snapshot)
        && let Some(hover) = editor::settings::explain_other_tool(kind, (file, shown.text()), offset)
    {
        return Some(to_proto::hover(&shown, session, &hover));
    }
    if let Some(hover) = foreign::hover(&snapshot, &shown) {
        return Some(to_proto::hover(&shown, session, &hover));
    }
    let context = DocumentContext::of(shared, shown).await?;
    if let Some(hover) = editor::settings::explain_front_matter((&context.file, context.shown.text()), offset)
    {
        return Some(to_proto::hover(&context.shown, session, &hover));
    }
    let offset = past_marker(context.shown.text(), offset..offset).end;
    let hover = context.with_view(|view| editor::hover(view, (&context.file, offset)))?;
    Some(to_proto::hover(&context.shown, session, &hover))
}
