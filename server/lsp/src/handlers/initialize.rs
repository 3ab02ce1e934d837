//! `initialize`: stores the client's name and capabilities, returns those of the server.

use lsp_types::{InitializeParams, InitializeResult, ServerInfo};

use crate::capabilities::{self, ResolvedClientCapabilities};
use crate::session::ServerState;
use loopkeeper_system::language;

pub(crate) fn handle(shared: &ServerState, params: InitializeParams) -> InitializeResult {
    language::set_process_language(params.locale.as_deref());
    if let Some(trace) = params.trace {
        shared.trace.set(&shared.client, trace);
    }
    let session = ResolvedClientCapabilities::of(params);
    let capabilities = capabilities::server_capabilities(&session);
    shared.init_session(session);
    let server_info =
        ServerInfo { name: "loopkeeper".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) };
    InitializeResult { capabilities, server_info: Some(server_info) }
}
