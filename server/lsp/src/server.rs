//! Routes each method to its handler, and does nothing else.

use std::sync::Arc;

use lsp_types::{
    CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams, CompletionParams, CompletionResponse,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentLink,
    DocumentLinkParams, DocumentSymbolParams, DocumentSymbolResponse, ExecuteCommandParams, Hover,
    HoverParams, InitializeParams, InitializeResult, InitializedParams, SetTraceParams,
};
use serde_json::Value;
use tower_lsp::jsonrpc::Result;
use tower_lsp::{LanguageServer, async_trait};

use super::commands;
use super::ext::{
    IterationsParams, IterationsResult, LoopsParams, LoopsResult, StartPreviewParams, StartPreviewResult,
    SubscribeParams, SubscribeResult, TranscriptParams, TranscriptResult, TrustPageParams, TrustPageResult,
};
use super::handlers::{
    code_action, code_lens, completion, did_change, did_change_watched_files, did_change_workspace_folders,
    did_close, did_open, did_save, document_link, document_symbol, execute_command, hover, initialize,
    initialized, iterations, loops, set_trace, subscribe, transcript,
};
use super::session::ServerState;

pub(crate) struct LspServer {
    shared: Arc<ServerState>,
}

impl LspServer {
    pub(crate) fn new(shared: Arc<ServerState>) -> Self {
        Self { shared }
    }

    pub(crate) async fn loops(&self, params: Option<LoopsParams>) -> Result<LoopsResult> {
        loops::handle(&self.shared, params.unwrap_or_default()).await
    }

    pub(crate) async fn subscribe(&self, params: SubscribeParams) -> Result<SubscribeResult> {
        subscribe::handle(&self.shared, &params).await
    }

    pub(crate) async fn iterations(&self, params: IterationsParams) -> Result<IterationsResult> {
        iterations::handle(&self.shared, &params).await
    }

    pub(crate) async fn transcript(&self, params: TranscriptParams) -> Result<TranscriptResult> {
        transcript::handle(&self.shared, params).await
    }

    pub(crate) async fn start_preview(&self, params: StartPreviewParams) -> Result<StartPreviewResult> {
        Ok(commands::start_preview::preview(&self.shared, params).await?)
    }

    #[expect(clippy::unused_async, reason = "tower-lsp routes to async methods")]
    pub(crate) async fn set_trace(&self, params: SetTraceParams) {
        set_trace::handle(&self.shared, &params);
    }

    pub(crate) async fn trust_page(&self, params: TrustPageParams) -> Result<TrustPageResult> {
        Ok(commands::trust::page(&self.shared, &params.task).await?)
    }
}

#[async_trait]
impl LanguageServer for LspServer {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        Ok(initialize::handle(&self.shared, params))
    }

    async fn initialized(&self, _: InitializedParams) {
        initialized::handle(&self.shared);
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        execute_command::handle(&self.shared, params).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        Ok(code_lens::handle(&self.shared, params).await)
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        Ok(code_action::handle(&self.shared, params).await)
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        Ok(hover::handle(&self.shared, params).await)
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        Ok(document_symbol::handle(&self.shared, params).await)
    }

    async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        Ok(document_link::handle(&self.shared, params).await)
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        Ok(completion::handle(&self.shared, params).await)
    }

    async fn did_change_watched_files(&self, _: DidChangeWatchedFilesParams) {
        did_change_watched_files::handle(&self.shared);
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        did_change_workspace_folders::handle(&self.shared, &params);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        did_open::handle(&self.shared, params);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        did_change::handle(&self.shared, params);
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        did_save::handle(&self.shared, &params);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        did_close::handle(&self.shared, &params);
    }
}
