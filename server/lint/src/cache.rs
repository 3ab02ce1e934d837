//! The lints and the grade of one parsed task, computed at the first use.

use std::sync::{Arc, OnceLock};

use loopkeeper_task::{Task, TaskDocument};

use crate::{Grade, Lint, grade, lints};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLints {
    pub lints: Vec<Lint>,
    pub grade: Grade,
}

impl TaskLints {
    pub fn of(task: &Task, documents: &[TaskDocument]) -> Self {
        let lints = lints(task, documents);
        let grade = grade(task, documents, &lints);
        Self { lints, grade }
    }
}

/// Belongs to one parsed task: a task that was parsed again needs a new cache. Clones share their content.
#[derive(Debug, Clone, Default)]
pub struct LintCache(Arc<OnceLock<TaskLints>>);

impl LintCache {
    /// `task` and `documents` are the same in every call.
    pub fn get_or_compute(&self, task: &Task, documents: &[TaskDocument]) -> &TaskLints {
        self.0.get_or_init(|| TaskLints::of(task, documents))
    }
}
