//! `receipt`: what a loop verified, as a Markdown page outside every work tree, opened in the editor.

use std::path::PathBuf;
use std::sync::Arc;

use super::{CommandOutcome, run_blocking, target};
use crate::ext::{CommandResult, LoopArgs};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::receipt;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_view::receipt::markdown;

pub(super) async fn receipt(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    let (page, loop_id) = run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let seen = target::find_loop(&store, &roots, &args.loop_id)?;
        let (_, workspace, _) = StateDir::of_loop(seen.dir.path()).map_err(Failure::from)?;
        let receipt = receipt::of_loop(&workspace, &seen.dir)?;
        let pages = VirtualDocuments::of(workspace.root())?;
        let name = format!("receipt-{}.md", receipt.loop_id);
        let page = pages.write_page(&name, markdown(&receipt).as_bytes())?;
        Ok((page, receipt.loop_id))
    })
    .await?;
    let uri = virtual_documents::uri(&page);
    virtual_documents::open_page(shared, &uri);
    Ok(CommandResult { uri: Some(uri), loop_id: Some(loop_id), ..CommandResult::default() })
}
