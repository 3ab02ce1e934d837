//! `skip`, `prioritize`: the user's changes of a plan. A document that is open is changed in the editor, so that
//! unsaved edits are kept; any other in the file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loopkeeper_task::edit::{DocumentEdit, PlanEdit};
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;
use lsp_types::TextEdit;

use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::documents::Document;
use crate::ext::{CommandResult, PrioritizeArgs, RefusalCode, SkipArgs};
use crate::session::ServerState;
use crate::to_proto;
use crate::virtual_documents;
use loopkeeper_operations::plan_edit;

/// How long the editor may take to apply an edit.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn skip(shared: &Arc<ServerState>, args: SkipArgs) -> CommandOutcome {
    edit_plan(shared, &args.task, args.item, PlanEdit::Skip).await
}

pub(super) async fn prioritize(shared: &Arc<ServerState>, args: PrioritizeArgs) -> CommandOutcome {
    edit_plan(shared, &args.task, args.item, PlanEdit::Raise(args.by)).await
}

async fn edit_plan(shared: &Arc<ServerState>, task: &str, item: String, edit: PlanEdit) -> CommandOutcome {
    let task = target::task(shared, task).await?;
    let (root, id) = (task.root.clone(), task.id.clone());
    let can_edit = can_apply_edits(shared);
    // If the client cannot apply edits, an open document without unsaved changes is changed on disk.
    let mut open = shared.documents.all();
    open.retain(|it| can_edit || it.is_dirty());
    let shown = move |path: &Path| open.iter().find(|it| is_at(it, path)).cloned();
    let (change, open) = run_blocking(move || {
        plan_edit::ensure_user(edit)?;
        let mut documents = plan_edit::documents(&root, &id)?;
        for it in &mut documents {
            if let Some(open) = shown(&root.join(&it.path)) {
                it.text = open.text.to_string();
            }
        }
        let change = plan_edit::change(&documents, &item, edit)?;
        let open = shown(&root.join(&change.file));
        if open.is_none() {
            plan_edit::write((&root, &id), &change, &documents)?;
        }
        Ok((change, open))
    })
    .await?;
    let uri = match &open {
        Some(open) if can_edit => apply_change(shared, open, &change).await?,
        Some(open) => return Err(unsaved_refusal(open)),
        None => virtual_documents::uri(&task.root.join(&change.file)),
    };
    Ok(CommandResult { uri: Some(uri), saved: Some(open.is_none()), ..CommandResult::default() })
}

fn is_at(document: &Document, path: &Path) -> bool {
    document.path.as_deref() == Some(path)
}

fn can_apply_edits(shared: &ServerState) -> bool {
    shared.session().client.workspace.as_ref().and_then(|it| it.apply_edit) == Some(true)
}

fn unsaved_refusal(open: &Document) -> CommandRefusal {
    let mut refusal = CommandRefusal::new(
        RefusalCode::Unsaved,
        Message::new(tr!("the plan has unsaved changes, and this editor does not let a server edit it"))
            .with_hint(tr!("save the plan first")),
    );
    refusal.data.uri = Some(open.uri.to_string());
    refusal
}

/// Applies the change as if the user had typed it, only to exactly the text that it was computed for.
async fn apply_change(
    shared: &Arc<ServerState>,
    open: &Document,
    change: &DocumentEdit,
) -> Result<String, CommandRefusal> {
    let range = open.lines.range(&open.text, &change.range, shared.session().encoding);
    let edit = TextEdit { range, new_text: change.text.clone() };
    let edit = to_proto::edit_of(open, &shared.session().client, vec![edit]);
    let now = shared.documents.get(&open.uri).map(|it| it.version);
    if now != Some(open.version) {
        return Err(CommandRefusal::internal_error(
            Message::new(tr!("the plan was edited at the same time")).with_hint(tr!("try again")),
        ));
    }
    match tokio::time::timeout(TIMEOUT, shared.client.apply_edit(edit)).await {
        Ok(Ok(answer)) if answer.applied => Ok(open.uri.to_string()),
        Ok(Ok(answer)) => {
            let fact = match answer.failure_reason {
                Some(reason) => tr!("the editor did not change the plan: {reason}", reason),
                None => tr!("the editor did not change the plan").to_owned(),
            };
            Err(CommandRefusal::internal_error(Message::new(fact).with_hint(tr!("try again"))))
        }
        Ok(Err(_)) | Err(_) => {
            Err(CommandRefusal::internal_error(tr!("the editor did not confirm the change of the plan")))
        }
    }
}
