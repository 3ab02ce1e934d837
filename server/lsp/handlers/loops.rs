//! `loopkeeper/loops`: of the opened folders, or all of this user.

use std::sync::Arc;

use tower_lsp::jsonrpc::Result;

use crate::adapters::state_dir::StateDir;
use crate::lsp::commands::{CommandRefusal, run_blocking};
use crate::lsp::ext::{LoopsParams, LoopsResult};
use crate::lsp::publisher::status;
use crate::lsp::session::ServerState;
use crate::operations::failure::Failure;
use crate::operations::loops::{self, LoopView};

pub(crate) async fn handle(shared: &Arc<ServerState>, params: LoopsParams) -> Result<LoopsResult> {
    if params.all {
        let read = || -> std::result::Result<_, CommandRefusal> {
            let store = StateDir::open().map_err(Failure::from)?;
            Ok(loops::in_order(loops::read_all(&store, drop)?).iter().map(LoopView::status).collect())
        };
        return Ok(LoopsResult { loops: run_blocking(read).await? });
    }
    let picture = shared.lookout().wait_until_ready().await;
    Ok(LoopsResult { loops: picture.loops.iter().map(|it| status::of_loop(shared, it)).collect() })
}
