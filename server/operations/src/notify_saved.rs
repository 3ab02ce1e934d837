//! Notifies a running loop of a document that the user saved, so that the change is not attributed to the agent.

use std::path::Path;

use loopkeeper_task::TaskId;
use loopkeeper_text::digest::sha256;
use serde_json::json;

use super::control_client;
use super::failure::Failure;
use super::loops::{self, LoopView};
use loopkeeper_system::state_dir::StateDir;

/// `text` is, or is about to be, the complete text of a document of the task.
pub fn notify_keeper(root: &Path, id: &TaskId, file: &str, text: &str) -> Result<(), Failure> {
    let Some(loop_view) = loops::find_running(root, id).filter(LoopView::is_in_iteration) else {
        return Ok(());
    };
    let request = json!({"do": "saved", "what": file, "text": sha256(text.as_bytes())});
    control_client::send(&StateDir::open()?, loop_view.dir.id(), request)
}
