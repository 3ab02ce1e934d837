//! `loopkeeper/loops`: of the opened folders, or all of this user.

use std::sync::Arc;

use tower_lsp::jsonrpc::Result;

use crate::adapters::state_dir::StateDir;
use crate::front::failure::Failure;
use crate::front::loops::{self, Seen};
use crate::lsp::commands::{Refusal, blocking};
use crate::lsp::ext::{LoopsParams, LoopsResult};
use crate::lsp::publisher::status;
use crate::lsp::shared::Shared;

pub(crate) async fn handle(shared: &Arc<Shared>, params: LoopsParams) -> Result<LoopsResult> {
    if params.all {
        let read = || -> std::result::Result<_, Refusal> {
            let store = StateDir::open().map_err(Failure::from)?;
            Ok(loops::in_order(loops::all(&store, drop)?).iter().map(Seen::status).collect())
        };
        return Ok(LoopsResult { loops: blocking(read).await? });
    }
    let picture = shared.lookout().looked().await;
    Ok(LoopsResult { loops: picture.loops.iter().map(|it| status::of_loop(shared, it)).collect() })
}
