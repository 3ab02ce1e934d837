//! `initialized`: from now on the client accepts notifications and requests. Starts the index and the publisher.

use std::sync::Arc;

use lsp_types::{DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, Registration};
use serde_json::json;

use crate::publisher;
use crate::session::ServerState;

/// Task documents and configuration, wherever they are; the server's own watches cover only known folders.
const WATCHED_GLOBS: [&str; 19] = [
    "**/PROMPT.md",
    "**/PROMPT_build.md",
    "**/RALPH.md",
    "**/RALPH_TASK.md",
    "**/*.ralph.md",
    "**/scripts/ralph/prompt.md",
    "**/prd.json",
    "**/{feature_list.json,feature-list.json,.beads/issues.jsonl,.beads/beads.jsonl}",
    "**/prd/*.md",
    "**/.agents/tasks/prd*.json",
    "**/.ralph/{tasks.json,queue.jsonc,queue.json,config.jsonc,ralph-loop.state.json,ralph-tasks.md}",
    "**/{.ralphy/config.yaml,.ralph.toml,ralph.yml,CHECK.md,CONTEXT.md,INSTRUCTION.md,PRD.md}",
    "**/{tasks.yaml,tasks.yml,tasks.json,PRD.json,PROGRESS.md,SYSTEM_PROMPT.md,CLAUDE.md,prompt.md}",
    "**/{fix_plan,@fix_plan,IMPLEMENTATION_PLAN}.md",
    "**/{TASK,TODO}.md",
    "**/specs/*/tasks.md",
    "**/loopkeeper.toml",
    "**/.ralphrc",
    "**/.claude/{ralph-loop,.ralph-loop}.local.md",
];

pub(crate) fn handle(shared: &Arc<ServerState>) {
    tokio::spawn(publisher::publish(Arc::clone(shared)));
    let workspace = shared.session().client.workspace.as_ref();
    let watches = workspace.and_then(|it| it.did_change_watched_files.as_ref());
    if watches.and_then(|it| it.dynamic_registration) == Some(true) {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { drop(shared.client.register_capability(vec![registration()]).await) });
    }
}

fn registration() -> Registration {
    let watcher =
        |glob: &str| FileSystemWatcher { glob_pattern: GlobPattern::String(glob.to_owned()), kind: None };
    let options = DidChangeWatchedFilesRegistrationOptions {
        watchers: WATCHED_GLOBS.into_iter().map(watcher).collect(),
    };
    Registration {
        id: "loopkeeper-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!(options)),
    }
}
