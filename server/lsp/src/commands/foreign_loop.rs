//! Commands for loops of Claude Code's plugin, which are named by their state files, and for texts that become tasks.

use std::path::PathBuf;
use std::sync::Arc;

use lsp_types::Url;

use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::documents::{canonical_parent_path, file_path};
use crate::ext::{CommandResult, ImportArgs};
use crate::session::ServerState;
use crate::virtual_documents;
use loopkeeper_operations::foreign;
use loopkeeper_operations::import::ImportedText;
use loopkeeper_text::tr;

/// Makes a task of a loop of the plugin, or shows one that a text describes.
pub(super) async fn import(shared: &Arc<ServerState>, args: ImportArgs) -> CommandOutcome {
    match args {
        ImportArgs { text: Some(text), folder, .. } => propose(shared, text, folder.as_deref()).await,
        ImportArgs { file: Some(file), .. } => take_over(shared, &file).await,
        ImportArgs { .. } => Err(CommandRefusal::bad_argument(tr!("`import` needs `file` or `text`"))),
    }
}

/// The task of a text, for the client to show: the user decides whether and where it is saved.
async fn propose(shared: &Arc<ServerState>, text: String, folder: Option<&str>) -> CommandOutcome {
    let folder = target::opened_folder(shared, folder).await?;
    let (document, path) = run_blocking(move || {
        let imported = ImportedText::of(&folder, None, &text)?;
        Ok((imported.document().to_owned(), imported.path()))
    })
    .await?;
    Ok(CommandResult {
        uri: Some(virtual_documents::uri(&path)),
        document: Some(document),
        ..CommandResult::default()
    })
}

/// Converts the loop to a task, and cancels it.
async fn take_over(shared: &Arc<ServerState>, file: &str) -> CommandOutcome {
    let path = state_file_path(shared, file)
        .ok_or_else(|| CommandRefusal::bad_argument(tr!("`file` takes a file URI in an opened folder")))?;
    let document = run_blocking(move || {
        let taken = foreign::open(&path)?.take_over()?;
        match taken.problem {
            None => Ok(taken.document),
            Some(problem) => {
                let file = taken.document.display();
                let fact = tr!(
                    "{file} was written, but the loop continues in its own session: {problem}",
                    file,
                    problem
                );
                Err(CommandRefusal::internal_error(fact))
            }
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
    let path = canonical_parent_path(&file_path(&Url::parse(uri).ok()?)?);
    shared.index().snapshot().roots.iter().any(|it| path.starts_with(it)).then_some(path)
}
