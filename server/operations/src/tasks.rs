//! The tasks of the current work tree, for listings. Reads documents only; runs nothing.

use std::path::Path;

use loopkeeper_task::kind_of;
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
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
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
    let holds_task = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .filter_map(|it| it.file_name().into_string().ok())
            .any(|it| kind_of(&it).is_some_and(|kind| !kind.is_gates()))
    };
    root.join("loopkeeper.toml").exists()
        || config_files::has_repository(root)
        || holds_task(root)
        || holds_task(&root.join(".ralph"))
}

fn summary(root: &Path, found: &task_files::DiscoveredTask) -> TaskSummary {
    let (task, trouble) = match task_files::load(root, found) {
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
        trouble,
    }
}
