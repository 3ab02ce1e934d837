//! Finds leftovers of abandoned attempts beside a task: two lock files, two test runners, two configurations of one
//! tool.

use std::path::Path;

use loopkeeper_core::strays::{DuplicateConfiguration, present_configurations};
use loopkeeper_core::tamper::FileVersions;
use loopkeeper_system::task_files;

/// The leftovers in the root and in the folder of the task. Packages of a monorepo, which have their own, are not
/// searched.
pub fn leftovers(root: &Path, task: &str) -> Vec<DuplicateConfiguration> {
    let folder = task.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folders = std::iter::once("").chain((!folder.is_empty()).then_some(folder));
    folders.flat_map(|it| present_configurations(it, &RootFiles(root))).collect()
}

/// The files of a root as they are, without earlier versions.
struct RootFiles<'a>(&'a Path);

impl FileVersions for RootFiles<'_> {
    fn read_before(&self, _: &str) -> Option<String> {
        None
    }

    fn read_after(&self, path: &str) -> Option<String> {
        let bytes = task_files::read(self.0, &self.0.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn exists(&self, path: &str) -> bool {
        self.0.join(path).is_file()
    }
}
