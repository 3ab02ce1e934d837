//! `initialize`: remembers what the client is and can, answers what the server does.

use lsp_types::{InitializeParams, InitializeResult, ServerInfo};

use crate::lsp::capabilities::{self, Session};
use crate::lsp::shared::Shared;

pub(crate) fn handle(shared: &Shared, params: InitializeParams) -> InitializeResult {
    let session = Session::of(params);
    let capabilities = capabilities::of_server(&session);
    shared.begin(session);
    let server_info = ServerInfo {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
    };
    InitializeResult { capabilities, server_info: Some(server_info) }
}
