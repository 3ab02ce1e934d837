//! `$/setTrace`: how much of what the server does the client wants to be sent.

use lsp_types::SetTraceParams;

use crate::session::ServerState;

pub(crate) fn handle(shared: &ServerState, params: &SetTraceParams) {
    shared.trace.set(&shared.client, params.value);
}
