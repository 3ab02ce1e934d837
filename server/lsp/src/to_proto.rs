//! Converts the core's views to LSP types within the client's capabilities. Ranges refer to the text that the client
//! has open.

use std::collections::HashMap;

use loopkeeper_view::editor;
use lsp_types::{
    ClientCapabilities, CodeAction, CodeActionKind, CodeActionOrCommand, CodeLens, Command, CompletionItem,
    CompletionItemKind, CompletionTextEdit, Diagnostic, DocumentChanges, DocumentSymbol, Documentation,
    Hover, HoverContents, InsertTextFormat, Location, MarkupContent, MarkupKind, NumberOrString, OneOf,
    OptionalVersionedTextDocumentIdentifier, SymbolInformation, SymbolKind, TextDocumentEdit, TextEdit,
    WorkspaceEdit,
};

use super::capabilities::{ResolvedClientCapabilities, supports_code_actions};
use super::document_context::DocumentSnapshot;
use super::documents::Document;

pub(crate) fn lens(shown: &DocumentSnapshot, lens: editor::Lens) -> CodeLens {
    // A lens without a command would be resolved again; one with an empty command is only shown.
    let text_only = Command { title: lens.title.clone(), command: String::new(), arguments: None };
    let command = lens.command.map_or(text_only, |it| Command { title: lens.title, ..command(it) });
    CodeLens { range: shown.range(&lens.place.range), command: Some(command), data: None }
}

pub(crate) fn command(command: editor::EditorCommand) -> Command {
    Command {
        title: command.title,
        command: command.command.to_owned(),
        arguments: Some(vec![command.argument]),
    }
}

/// `None` for an edit if the client supports only commands.
pub(crate) fn action(
    shown: &DocumentSnapshot,
    client: &ClientCapabilities,
    diagnostics: &[Diagnostic],
    action: editor::EditorAction,
) -> Option<CodeActionOrCommand> {
    let fixed = fixed_diagnostics(shown, &action, diagnostics);
    if !supports_code_actions(client) {
        return match action.fix {
            editor::QuickFix::Command(it) => Some(CodeActionOrCommand::Command(command(it))),
            editor::QuickFix::Edits(_) => None,
        };
    }
    let (edit, command) = match action.fix {
        editor::QuickFix::Command(it) => (None, Some(command(it))),
        editor::QuickFix::Edits(edits) => (Some(edit(shown, client, edits)), None),
    };
    let support = client.text_document.as_ref().and_then(|it| it.code_action.as_ref());
    let preferred = support.and_then(|it| it.is_preferred_support) == Some(true);
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: action.title,
        kind: Some(CodeActionKind::from(action.kind)),
        diagnostics: (!fixed.is_empty()).then_some(fixed),
        edit,
        command,
        is_preferred: (preferred && action.preferred).then_some(true),
        ..CodeAction::default()
    }))
}

/// The client's diagnostics that the action fixes.
fn fixed_diagnostics(
    shown: &DocumentSnapshot,
    action: &editor::EditorAction,
    diagnostics: &[Diagnostic],
) -> Vec<Diagnostic> {
    let Some((place, code)) = &action.fixes else { return Vec::new() };
    let range = shown.range(&place.range);
    let word = NumberOrString::String(code.word().to_owned());
    diagnostics.iter().filter(|it| it.range == range && it.code.as_ref() == Some(&word)).cloned().collect()
}

fn edit(
    shown: &DocumentSnapshot,
    client: &ClientCapabilities,
    edits: Vec<editor::TextEdit>,
) -> WorkspaceEdit {
    let edits =
        edits.into_iter().map(|it| TextEdit { range: shown.range(&it.place.range), new_text: it.text });
    edit_of(&shown.document, client, edits.collect())
}

/// The edits with the version of the text that they were computed for, so that a client that supports versions refuses
/// them for another one.
pub(crate) fn edit_of(
    document: &Document,
    client: &ClientCapabilities,
    edits: Vec<TextEdit>,
) -> WorkspaceEdit {
    let workspace = client.workspace.as_ref();
    if workspace.and_then(|it| it.workspace_edit.as_ref()?.document_changes) != Some(true) {
        let changes = HashMap::from([(document.uri.clone(), edits)]);
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let text_document = OptionalVersionedTextDocumentIdentifier {
        uri: document.uri.clone(),
        version: Some(document.version),
    };
    let edits = edits.into_iter().map(OneOf::Left).collect();
    let changes = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
    WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
}

pub(crate) fn hover(
    shown: &DocumentSnapshot,
    session: &ResolvedClientCapabilities,
    hover: &editor::Hover,
) -> Hover {
    let formats =
        session.client.text_document.as_ref().and_then(|it| it.hover.as_ref()?.content_format.as_ref());
    let kind = preferred_markup(formats);
    let value =
        if kind == MarkupKind::Markdown { hover.markdown(&session.command_links()) } else { hover.plain() };
    Hover {
        contents: HoverContents::Markup(MarkupContent { kind, value }),
        range: Some(shown.range(&hover.place.range)),
    }
}

/// The first format of the client that we support; every client supports plain text.
fn preferred_markup(formats: Option<&Vec<MarkupKind>>) -> MarkupKind {
    formats.and_then(|it| it.first()).cloned().unwrap_or(MarkupKind::PlainText)
}

pub(crate) fn symbol(shown: &DocumentSnapshot, symbol: editor::Symbol) -> DocumentSymbol {
    let children: Vec<DocumentSymbol> =
        symbol.children.into_iter().map(|it| self::symbol(shown, it)).collect();
    #[expect(deprecated, reason = "the type has no constructor without the old field")]
    DocumentSymbol {
        name: symbol.name,
        detail: Some(symbol.detail),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: shown.range(&symbol.place.range),
        selection_range: shown.range(&symbol.selection.range),
        children: (!children.is_empty()).then_some(children),
    }
}

/// Symbols for clients without hierarchical symbols; the state becomes part of the name.
pub(crate) fn flat_symbols(shown: &DocumentSnapshot, symbols: Vec<editor::Symbol>) -> Vec<SymbolInformation> {
    let mut all = Vec::new();
    let mut left: Vec<(Option<String>, editor::Symbol)> = symbols.into_iter().map(|it| (None, it)).collect();
    left.reverse();
    while let Some((container, it)) = left.pop() {
        left.extend(it.children.into_iter().rev().map(|child| (Some(it.name.clone()), child)));
        #[expect(deprecated, reason = "the type has no constructor without the old field")]
        all.push(SymbolInformation {
            name: format!("{} · {}", it.name, it.detail),
            kind: kind(it.kind),
            tags: None,
            deprecated: None,
            location: Location { uri: shown.document.uri.clone(), range: shown.range(&it.selection.range) },
            container_name: container,
        });
    }
    all
}

/// LSP has no kinds for tasks; these have distinguishable icons.
fn kind(kind: editor::SymbolKind) -> SymbolKind {
    match kind {
        editor::SymbolKind::Task => SymbolKind::MODULE,
        editor::SymbolKind::Criterion => SymbolKind::BOOLEAN,
        editor::SymbolKind::PlanItem => SymbolKind::EVENT,
    }
}

/// `index`: the suggestion's position among all, because editors sort by label otherwise.
pub(crate) fn completion(
    shown: &DocumentSnapshot,
    (index, suggestion): (usize, editor::Suggestion),
) -> CompletionItem {
    let kind = match suggestion.kind {
        editor::SuggestionKind::Table => CompletionItemKind::MODULE,
        editor::SuggestionKind::Key => CompletionItemKind::PROPERTY,
        editor::SuggestionKind::Value => CompletionItemKind::VALUE,
        editor::SuggestionKind::Check | editor::SuggestionKind::Expectation => CompletionItemKind::KEYWORD,
        editor::SuggestionKind::Command => CompletionItemKind::SNIPPET,
        editor::SuggestionKind::File => CompletionItemKind::FILE,
        editor::SuggestionKind::Folder => CompletionItemKind::FOLDER,
    };
    let edit = TextEdit { range: shown.range(&suggestion.replaces), new_text: suggestion.text };
    CompletionItem {
        label: suggestion.label,
        kind: Some(kind),
        detail: Some(suggestion.detail).filter(|it| !it.is_empty()),
        documentation: Some(Documentation::String(suggestion.documentation)),
        sort_text: Some(format!("{index:04}")),
        filter_text: suggestion.filter,
        insert_text_format: Some(InsertTextFormat::PLAIN_TEXT),
        text_edit: Some(CompletionTextEdit::Edit(edit)),
        ..CompletionItem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::preferred_markup;
    use lsp_types::MarkupKind;

    #[test]
    fn clients_get_the_format_they_name_first() {
        assert_eq!(preferred_markup(None), MarkupKind::PlainText);
        assert_eq!(preferred_markup(Some(&vec![])), MarkupKind::PlainText);
        let both = vec![MarkupKind::Markdown, MarkupKind::PlainText];
        assert_eq!(preferred_markup(Some(&both)), MarkupKind::Markdown);
    }
}
