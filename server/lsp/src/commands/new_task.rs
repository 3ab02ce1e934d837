//! `newTask`: returns a task document for one sentence. The client shows it, and the user decides whether it is saved.

use std::sync::Arc;

use super::{CommandOutcome, run_blocking, target};
use crate::ext::{CommandResult, NewTaskArgs};
use crate::session::ServerState;
use crate::virtual_documents;
use loopkeeper_operations::new_task::ProposedTask;
use loopkeeper_task::work_product::WorkProduct;

/// Reads manifests and runs nothing, so it needs no trust.
pub(super) async fn propose(shared: &Arc<ServerState>, args: NewTaskArgs) -> CommandOutcome {
    let folder = target::opened_folder(shared, Some(&args.folder)).await?;
    let (document, path) = run_blocking(move || {
        let product = args.kind.unwrap_or_else(|| WorkProduct::of_sentence(&args.sentence));
        let proposed = ProposedTask::of(&folder, &args.sentence, product)?;
        Ok((proposed.document().to_owned(), proposed.path()))
    })
    .await?;
    Ok(CommandResult {
        uri: Some(virtual_documents::uri(&path)),
        document: Some(document),
        ..CommandResult::default()
    })
}
