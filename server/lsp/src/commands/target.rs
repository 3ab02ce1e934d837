//! Resolves the `task` and `loopId` arguments of commands.

use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_text::message::Message;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;
use lsp_types::Url;

use super::CommandRefusal;
use crate::documents::{canonical_parent_path, file_path};
use crate::ext::RefusalCode;
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_workspace::snapshot::TaskSnapshot;
use loopkeeper_workspace::{Invalidation, WorkspaceSnapshot};

/// The task that a URI or an id names, including one that was created a moment ago.
pub(super) async fn task(shared: &ServerState, named: &str) -> Result<Arc<TaskSnapshot>, CommandRefusal> {
    if let Some(found) = find_task(&shared.index().snapshot(), named)? {
        return Ok(found);
    }
    let snapshot = shared.index().refresh(Invalidation::ALL).await;
    find_task(&snapshot, named)?.ok_or_else(|| {
        let name = sanitize::line(named);
        CommandRefusal::no_task(tr!("there is no task {name} in the opened folders", name))
    })
}

fn find_task(snapshot: &WorkspaceSnapshot, named: &str) -> Result<Option<Arc<TaskSnapshot>>, CommandRefusal> {
    if let Some(path) = canonical_path(named) {
        return Ok(snapshot.task_with(&path).cloned());
    }
    let mut found = snapshot.tasks.iter().filter(|it| it.id.0 == named || it.shown_id() == named);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => {
            let fact = tr!("several opened folders have a task {task}", task = sanitize::line(named));
            Err(CommandRefusal::no_task(Message::new(fact).with_hint(tr!("name it by its URI"))))
        }
        (one, _) => Ok(one.cloned()),
    }
}

/// The folder that a URI names, if it is opened or below one that is; else the first that is opened.
pub(super) async fn opened_folder(
    shared: &ServerState,
    folder: Option<&str>,
) -> Result<PathBuf, CommandRefusal> {
    let roots = shared.index().wait_until_ready().await.roots.clone();
    let path = folder.and_then(|it| file_path(&Url::parse(it).ok()?)?.canonicalize().ok());
    let is_opened = |it: &PathBuf| it.is_dir() && roots.iter().any(|root| it.starts_with(root));
    let folder = path.filter(is_opened).or_else(|| roots.first().cloned());
    folder.ok_or_else(|| CommandRefusal::bad_argument(tr!("no folder is open")))
}

/// The canonical path, so that symbolic links in it make no difference.
fn canonical_path(uri: &str) -> Option<PathBuf> {
    Some(canonical_parent_path(&file_path(&Url::parse(uri).ok()?)?))
}

/// Rejects commands that run saved files only while the editor has unsaved changes.
pub(super) fn refuse_unsaved(task: &TaskSnapshot, shared: &ServerState) -> Result<(), CommandRefusal> {
    let documents: Vec<PathBuf> = task.documents.iter().map(|it| task.root.join(&it.path)).collect();
    let dirty = shared.documents.all().into_iter().filter(|it| it.is_dirty()).find_map(|it| {
        let path = it.path.clone()?;
        let mine =
            documents.contains(&path) || path.ends_with("loopkeeper.toml") && path.starts_with(&task.root);
        mine.then(|| it.uri.clone())
    });
    let Some(uri) = dirty else { return Ok(()) };
    let mut refusal = CommandRefusal::new(
        RefusalCode::Unsaved,
        Message::new(tr!("the task has unsaved changes"))
            .with_hint(tr!("save it first: the saved file is what runs")),
    );
    refusal.data.uri = Some(uri.to_string());
    Err(refusal)
}

/// The loop that an id, a unique prefix or `latest` (in the opened folders) names.
pub(crate) fn find_loop(
    store: &StateDir,
    roots: &[PathBuf],
    loop_id: &str,
) -> Result<LoopView, CommandRefusal> {
    let dir = if loop_id == "latest" {
        let loops = store.loops().map_err(Failure::from)?;
        loops.into_iter().rfind(|it| roots.iter().any(|root| root == it.root())).ok_or_else(|| {
            let fact = tr!("no loop was started in the opened folders");
            CommandRefusal::bad_argument(Message::new(fact).with_hint(tr!("name the loop by its id")))
        })?
    } else {
        store.find(loop_id).map_err(Failure::from)?
    };
    let id = dir.id().to_owned();
    LoopView::read(store, dir)?
        .ok_or_else(|| CommandRefusal::internal_error(tr!("loop {id} is still starting", id)))
}
