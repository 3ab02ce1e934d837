//! The user's prompt template: read from the snapshot before the iteration, unless the agent changed it. Otherwise a
//! copy in the loop's folder is used.

use loopkeeper_text::tr_later;
use std::path::Path;

use loopkeeper_core::decide::{LoopState, weakening};
use loopkeeper_core::journal::SnapshotWhen;
use loopkeeper_core::prompt::{MAX_TEMPLATE_BYTES, PromptTemplate};

use super::KeeperError;
use super::loop_context::LoopContext;
use loopkeeper_system::snapshots::SnapshotStore;
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_system::{durable, template_file};

const COPY: &str = "template.md";

/// Saves the copy for a new loop.
pub(super) fn save_copy(dir: &LoopDir, root: &Path, path: Option<&str>) -> Result<(), KeeperError> {
    let Some(path) = path else { return Ok(()) };
    let copy = dir.path().join(COPY);
    let text = template_file::read(root, path).map_err(|error| {
        KeeperError::io(tr_later!("read"), Path::new(path))(std::io::Error::other(error.to_string()))
    })?;
    durable::replace_file(&copy, text.as_bytes()).map_err(KeeperError::io(tr_later!("write"), &copy))
}

/// Reads the template for the next iteration.
pub(super) fn read(context: &LoopContext, state: &LoopState) -> Option<PromptTemplate> {
    let path = state.spec.settings.prompt_template.as_deref()?;
    let copy = context.dir.path().join(COPY);
    // Without its copy the prompt has its usual form: an empty template would leave nothing of it.
    let kept = std::fs::read_to_string(&copy)
        .inspect_err(|error| tracing::warn!("the copy of the template of the prompt cannot be read: {error}"))
        .ok();
    let parse_kept = || PromptTemplate::parse(kept.as_ref()?).ok();
    // The next prompt asks the agent to restore the file, like any protected file.
    let is_changed_by_agent = weakening::current_weakenings(state).any(|it| it.path == path);
    let now = if is_changed_by_agent { None } else { in_snapshot(context, state, path) };
    let Some(now) = now.filter(|it| Some(it) != kept.as_ref()) else { return parse_kept() };
    match PromptTemplate::parse(&now) {
        Ok(template) => {
            if let Err(error) = durable::replace_file(&copy, now.as_bytes()) {
                tracing::warn!("the template of the prompt could not be kept: {error}");
            }
            Some(template)
        }
        Err(fault) => {
            tracing::warn!("{path}:{}: {}; the template of before is used", fault.line, fault.message);
            parse_kept()
        }
    }
}

/// `None`: no snapshot covers the file, so the author of its content is unknown.
fn in_snapshot(context: &LoopContext, state: &LoopState, path: &str) -> Option<String> {
    // Right after an iteration the content may be the agent's and has to be judged first.
    let tree = state.tree.snapshots.last().filter(|it| it.when == SnapshotWhen::Before)?.tree;
    let file = |store: &mut SnapshotStore| Ok(store.file(tree, path, MAX_TEMPLATE_BYTES)?);
    String::from_utf8(context.runtime.with_store_now(file).ok().flatten()?).ok()
}
