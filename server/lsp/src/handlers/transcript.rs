//! `loopkeeper/transcript`: the events of a loop since a position, as text for a terminal.

use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;

use crate::commands::{loop_named, run_blocking};
use crate::ext::{TranscriptParams, TranscriptResult};
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::transcript;
use loopkeeper_system::state_dir::StateDir;

pub(crate) async fn handle(shared: &Arc<ServerState>, params: TranscriptParams) -> Result<TranscriptResult> {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    let result = run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let loop_view = loop_named(&store, &roots, &params.loop_id)?;
        // The end is known before the text is read, so that nothing after the text is missed.
        let ended = !loop_view.is_open();
        let read = transcript::read(&loop_view.dir, params.after)?;
        Ok(TranscriptResult {
            loop_id: loop_view.dir.id().to_owned(),
            text: read.text,
            cursor: read.cursor,
            ended,
        })
    });
    Ok(result.await?)
}
