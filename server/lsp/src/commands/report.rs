//! `report`: the page about a loop, a self-contained HTML file.

use std::sync::Arc;

use super::CommandOutcome;
use super::loop_page::{LoopPage, write_loop_page};
use crate::ext::{CommandResult, LoopArgs};
use crate::session::ServerState;
use crate::virtual_documents;
use loopkeeper_view::report::{html, report};

/// Clients of loopkeeper show the page themselves; for others it opens in the browser.
pub(super) async fn report_page(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    let page = write_loop_page(shared, args.loop_id, ("report", "html"), |loop_view, _| {
        Ok(html(&report(&loop_view.state, &loop_view.status())))
    });
    let LoopPage { uri, loop_id } = page.await?;
    if !shared.session().has_extensions() {
        virtual_documents::open_in_browser(shared, &uri);
    }
    Ok(CommandResult { uri: Some(uri), loop_id: Some(loop_id), ..CommandResult::default() })
}
