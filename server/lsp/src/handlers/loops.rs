//! `loopkeeper/loops`: lists the loops of the opened folders, or all loops of this user.

use std::sync::Arc;

use tower_lsp::jsonrpc::Result;

use crate::commands::{CommandRefusal, run_blocking};
use crate::ext::{LoopsParams, LoopsResult};
use crate::publisher::status;
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::loops::{self, LoopListing};
use loopkeeper_system::state_dir::StateDir;

pub(crate) async fn handle(shared: &Arc<ServerState>, params: LoopsParams) -> Result<LoopsResult> {
    if params.all {
        let read = || -> std::result::Result<_, CommandRefusal> {
            let store = StateDir::open().map_err(Failure::from)?;
            let mut listing = LoopListing::default();
            loops::for_each_newest_first(&store, drop, |it| listing.add(it, |it| it.status()))?;
            Ok(listing.in_order())
        };
        return Ok(LoopsResult { loops: run_blocking(read).await? });
    }
    let snapshot = shared.index().wait_until_ready().await;
    Ok(LoopsResult { loops: snapshot.loops.iter().map(|it| status::of_loop(shared, it)).collect() })
}
