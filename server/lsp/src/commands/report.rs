//! `report`: the page about a loop, a self-contained HTML file outside every work tree.

use std::path::PathBuf;
use std::sync::Arc;

use super::{CommandOutcome, run_blocking, target};
use crate::ext::{CommandResult, LoopArgs};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations::failure::Failure;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_view::report::{html, report};

/// Clients of loopkeeper show the page themselves; for others it opens in the browser.
pub(super) async fn report_page(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    let (page, loop_id) = run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let seen = target::find_loop(&store, &roots, &args.loop_id)?;
        let (_, workspace, _) = StateDir::of_loop(seen.dir.path()).map_err(Failure::from)?;
        let pages = VirtualDocuments::of(workspace.root())?;
        let id = seen.dir.id().to_owned();
        let text = html(&report(&seen.state, &seen.status()));
        Ok((pages.write_page(&format!("report-{id}.html"), text.as_bytes())?, id))
    })
    .await?;
    let uri = virtual_documents::uri(&page);
    if !shared.session().knows_us() {
        virtual_documents::open_in_browser(shared, &uri);
    }
    Ok(CommandResult { uri: Some(uri), loop_id: Some(loop_id), ..CommandResult::default() })
}
