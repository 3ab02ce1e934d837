//! `workspace/executeCommand`: executes one command, and answers with its result and the new status.

use std::sync::Arc;

use lsp_types::ExecuteCommandParams;
use serde_json::Value;
use tower_lsp::jsonrpc;

use crate::commands::{self, CommandRefusal};
use crate::ext::RefusalCode;
use crate::publisher::status;
use crate::questions::{self, QuestionSupport};
use crate::session::ServerState;

pub(crate) async fn handle(
    shared: &Arc<ServerState>,
    params: ExecuteCommandParams,
) -> jsonrpc::Result<Option<Value>> {
    let (mut done, snapshot) = match commands::execute(shared, params).await {
        Ok(done) => done,
        Err(refusal) => {
            show_refusal(shared, &refusal).await;
            return Err(refusal.into());
        }
    };
    done.status = Some(status::current_status(shared, &snapshot));
    serde_json::to_value(done).map(Some).map_err(|_| jsonrpc::Error::internal_error())
}

/// Helix and other simple clients discard the error of a command. A missing trust is shown with the commands.
async fn show_refusal(shared: &ServerState, refusal: &CommandRefusal) {
    let is_simple =
        QuestionSupport::of(shared) == QuestionSupport::Never && !shared.session().has_extensions();
    if is_simple && refusal.data.code != RefusalCode::Untrusted {
        questions::warn(shared, &refusal.message).await;
    }
}
