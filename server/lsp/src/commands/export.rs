//! `export`: everything of a loop in one archive, in the folder of the generated pages, outside every work tree.

use std::path::PathBuf;
use std::sync::Arc;

use lsp_types::MessageType;

use super::{CommandOutcome, run_blocking, target};
use crate::ext::{CommandResult, LoopArgs};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations::export;
use loopkeeper_operations::failure::Failure;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_text::tr;

pub(super) async fn export(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    let (path, loop_id, done) = run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let dir = match store.find(&args.loop_id) {
            Ok(dir) => dir,
            Err(_) => target::find_loop(&store, &roots, &args.loop_id)?.dir,
        };
        let path = VirtualDocuments::of(dir.root())?.prepare_path(&export::name(dir.id()))?;
        let done = export::export(&store, &dir, &path)?;
        Ok((path, dir.id().to_owned(), done))
    })
    .await?;
    let summary = tr!(
        "Exported loop {loop_id} to {path} (removed: {removed}). Check it before you share it.",
        loop_id,
        path = path.display(),
        removed = export::describe_redactions(done.found)
    );
    let reporter = Arc::clone(shared);
    tokio::spawn(async move { reporter.client.show_message(MessageType::INFO, summary).await });
    let uri = Some(virtual_documents::uri(&path));
    Ok(CommandResult { uri, loop_id: Some(loop_id), ..CommandResult::default() })
}
