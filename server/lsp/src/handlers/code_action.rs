//! `textDocument/codeAction`: fixes for the diagnostics in the range, and every action that code lenses offer.

use std::ops::Range;
use std::path::Path;

use loopkeeper_operations::new_task;
use loopkeeper_operations::project_checks::{self, FoundCheck};
use loopkeeper_view::editor::{self, EditorAction, ProjectCommands};
use lsp_types::{CodeActionKind, CodeActionParams, CodeActionResponse};
use tokio::task::spawn_blocking;

use crate::document_context::{DocumentContext, DocumentSnapshot};
use crate::foreign;
use crate::project_cache::declared_commands;
use crate::session::ServerState;
use crate::to_proto;
use loopkeeper_workspace::config_kind;

pub(crate) async fn handle(shared: &ServerState, params: CodeActionParams) -> Option<CodeActionResponse> {
    let shown = DocumentSnapshot::of(shared, &params.text_document.uri)?;
    let bytes = past_marker(shown.text(), shown.bytes(params.range));
    let (shown, all) = if shown.is_config() {
        let fixes = editor::settings::quick_fixes(config_kind(shown.path()), shown.text(), &bytes);
        (shown, fixes)
    } else if let Some(fixes) = other_tool_fixes(shared, &shown, &bytes).await {
        (shown, fixes)
    } else if let Some(all) = foreign::actions(&*shared.index().wait_until_ready().await, &shown) {
        (shown, all)
    } else {
        let context = DocumentContext::of(shared, shown).await?;
        let checks = found_checks(context.root(), context.shown.path()).await;
        let (gates, declared) = (project_checks::project_commands(&checks), declared_commands(&checks));
        let sentence = context.with_view(|view| editor::sentence_at(view, &context.file, &bytes));
        let proposed = proposed_criteria(&context, sentence, &checks).await;
        let project = ProjectCommands { gates: &gates, declared: &declared, proposed: &proposed };
        let all = context.with_view(|view| editor::actions(view, project, (&context.file, &bytes)));
        (context.shown, all)
    };
    let request = params.context;
    let is_requested = |it: &EditorAction| is_kind_requested(it.kind, request.only.as_deref());
    let client = &shared.session().client;
    let to_action = |it| to_proto::action(&shown, client, &request.diagnostics, it);
    Some(all.into_iter().filter(is_requested).filter_map(to_action).collect())
}

/// Fixes for keys of another tool's configuration, where there are any at the range.
async fn other_tool_fixes(
    shared: &ServerState,
    shown: &DocumentSnapshot,
    bytes: &Range<usize>,
) -> Option<Vec<EditorAction>> {
    let (kind, file) = shown.other_tool_config(&*shared.index().wait_until_ready().await)?;
    let fixes = editor::settings::fix_other_tool(kind, (file, shown.text()), bytes);
    Some(fixes).filter(|it| !it.is_empty())
}

/// Extends a range that begins at or before the bullet of an item or the marks of a heading to the text after them.
pub(super) fn past_marker(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.get(..range.start).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1);
    let line = text.get(start..).and_then(|it| it.lines().next()).unwrap_or_default();
    let content = line.trim_start_matches([' ', '\t', '-', '*', '+', '#']);
    let begin = start + line.len() - content.len();
    range.start..if range.start < begin { range.end.max(begin) } else { range.end }
}

/// Read for every request, because manifests change while tasks are written; a few small files.
async fn found_checks(root: &Path, document: &Path) -> Vec<FoundCheck> {
    let (root, folder) = (root.to_owned(), document.parent().unwrap_or(root).to_owned());
    let read = spawn_blocking(move || project_checks::offered_checks(&root, &folder));
    read.await.unwrap_or_default()
}

/// The criteria that a new task for the sentence would have.
async fn proposed_criteria(
    context: &DocumentContext,
    sentence: Option<String>,
    checks: &[FoundCheck],
) -> Vec<String> {
    let Some(sentence) = sentence else { return Vec::new() };
    let (root, path) = (context.root().to_owned(), context.shown.path().to_owned());
    let checks = checks.to_vec();
    let propose = move || {
        let folder = path.parent().unwrap_or(&root);
        new_task::proposed_criteria(&root, folder, &sentence, &checks)
    };
    spawn_blocking(propose).await.unwrap_or_default()
}

/// A request for `source` also includes `source.loopkeeper.start`.
fn is_kind_requested(kind: &str, only: Option<&[CodeActionKind]>) -> bool {
    let includes = |it: &CodeActionKind| {
        let requested = it.as_str();
        requested.is_empty()
            || kind.strip_prefix(requested).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    only.is_none_or(|it| it.iter().any(includes))
}

#[cfg(test)]
mod tests {
    use super::{is_kind_requested, past_marker};
    use lsp_types::CodeActionKind;

    #[test]
    fn a_cursor_on_a_bullet_is_about_the_item() {
        let text = "# T\n\n  - ä b\n";
        assert_eq!(past_marker(text, 5..5), 5..9);
        assert_eq!(past_marker(text, 7..8), 7..9);
        assert_eq!(past_marker(text, 9..9), 9..9);
        assert_eq!(past_marker(text, 0..0), 0..2);
        assert_eq!(past_marker(text, 5..14), 5..14);
        assert_eq!(past_marker("", 0..0), 0..0);
    }

    #[test]
    fn kinds_are_requested_by_their_prefix() {
        let check = |only: &[&'static str], expect: bool| {
            let only: Vec<CodeActionKind> = only.iter().map(|it| CodeActionKind::from(*it)).collect();
            assert_eq!(is_kind_requested("source.loopkeeper.start", Some(&only)), expect, "{only:?}");
        };
        check(&["source"], true);
        check(&["source.loopkeeper"], true);
        check(&["source.loopkeeper.start"], true);
        check(&["source.loop"], false);
        check(&["quickfix"], false);
        check(&["quickfix", "source"], true);
        check(&[""], true);
        check(&[], false);
        assert!(is_kind_requested("quickfix", None));
    }
}
