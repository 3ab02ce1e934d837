//! Commands for loops of Claude Code's plugin, which are named by their state files.

use std::path::PathBuf;
use std::sync::Arc;

use lsp_types::Url;

use super::{CommandOutcome, CommandRefusal, run_blocking};
use crate::documents::canonical_parent_path;
use crate::ext::{CommandResult, ImportArgs};
use crate::session::ServerState;
use crate::virtual_documents;
use loopkeeper_operations::foreign;

/// Converts the loop to a task, and cancels it.
pub(super) async fn import(shared: &Arc<ServerState>, args: ImportArgs) -> CommandOutcome {
    let path = state_file_path(shared, &args.file)
        .ok_or_else(|| CommandRefusal::bad_argument("`file` is not a file URI of an opened folder"))?;
    let document = run_blocking(move || {
        let taken = foreign::open(&path)?.take_over()?;
        match taken.trouble {
            None => Ok(taken.document),
            Some(trouble) => Err(CommandRefusal::internal_error(format_args!(
                "{} was written, and the loop continues in its own session: {trouble}",
                taken.document.display()
            ))),
        }
    })
    .await?;
    let uri = virtual_documents::uri(&document);
    virtual_documents::open_page(shared, &uri);
    Ok(CommandResult { uri: Some(uri), ..CommandResult::default() })
}

/// `None` if `loop_id` is not one of these loops.
pub(super) async fn stop(shared: &Arc<ServerState>, loop_id: &str) -> Option<CommandOutcome> {
    let path = state_file_path(shared, loop_id)?;
    let stopped = run_blocking(move || Ok(foreign::open(&path)?.cancel()?)).await;
    Some(stopped.map(|()| CommandResult::default()))
}

/// Accepts only files below the opened folders, because a client may forward a URI from any source.
fn state_file_path(shared: &ServerState, uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok().filter(|it| it.scheme() == "file")?;
    let path = canonical_parent_path(&url.to_file_path().ok()?);
    shared.index().snapshot().roots.iter().any(|it| path.starts_with(it)).then_some(path)
}
