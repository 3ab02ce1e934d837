//! `textDocument/documentLink`: the existing paths after `CONTEXT:`.

use lsp_types::{DocumentLink, DocumentLinkParams, Url};

use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::session::ServerState;
use loopkeeper_system::task_files::context_target;

pub(crate) async fn handle(shared: &ServerState, params: DocumentLinkParams) -> Option<Vec<DocumentLink>> {
    let shown = DocumentSnapshot::of(shared, &params.text_document.uri)?;
    let context = DocumentContext::of(shared, shown).await?;
    let mentions = context.with_view(|view| view.task.context.clone());
    let own = mentions.into_iter().filter(|it| it.place.file == context.file);
    let links = own.filter_map(|mention| {
        let (path, line) = context_target(context.root(), &mention.text)?;
        let mut target = Url::from_file_path(path).ok()?;
        target.set_fragment(line.map(|it| format!("L{it}")).as_deref());
        let range = context.shown.range(&mention.place.range);
        Some(DocumentLink { range, target: Some(target), tooltip: None, data: None })
    });
    Some(links.collect())
}
