//! What the `task` and `loopId` of a command mean.

use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_core::sanitize;
use lsp_types::Url;

use super::Refusal;
use crate::adapters::state_dir::StateDir;
use crate::front::loops::Seen;
use crate::lookout::Nudge;
use crate::lookout::picture::TaskSeen;
use crate::lsp::ext::RefusalCode;
use crate::lsp::shared::{Shared, real};

/// The task that a URI or an id names: also one that was made a moment ago.
pub(super) async fn task(shared: &Shared, named: &str) -> Result<Arc<TaskSeen>, Refusal> {
    let look = |picture: &crate::lookout::Picture| find(picture, named);
    if let Some(found) = look(&shared.lookout().picture())? {
        return Ok(found);
    }
    let picture = shared.lookout().fresh(Nudge::ALL).await;
    look(&picture)?.ok_or_else(|| {
        Refusal::no_task(format_args!("there is no task {} in the opened folders", sanitize::line(named)))
    })
}

fn find(picture: &crate::lookout::Picture, named: &str) -> Result<Option<Arc<TaskSeen>>, Refusal> {
    if let Some(path) = path_of(named) {
        return Ok(picture.task_with(&path).cloned());
    }
    let mut found = picture.tasks.iter().filter(|it| it.id.0 == named || it.shown_id() == named);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(Refusal::no_task(format_args!(
            "{} is a task in several folders: name it by its URI",
            sanitize::line(named)
        ))),
        (one, _) => Ok(one.cloned()),
    }
}

/// Real, so that links on the way make no difference.
fn path_of(uri: &str) -> Option<PathBuf> {
    let path = Url::parse(uri).ok().filter(|it| it.scheme() == "file")?.to_file_path().ok()?;
    Some(real(&path))
}

/// Refuses what runs only saved files while the editor shows others.
pub(super) fn refuse_unsaved(task: &TaskSeen, shared: &Shared) -> Result<(), Refusal> {
    let documents: Vec<PathBuf> = task.documents.iter().map(|it| task.root.join(&it.path)).collect();
    let dirty = shared.documents.all().into_iter().filter(|it| it.is_dirty()).find_map(|it| {
        let path = it.path.clone()?;
        let mine =
            documents.contains(&path) || path.ends_with("loopkeeper.toml") && path.starts_with(&task.root);
        mine.then(|| it.uri.clone())
    });
    let Some(uri) = dirty else { return Ok(()) };
    let mut refusal = Refusal::new(
        RefusalCode::Unsaved,
        "the task has changes that are not saved: save it first, what runs is the saved file",
    );
    refusal.data.uri = Some(uri.to_string());
    Err(refusal)
}

/// The loop that an id, a unique prefix or `latest` (of the opened folders) names.
pub(crate) fn seen(store: &StateDir, roots: &[PathBuf], loop_id: &str) -> Result<Seen, Refusal> {
    let dir = if loop_id == "latest" {
        let here = |root: &PathBuf| roots.contains(root);
        let loops = store.loops().map_err(crate::front::failure::Failure::from)?;
        loops.into_iter().rfind(|it| here(&it.root().to_owned())).ok_or_else(|| {
            Refusal::bad_argument("no loop has worked in the opened folders: name it by its id")
        })?
    } else {
        store.find(loop_id).map_err(crate::front::failure::Failure::from)?
    };
    let id = dir.id().to_owned();
    Seen::read(store, dir)?.ok_or_else(|| Refusal::broken(format_args!("loop {id} is just being started")))
}
