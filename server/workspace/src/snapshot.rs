//! An immutable snapshot of the workspace: plain data, shared by reference.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::settings::LayerKind;
use loopkeeper_core::strays::DuplicateConfiguration;
use loopkeeper_lint::LintCache;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_task::{Task, TaskDocument, TaskId};
use loopkeeper_text::sanitize;
use loopkeeper_view::{CriteriaStatus, DisplayState, LoopStatus, criteria_without_loop};

use loopkeeper_operations::foreign::PluginLoopFile;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Everything below the opened folders.
#[derive(Debug, Clone, Default)]
pub struct WorkspaceSnapshot {
    /// Real paths.
    pub roots: Vec<PathBuf>,
    /// Sorted by root, then by specificity, most specific first.
    pub tasks: Vec<Arc<TaskSnapshot>>,
    /// Order: needs the user, working, paused, then the last that ended.
    pub loops: Vec<Arc<LoopSnapshot>>,
    pub configs: Vec<Arc<ConfigSnapshot>>,
    /// Loops of Claude Code's plugin, at most one per root.
    pub foreign: Vec<PluginLoopFile>,
    /// Whether the editor trusts the workspace.
    pub trusted: bool,
    /// First error that makes this snapshot incomplete.
    pub problem: Option<WorkspaceProblem>,
    /// The number of the last invalidation that it answers.
    pub answers: u64,
    /// The first update is complete.
    pub is_complete: bool,
}

/// The first problem found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceProblem {
    /// A file below the folders cannot be read; everything else is complete.
    Files(String),
    /// The state folder cannot be read: loops and results may be missing, and nothing can be started.
    State(String),
}

/// One task: its documents as open in the editor, its results, its loop.
#[derive(Debug, Clone)]
pub struct TaskSnapshot {
    pub root: PathBuf,
    pub id: TaskId,
    /// URI of its main document.
    pub uri: String,
    pub path: PathBuf,
    pub title: String,
    /// Parsed from `documents`.
    pub task: Arc<Task>,
    /// With the editor's text of each document that is open there.
    pub documents: Arc<Vec<TaskDocument>>,
    pub lints: LintCache,
    /// The editor's text of each document; the same allocation is the same text.
    pub texts: Vec<Option<Arc<str>>>,
    /// One of its documents is open.
    pub live: bool,
    /// The latest result of each criterion.
    pub results: BTreeMap<CriterionId, StoredResult>,
    /// Its open loop, else its latest.
    pub last_loop: Option<Arc<LoopSnapshot>>,
    /// A round of checks without a loop is running.
    pub checking: bool,
    /// Grows with every round of checks without a loop, for as long as this index exists.
    pub rounds: u64,
    /// Its untrusted commands.
    pub untrusted: Arc<UntrustedCommands>,
    /// Two configurations of one tool, as they were when the files were last read.
    pub leftovers: Arc<Vec<DuplicateConfiguration>>,
}

/// One result, and the paths of the check's complete output.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredResult {
    pub result: CheckResult,
    pub output: Option<String>,
    /// The tree of the round that produced it.
    pub tree: String,
    /// The tree has changed since.
    pub stale: bool,
}

/// Commands of a task that are not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UntrustedCommands {
    pub count: usize,
    pub criteria: BTreeSet<CriterionId>,
}

/// One loop according to its journal and its lock.
#[derive(Debug, Clone)]
pub struct LoopSnapshot {
    pub dir: LoopDir,
    pub state: Arc<LoopState>,
    pub status: LoopStatus,
    pub damage: Option<String>,
}

/// One `loopkeeper.toml` as open in the editor, or an open configuration of another tool.
#[derive(Debug, Clone)]
pub struct ConfigSnapshot {
    pub path: PathBuf,
    pub text: Arc<str>,
    /// Kind and name of another tool's configuration.
    pub other_tool: Option<(LayerKind, &'static str)>,
}

impl WorkspaceSnapshot {
    /// The task that contains the document `path`.
    pub fn task_with(&self, path: &Path) -> Option<&Arc<TaskSnapshot>> {
        let named = |it: &&Arc<TaskSnapshot>| it.path == path;
        let holds = |it: &&Arc<TaskSnapshot>| it.documents.iter().any(|doc| it.root.join(&doc.path) == path);
        self.tasks.iter().find(named).or_else(|| self.tasks.iter().find(holds))
    }

    pub fn loop_with(&self, id: &str) -> Option<&Arc<LoopSnapshot>> {
        self.loops.iter().find(|it| it.status.id == id)
    }
}

impl TaskSnapshot {
    /// Its id with hidden characters of file names made visible: clients show it and use it to name the task.
    pub fn shown_id(&self) -> String {
        sanitize::visible(&self.id.0)
    }

    pub fn state(&self) -> DisplayState {
        self.last_loop.as_ref().map_or(DisplayState::Idle, |it| it.status.state)
    }

    /// Status of its criteria by the latest results; while its loop is open, the loop's own account.
    pub fn criteria(&self) -> CriteriaStatus {
        match &self.last_loop {
            Some(it) if it.state.outcome().is_none() => it.status.criteria.clone(),
            _ => {
                let results: Vec<CheckResult> = self.results.values().map(|it| it.result.clone()).collect();
                let mut criteria = criteria_without_loop(&self.task.criteria, &results);
                for item in &mut criteria.items {
                    item.stale = self.results.get(&item.id).is_some_and(|it| it.stale);
                }
                criteria
            }
        }
    }
}
