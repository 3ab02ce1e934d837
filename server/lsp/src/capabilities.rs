//! Negotiates the capabilities of client and server. The server announces nothing that it does not do, and sends
//! nothing that the client did not announce.

use std::path::PathBuf;

use lsp_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    CompletionOptions, DocumentLinkOptions, ExecuteCommandOptions, HoverProviderCapability, InitializeParams,
    OneOf, PositionEncodingKind, SaveOptions, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde_json::{Value, json};

use super::documents::file_path;
use super::documents::positions::Encoding;
use super::ext::{COMMANDS, VERSION};
use loopkeeper_text::language::Language;

/// The characters that continue a check.
pub(crate) const CHECK_TRIGGERS: [&str; 2] = [" ", "/"];

/// The capabilities that one client announced in `initialize`.
#[derive(Debug, Default)]
pub struct ResolvedClientCapabilities {
    pub client: ClientCapabilities,
    /// The client's name from `clientInfo`.
    pub client_name: Option<String>,
    /// The unit of a column.
    pub encoding: Encoding,
    /// The opened folders that are on this machine.
    pub folders: Vec<PathBuf>,
    /// Whether the editor trusts these folders. Necessary, never sufficient.
    pub trusted: bool,
}

impl ResolvedClientCapabilities {
    /// Whether the client announced support for `loopkeeper/…` notifications.
    pub(crate) fn has_extensions(&self) -> bool {
        self.extensions().is_some_and(|it| !it.is_null() && *it != Value::Bool(false))
    }

    /// Commands of the client that may be links in Markdown, because the client trusts them there.
    pub(crate) fn command_links(&self) -> Vec<String> {
        let links = self.extensions().and_then(|it| it.get("commandLinks")).and_then(Value::as_array);
        links.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
    }

    /// The announcement of a client that supports the messages of [`super::ext`].
    fn extensions(&self) -> Option<&Value> {
        self.client.experimental.as_ref()?.get("loopkeeper")
    }

    pub fn of(params: InitializeParams) -> Self {
        let folders = folders(&params);
        let trusted = params.initialization_options.as_ref().and_then(|it| it.get("trusted"));
        // A value that is neither a boolean nor null is a mistake of the client and does not grant trust.
        let trusted = trusted.is_none_or(|it| *it == Value::Bool(true) || it.is_null());
        let encoding = negotiate_encoding(&params.capabilities);
        let client_name = params.client_info.map(|it| it.name);
        Self { client: params.capabilities, client_name, encoding, folders, trusted }
    }
}

/// Whether the client supports code actions in addition to commands.
pub(crate) fn supports_code_actions(client: &ClientCapabilities) -> bool {
    let action = client.text_document.as_ref().and_then(|it| it.code_action.as_ref());
    action.is_some_and(|it| it.code_action_literal_support.is_some())
}

pub fn server_capabilities(session: &ResolvedClientCapabilities) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::FULL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let encoding = match session.encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
    };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        code_action_provider: Some(code_actions(session)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        completion_provider: Some(CompletionOptions {
            // Characters that begin a check, a table, a value and a quoted value.
            trigger_characters: Some(
                ["`", "[", "=", "\""].into_iter().chain(CHECK_TRIGGERS).map(str::to_owned).collect(),
            ),
            ..CompletionOptions::default()
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        experimental: Some(json!({
            "loopkeeper": { "version": VERSION, "language": Language::current().tag() },
        })),
        ..ServerCapabilities::default()
    }
}

/// Announces kinds only to clients that support them.
fn code_actions(session: &ResolvedClientCapabilities) -> CodeActionProviderCapability {
    if !supports_code_actions(&session.client) {
        return CodeActionProviderCapability::Simple(true);
    }
    let kinds = [CodeActionKind::QUICKFIX, "refactor.loopkeeper".into(), "source.loopkeeper".into()];
    CodeActionProviderCapability::Options(CodeActionOptions {
        code_action_kinds: Some(kinds.to_vec()),
        ..CodeActionOptions::default()
    })
}

/// UTF-8 where the client supports it; otherwise UTF-16, which every client supports.
fn negotiate_encoding(client: &ClientCapabilities) -> Encoding {
    let offered = client.general.as_ref().and_then(|it| it.position_encodings.as_ref());
    match offered {
        Some(them) if them.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
        _ => Encoding::Utf16,
    }
}

/// Uses the newest field that is present: workspace folders, then the root URI, then the root path.
#[expect(deprecated, reason = "some clients send nothing else")]
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    if let Some(folders) = params.workspace_folders.as_ref().filter(|it| !it.is_empty()) {
        return folders.iter().filter_map(|it| file_path(&it.uri)).collect();
    }
    let root = params.root_uri.as_ref().and_then(file_path);
    root.or_else(|| params.root_path.as_ref().map(PathBuf::from)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{ResolvedClientCapabilities, server_capabilities};
    use lsp_types::InitializeParams;
    use serde_json::{Value, json};

    fn session(params: Value) -> ResolvedClientCapabilities {
        ResolvedClientCapabilities::of(serde_json::from_value::<InitializeParams>(params).unwrap())
    }

    #[test]
    fn columns_are_utf8_only_if_the_client_offers_it() {
        let check = |offered: Value, expect: &str| {
            let general = json!({"capabilities": {"general": {"positionEncodings": offered}}});
            let announced = serde_json::to_value(server_capabilities(&session(general))).unwrap();
            assert_eq!(announced["positionEncoding"], expect);
        };
        check(Value::Null, "utf-16");
        check(json!([]), "utf-16");
        check(json!(["utf-16", "utf-8"]), "utf-8");
        check(json!(["utf-32", "utf-16"]), "utf-16");
    }

    #[test]
    fn folders_come_from_the_newest_field_and_are_on_this_machine() {
        let check = |params: Value, expect: &[&str]| {
            let folders = session(params).folders;
            assert_eq!(folders.iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>(), expect);
        };
        let two = json!([{"uri": "file:///a%20b", "name": "a"}, {"uri": "ssh://x/y", "name": "y"}]);
        check(json!({"capabilities": {}, "workspaceFolders": two, "rootUri": "file:///c"}), &["/a b"]);
        check(json!({"capabilities": {}, "workspaceFolders": null, "rootUri": "file:///c"}), &["/c"]);
        check(json!({"capabilities": {}, "rootUri": null, "rootPath": "/d"}), &["/d"]);
        check(json!({"capabilities": {}}), &[]);
    }

    #[test]
    fn an_editor_trusts_unless_it_says_otherwise() {
        let check = |options: Value, expect: bool| {
            let params = json!({"capabilities": {}, "initializationOptions": options});
            assert_eq!(session(params).trusted, expect);
        };
        check(Value::Null, true);
        check(json!({}), true);
        check(json!({"trusted": true}), true);
        check(json!({"trusted": false}), false);
        check(json!({"trusted": "no"}), false);
    }
}
