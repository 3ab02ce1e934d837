//! Applies a user's edit of the plan (skip, prioritize) on disk if no editor has the document open. The core computes
//! the edit.

use std::path::Path;
use std::sync::Arc;

use loopkeeper_core::journal::RestrictedCommand;
use loopkeeper_task::edit::{self, DocumentEdit, PlanEdit, PlanEditError};
use loopkeeper_task::{TaskDocument, TaskId};

use super::failure::{Failure, FailureKind};
use super::{authority, notify_saved};
use loopkeeper_system::task_files;

/// Only the user changes a plan this way, so the change is not the agent's work.
pub fn ensure_user(edit: PlanEdit) -> Result<(), Failure> {
    authority::ensure_user_here(match edit {
        PlanEdit::Skip => RestrictedCommand::Skip,
        PlanEdit::Raise(_) => RestrictedCommand::Prioritize,
    })
}

/// The task's files as they are now.
pub fn documents(root: &Path, id: &TaskId) -> Result<Vec<TaskDocument>, Failure> {
    let loaded = task_files::load(root, &task_files::task_at(root, &id.0))?;
    Ok(Arc::unwrap_or_clone(loaded.documents))
}

pub fn change(documents: &[TaskDocument], item: &str, edit: PlanEdit) -> Result<DocumentEdit, Failure> {
    Ok(edit::compute_edit(documents, item, edit)?)
}

/// Writes the result of `change` to one of the documents it was computed from; a running loop is notified of the
/// author.
pub fn write(
    (root, id): (&Path, &TaskId),
    change: &DocumentEdit,
    from: &[TaskDocument],
) -> Result<(), Failure> {
    let before = from.iter().find(|it| it.path == change.file).map_or("", |it| it.text.as_str());
    notify_saved::notify_keeper(root, id, &change.file, &change.after)?;
    Ok(task_files::replace(root, &root.join(&change.file), (before, &change.after))?)
}

impl From<PlanEditError> for Failure {
    fn from(refused: PlanEditError) -> Self {
        match refused {
            PlanEditError::Unknown(what) => Self::from_message(FailureKind::Usage, what),
            PlanEditError::Conflict(what) => Self::from_message(FailureKind::Conflict, what),
        }
    }
}
