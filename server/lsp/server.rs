//! Which method goes to which handler, and nothing else.

use std::sync::Arc;

use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, InitializeParams, InitializeResult,
};
use tower_lsp::jsonrpc::Result;
use tower_lsp::{LanguageServer, async_trait};

use super::handlers::{did_change, did_close, did_open, did_save, initialize};
use super::shared::Shared;

pub(crate) struct Server {
    shared: Arc<Shared>,
}

impl Server {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

#[async_trait]
impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        Ok(initialize::handle(&self.shared, params))
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
