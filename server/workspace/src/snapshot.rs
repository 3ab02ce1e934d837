//! An immutable snapshot of the workspace: plain data, shared by reference.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::LoopState;
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
    /// Most specific first, root by root.
    pub tasks: Vec<Arc<TaskSnapshot>>,
    /// Needs you, working, paused, then the last that ended.
    pub loops: Vec<Arc<LoopSnapshot>>,
    pub configs: Vec<Arc<ConfigSnapshot>>,
    /// Loops of Claude Code's plugin, at most one a root.
    pub foreign: Vec<PluginLoopFile>,
    /// The editor's own trust.
    pub trusted: bool,
    /// First error that makes this snapshot incomplete.
    pub trouble: Option<WorkspaceProblem>,
    /// The number of the last invalidation that it answers.
    pub answers: u64,
    /// The first look is over.
    pub looked: bool,
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceProblem {
    /// Of some file below the folders: the rest is whole.
    Files(String),
    /// Of the state folder: loops and results may be missing, and nothing can be started.
    State(String),
}

/// One task: its documents as the editor shows them, its results, its loop.
#[derive(Debug, Clone)]
pub struct TaskSnapshot {
    pub root: PathBuf,
    pub id: TaskId,
    /// File URI of the document it is named by.
    pub uri: String,
    pub path: PathBuf,
    pub title: String,
    /// Read from `documents`.
    pub task: Arc<Task>,
    /// Of a document that is open in the editor the text it shows.
    pub documents: Arc<Vec<TaskDocument>>,
    /// Of each document the text that the editor shows; the same allocation is the same text.
    pub texts: Vec<Option<Arc<str>>>,
    /// A document of it is open.
    pub live: bool,
    /// The latest result of each criterion.
    pub results: BTreeMap<CriterionId, StoredResult>,
    /// Its open loop, else its latest.
    pub last_loop: Option<Arc<LoopSnapshot>>,
    /// A round of checks without a loop is running.
    pub checking: bool,
    /// What nobody trusts yet.
    pub unknown: Arc<UntrustedCommands>,
}

/// One result, and where everything lies that the check printed.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredResult {
    pub result: CheckResult,
    pub output: Option<String>,
    /// Of the round that found it.
    pub tree: String,
    /// The tree is another one by now.
    pub stale: bool,
}

/// Commands of a task that nobody said yes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UntrustedCommands {
    pub count: usize,
    pub criteria: BTreeSet<CriterionId>,
}

/// One loop as its journal and its lock show it.
#[derive(Debug, Clone)]
pub struct LoopSnapshot {
    pub dir: LoopDir,
    pub state: LoopState,
    pub status: LoopStatus,
    pub damage: Option<String>,
}

/// One `loopkeeper.toml` as the editor shows it.
#[derive(Debug, Clone)]
pub struct ConfigSnapshot {
    pub path: PathBuf,
    pub text: Arc<str>,
}

impl WorkspaceSnapshot {
    /// The task that `path` is a document of.
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
    /// Its id, with what a file's name can hide made visible: clients show it, and name the task by it.
    pub fn shown_id(&self) -> String {
        sanitize::visible(&self.id.0)
    }

    pub fn state(&self) -> DisplayState {
        self.last_loop.as_ref().map_or(DisplayState::Idle, |it| it.status.state)
    }

    /// Where it stands by the latest results: its loop's own account while that is open.
    pub fn criteria(&self) -> CriteriaStatus {
        match &self.last_loop {
            Some(it) if it.state.outcome.is_none() => it.status.criteria.clone(),
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
