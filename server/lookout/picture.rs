//! What is known at one moment, as plain data. Shared freely; nothing in it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::check::CheckResult;
use loopkeeper_core::decide::Loop;
use loopkeeper_core::sanitize;
use loopkeeper_core::task::{CriterionId, Document, Task, TaskId};
use loopkeeper_core::view::{CriteriaStatus, LoopStatus, State, unjudged};

use crate::adapters::state_dir::workspace::LoopDir;
use crate::front::foreign::Found;

/// Everything below the opened folders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Picture {
    /// Real paths.
    pub(crate) roots: Vec<PathBuf>,
    /// Most specific first, root by root.
    pub(crate) tasks: Vec<Arc<TaskSeen>>,
    /// Needs you, working, paused, then the last that ended.
    pub(crate) loops: Vec<Arc<LoopSeen>>,
    pub(crate) configs: Vec<Arc<ConfigSeen>>,
    /// Loops of Claude Code's plugin, at most one a root.
    pub(crate) foreign: Vec<Found>,
    /// The editor's own trust.
    pub(crate) trusted: bool,
    /// What keeps this from being whole.
    pub(crate) trouble: Option<Trouble>,
    /// The number of the last nudge that it answers.
    pub(crate) answers: u64,
    /// The first look is over.
    pub(crate) looked: bool,
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Of some file below the folders: the rest is whole.
    Files(String),
    /// Of the state folder: loops and results may be missing, and nothing can be started.
    State(String),
}

/// One task: its documents as the editor shows them, its results, its loop.
#[derive(Debug, Clone)]
pub(crate) struct TaskSeen {
    pub(crate) root: PathBuf,
    pub(crate) id: TaskId,
    /// File URI of the document it is named by.
    pub(crate) uri: String,
    pub(crate) path: PathBuf,
    pub(crate) title: String,
    /// Read from `documents`.
    pub(crate) task: Arc<Task>,
    /// Of a document that is open in the editor the text it shows.
    pub(crate) documents: Arc<Vec<Document>>,
    /// Of each document the text that the editor shows; the same allocation is the same text.
    pub(crate) texts: Vec<Option<Arc<str>>>,
    /// A document of it is open.
    pub(crate) live: bool,
    /// The latest result of each criterion.
    pub(crate) results: BTreeMap<CriterionId, Held>,
    /// Its open loop, else its latest.
    pub(crate) last_loop: Option<Arc<LoopSeen>>,
    /// A round of checks without a loop is running.
    pub(crate) checking: bool,
    /// What nobody trusts yet.
    pub(crate) unknown: Arc<Unknown>,
}

/// One result, and where everything lies that the check printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    pub(crate) result: CheckResult,
    pub(crate) output: Option<String>,
    /// Of the round that found it.
    pub(crate) tree: String,
    /// The tree is another one by now.
    pub(crate) stale: bool,
}

/// Commands of a task that nobody said yes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Unknown {
    pub(crate) count: usize,
    pub(crate) criteria: BTreeSet<CriterionId>,
}

/// One loop as its journal and its lock show it.
#[derive(Debug, Clone)]
pub(crate) struct LoopSeen {
    pub(crate) dir: LoopDir,
    pub(crate) state: Loop,
    pub(crate) status: LoopStatus,
    pub(crate) damage: Option<String>,
}

/// One `loopkeeper.toml` as the editor shows it.
#[derive(Debug, Clone)]
pub(crate) struct ConfigSeen {
    pub(crate) path: PathBuf,
    pub(crate) text: Arc<str>,
}

impl Picture {
    /// The task that `path` is a document of.
    pub(crate) fn task_with(&self, path: &Path) -> Option<&Arc<TaskSeen>> {
        let named = |it: &&Arc<TaskSeen>| it.path == path;
        let holds = |it: &&Arc<TaskSeen>| it.documents.iter().any(|doc| it.root.join(&doc.path) == path);
        self.tasks.iter().find(named).or_else(|| self.tasks.iter().find(holds))
    }

    pub(crate) fn loop_with(&self, id: &str) -> Option<&Arc<LoopSeen>> {
        self.loops.iter().find(|it| it.status.id == id)
    }
}

impl TaskSeen {
    /// Its id, with what a file's name can hide made visible: clients show it, and name the task by it.
    pub(crate) fn shown_id(&self) -> String {
        sanitize::visible(&self.id.0)
    }

    pub(crate) fn state(&self) -> State {
        self.last_loop.as_ref().map_or(State::Idle, |it| it.status.state)
    }

    /// Where it stands by the latest results: its loop's own account while that is open.
    pub(crate) fn criteria(&self) -> CriteriaStatus {
        match &self.last_loop {
            Some(it) if it.state.outcome.is_none() => it.status.criteria.clone(),
            _ => {
                let results: Vec<CheckResult> = self.results.values().map(|it| it.result.clone()).collect();
                let mut criteria = unjudged(&self.task.criteria, &results);
                for item in &mut criteria.items {
                    item.stale = self.results.get(&item.id).is_some_and(|it| it.stale);
                }
                criteria
            }
        }
    }
}
