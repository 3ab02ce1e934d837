//! `loopkeeper/subscribe`: to what the agent and the checks of a loop print.

use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;

use crate::adapters::state_dir::StateDir;
use crate::front::failure::Failure;
use crate::lsp::commands::{blocking, loop_named};
use crate::lsp::ext::{SubscribeParams, SubscribeResult};
use crate::lsp::shared::Shared;

pub(crate) async fn handle(shared: &Arc<Shared>, params: &SubscribeParams) -> Result<SubscribeResult> {
    let roots: Vec<PathBuf> = shared.lookout().picture().roots.clone();
    let name = params.loop_id.clone();
    let named = blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        Ok(loop_named(&store, &roots, &name)?.state.spec.loop_id.clone())
    });
    shared.lookout().live().subscribe(&named.await?, params.on);
    Ok(SubscribeResult { subscribed: params.on })
}
