//! Lists the tasks of the current work tree. Reads documents only; runs nothing.

use std::path::Path;

use loopkeeper_task::{DocumentKind, PlanItem, kind_of};
use loopkeeper_text::sanitize;
use serde::Serialize;

use super::failure::Failure;
use loopkeeper_system::{config_files, task_files};

/// One task as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskSummary {
    /// Path of its document, relative to the root.
    pub id: String,
    pub title: String,
    pub required: usize,
    pub optional: usize,
    /// Items of its plan that are done, and all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanCount>,
    /// Why it cannot be read.
    #[serde(rename = "trouble", skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PlanCount {
    pub done: usize,
    pub total: usize,
}

impl PlanCount {
    fn of(plan: &[PlanItem]) -> Option<Self> {
        let done = plan.iter().filter(|it| it.done).count();
        (!plan.is_empty()).then_some(Self { done, total: plan.len() })
    }
}

/// The tasks below the root of the current folder. A folder that is no project has none, so that listing tasks in a
/// home folder does not search all of it.
pub fn list_tasks() -> Result<Vec<TaskSummary>, Failure> {
    let root = config_files::root_of(Path::new("."))?;
    if !is_project(&root) {
        return Ok(Vec::new());
    }
    let resolved = config_files::load(&root, &[])?;
    let settings = resolved.settings()?;
    let found = task_files::discover(&root, &settings.task_exclude, &settings.task_files)?;
    Ok(found.iter().map(|it| summary(&root, it)).collect())
}

fn is_project(root: &Path) -> bool {
    const FOLDERS: [&str; 10] = [
        "",
        ".ralph",
        ".opencode",
        "scripts/ralph",
        ".agents/tasks",
        ".beads",
        "docs/plans",
        "plans",
        "prd",
        "tasks",
    ];
    const TASK_FOLDER_PARENTS: [&str; 3] = ["ralphs", "specs", ".kiro/specs"];
    /// Where monorepos have their packages.
    const PACKAGES: [&str; 4] = ["packages", "apps", "services", "crates"];
    let is_task = |path: &Path| {
        let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        // `CLAUDE.md`, `PLAN.md` and `TODO.md` are in home folders too.
        let is_common = |it| {
            use DocumentKind::{BoxPlan, StoryPrompt, TaskPrompt, TodoPlan};
            matches!(it, StoryPrompt | BoxPlan | TodoPlan | TaskPrompt)
        };
        kind_of(&below).is_some_and(|it| !it.is_gates() && !is_common(it) && task_files::has_marker(path, it))
    };
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let holds_task = |folder: &Path| entries(folder).any(|it| is_task(&it.path()));
    root.join("loopkeeper.toml").exists()
        || config_files::has_repository(root)
        || root.join(".ralphex/config").exists()
        || FOLDERS.iter().any(|it| holds_task(&root.join(it)))
        // Each task of these is in a folder of its own.
        || TASK_FOLDER_PARENTS.iter().flat_map(|it| entries(&root.join(it))).any(|it| holds_task(&it.path()))
        || PACKAGES.iter().flat_map(|it| entries(&root.join(it))).any(|it| {
            holds_task(&it.path()) || holds_task(&it.path().join(".ralph"))
        })
}

fn summary(root: &Path, found: &task_files::DiscoveredTask) -> TaskSummary {
    let (task, problem) = match task_files::load(root, found) {
        Ok(loaded) => (Some(loaded.task), None),
        Err(error) => (None, Some(sanitize::line(&error.to_string()))),
    };
    let criteria = task.as_ref().map_or(&[][..], |it| it.criteria.as_slice());
    let required = criteria.iter().filter(|it| it.required).count();
    TaskSummary {
        id: sanitize::line(&found.id.0),
        title: task.as_ref().map(|it| sanitize::line(&it.title)).unwrap_or_default(),
        required,
        optional: criteria.len() - required,
        plan: task.as_ref().and_then(|it| PlanCount::of(&it.plan)),
        problem,
    }
}
