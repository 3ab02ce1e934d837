//! `textDocument/completion`: keys and values of the configuration; in a task's backticks the forms of a check, the
//! project's commands and its files.

use loopkeeper_view::editor;
use loopkeeper_workspace::config_kind;
use lsp_types::{CompletionItem, CompletionList, CompletionParams, CompletionResponse};

use crate::capabilities::CHECK_TRIGGERS;
use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::session::ServerState;
use crate::to_proto;

pub(crate) async fn handle(shared: &ServerState, params: CompletionParams) -> Option<CompletionResponse> {
    let at = params.text_document_position;
    let shown = DocumentSnapshot::of(shared, &at.text_document.uri)?;
    let offset = shown.byte(at.position);
    if shown.is_config() {
        // Typed between the words of a check; in a configuration they begin nothing.
        let trigger = params.context.and_then(|it| it.trigger_character);
        if trigger.is_some_and(|it| CHECK_TRIGGERS.contains(&it.as_str())) {
            return None;
        }
        let all = editor::settings::complete(config_kind(shown.path()), shown.text(), offset);
        return Some(CompletionResponse::Array(items(&shown, all)));
    }
    let snapshot = shared.index().wait_until_ready().await;
    if let Some((kind, file)) = shown.other_tool_config(&snapshot) {
        let all = editor::settings::complete_other_tool(kind, (file, shown.text()), offset);
        return Some(CompletionResponse::Array(items(&shown, all)));
    }
    if let Some(all) = editor::settings::complete_front_matter(shown.text(), offset)
        && snapshot.task_with(shown.path()).is_some()
    {
        return Some(CompletionResponse::Array(items(&shown, all)));
    }
    if !editor::is_in_check(shown.text(), offset) {
        return None;
    }
    // Other documents with backticks belong to no task.
    let context = DocumentContext::of(shared, shown).await?;
    let project = shared.project_files.read(context.root(), context.shown.path()).await;
    let shown = context.shown;
    let all = editor::in_check(shown.text(), offset, project.facts());
    // The next folder has other files, which were not sent.
    let is_incomplete = all.iter().any(|it| it.kind == editor::SuggestionKind::Folder);
    let items = items(&shown, all);
    Some(if is_incomplete {
        CompletionResponse::List(CompletionList { is_incomplete, items })
    } else {
        CompletionResponse::Array(items)
    })
}

fn items(shown: &DocumentSnapshot, suggestions: Vec<editor::Suggestion>) -> Vec<CompletionItem> {
    suggestions.into_iter().enumerate().map(|it| to_proto::completion(shown, it)).collect()
}
