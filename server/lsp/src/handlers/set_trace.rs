//! `$/setTrace`: the level of the server's log that is sent to the client.

use lsp_types::SetTraceParams;

use crate::session::ServerState;

pub(crate) fn handle(shared: &ServerState, params: &SetTraceParams) {
    shared.trace.set(&shared.client, params.value);
}
