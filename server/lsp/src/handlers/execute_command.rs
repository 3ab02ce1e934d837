//! `workspace/executeCommand`: executes one command, and answers with its result and the new status.

use std::sync::Arc;

use lsp_types::ExecuteCommandParams;
use serde_json::Value;
use tower_lsp::jsonrpc;

use crate::commands;
use crate::publisher::status;
use crate::session::ServerState;

pub(crate) async fn handle(
    shared: &Arc<ServerState>,
    params: ExecuteCommandParams,
) -> jsonrpc::Result<Option<Value>> {
    let (mut done, snapshot) = commands::execute(shared, params).await?;
    done.status = Some(status::current_status(shared, &snapshot));
    serde_json::to_value(done).map(Some).map_err(|_| jsonrpc::Error::internal_error())
}
