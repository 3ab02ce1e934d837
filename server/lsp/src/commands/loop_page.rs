//! Writes a page about a loop outside every work tree.

use std::path::PathBuf;
use std::sync::Arc;

use super::{CommandRefusal, run_blocking, target};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::Workspace;

/// A page in its file.
pub(super) struct LoopPage {
    pub(super) uri: String,
    pub(super) loop_id: String,
}

/// Writes the text that `page` returns for the loop as `KIND-LOOP.EXTENSION`.
pub(super) async fn write_loop_page(
    shared: &Arc<ServerState>,
    loop_id: String,
    (kind, extension): (&'static str, &'static str),
    page: impl FnOnce(&LoopView, &Workspace) -> Result<String, Failure> + Send + 'static,
) -> Result<LoopPage, CommandRefusal> {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let loop_view = target::find_loop(&store, &roots, &loop_id)?;
        let (_, workspace, _) = StateDir::of_loop(loop_view.dir.path()).map_err(Failure::from)?;
        let pages = VirtualDocuments::of(workspace.root())?;
        let id = loop_view.dir.id().to_owned();
        let text = page(&loop_view, &workspace)?;
        let path = pages.write_page(&format!("{kind}-{id}.{extension}"), text.as_bytes())?;
        Ok(LoopPage { uri: virtual_documents::uri(&path), loop_id: id })
    })
    .await
}
