//! `receipt`: the facts that a loop verified, as a Markdown page that is opened in the editor.

use std::sync::Arc;

use super::CommandOutcome;
use super::loop_page::{LoopPage, write_loop_page};
use crate::ext::{CommandResult, LoopArgs};
use crate::session::ServerState;
use crate::virtual_documents;
use loopkeeper_operations::receipt;
use loopkeeper_view::receipt::markdown;

pub(super) async fn receipt(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    let page = write_loop_page(shared, args.loop_id, ("receipt", "md"), |loop_view, workspace| {
        Ok(markdown(&receipt::of_loop(workspace, &loop_view.dir)?))
    });
    let LoopPage { uri, loop_id } = page.await?;
    virtual_documents::open_page(shared, &uri);
    Ok(CommandResult { uri: Some(uri), loop_id: Some(loop_id), ..CommandResult::default() })
}
