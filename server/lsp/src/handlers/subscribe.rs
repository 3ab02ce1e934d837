//! `loopkeeper/subscribe`: subscribes to the output of a loop's agent and checks.

use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;

use crate::commands::{loop_named, run_blocking};
use crate::ext::{SubscribeParams, SubscribeResult};
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_system::state_dir::StateDir;

/// An ended loop produces no more output.
pub(crate) async fn handle(shared: &Arc<ServerState>, params: &SubscribeParams) -> Result<SubscribeResult> {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    let named = params.loop_id.clone();
    let loop_view = run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let loop_view = loop_named(&store, &roots, &named)?;
        Ok((loop_view.dir.id().to_owned(), loop_view.is_open()))
    });
    let (id, is_open) = loop_view.await?;
    let subscribed = params.on && is_open;
    let live = shared.index().live_feed();
    if subscribed {
        live.subscribe(&id);
    } else {
        live.unsubscribe(&id);
    }
    Ok(SubscribeResult { subscribed })
}
