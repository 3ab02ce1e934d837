//! A plan changed as its user asks for: which documents it is read from, and the file written where no editor holds
//! it. What is changed is decided by the core.

use std::path::Path;

use loopkeeper_core::decide::Phase;
use loopkeeper_core::task::edit::{self, Change, Refused, Wish};
use loopkeeper_core::task::{Criterion, Document, TaskId, read};

use super::failure::{Failure, Kind};
use super::loops::Seen;
use crate::adapters::state_dir::StateDir;
use crate::adapters::task_files;

/// The task's files as they are now.
pub(crate) fn documents(root: &Path, id: &TaskId) -> Result<Vec<Document>, Failure> {
    Ok(task_files::load(root, &task_files::named(root, &id.0))?.documents)
}

pub(crate) fn change(documents: &[Document], item: &str, wish: Wish) -> Result<Change, Failure> {
    Ok(edit::change(documents, item, wish)?)
}

/// Writes what `change` makes of one of the documents it was made from.
pub(crate) fn write(root: &Path, change: &Change, from: &[Document]) -> Result<(), Failure> {
    let before = from.iter().find(|it| it.path == change.file).map_or("", |it| it.text.as_str());
    Ok(task_files::replace(root, &root.join(&change.file), (before, &change.after))?)
}

/// The loop that works on the task right now.
pub(crate) fn loop_of(root: &Path, id: &TaskId) -> Option<Seen> {
    let store = StateDir::open().ok()?;
    let (holder, _) = store.tree_holder(root).ok()??;
    let seen = Seen::read(&store, store.find(&holder).ok()?).ok()??;
    (seen.is_alive() && seen.state.spec.task == *id).then_some(seen)
}

/// Criteria that change while the agent works count as changed by it, and are not taken up. Order does not matter.
pub(crate) fn refuse_in_iteration(
    (root, id): (&Path, &TaskId),
    documents: &[Document],
    (item, wish): (&str, Wish),
) -> Result<(), Failure> {
    let asks = |it: &Criterion| it.plan_item.as_deref() == Some(item) && it.check.is_some();
    if wish != Wish::Skip || !read(documents).criteria.iter().any(asks) {
        return Ok(());
    }
    let is_in_iteration =
        |it: &Seen| matches!(it.state.phase, Phase::Iterating { .. } | Phase::Closing | Phase::Checking);
    match loop_of(root, id).filter(is_in_iteration) {
        None => Ok(()),
        Some(seen) => Err(Failure::conflict(format_args!(
            "the agent is at work: checks that change now would count as changed by it. Hint: `loopkeeper pause \
             {}`, and skip the item when the iteration is over",
            seen.dir.id()
        ))),
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unknown(what) => Self::new(Kind::Usage, what),
            Refused::Conflict(what) => Self::new(Kind::Conflict, what),
        }
    }
}
