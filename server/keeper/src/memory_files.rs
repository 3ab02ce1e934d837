//! Reads the project's memory files (`progress.txt`, `AGENTS.md`) for the next prompt. Never writes them.

use std::path::{Path, PathBuf};

use loopkeeper_core::journal::LoopSpec;
use loopkeeper_core::prompt::{MemoryFiles, patterns_section};
use loopkeeper_text::sanitize;

use loopkeeper_system::task_files::{self, DiscoveredTask};

const PROGRESS: [&str; 3] = ["progress.txt", "progress.md", ".ralph/progress.md"];
const AGENTS: &str = "AGENTS.md";
/// Limit of a progress file; the relevant part is at its beginning.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads the files next to the task and in the root. Unreadable files and files outside the root are skipped.
pub(super) fn read(spec: &LoopSpec, task: Option<&DiscoveredTask>) -> MemoryFiles {
    let root = Path::new(&spec.root);
    let mut notes = MemoryFiles::default();
    let folders = folders(spec);
    for name in PROGRESS {
        for (path, text) in folders.iter().filter_map(|folder| read_beginning(root, &folder.join(name))) {
            let found = sanitize::text(patterns_section(&text));
            if !found.is_empty() {
                notes.patterns.push((path.clone(), found));
            }
            notes.progress.push(path);
        }
    }
    let agents = folders.iter().filter_map(|folder| read_beginning(root, &folder.join(AGENTS)));
    notes.agents = agents.map(|(path, _)| path).collect();
    if notes.progress.is_empty() {
        notes.missing =
            task.and_then(find_prd).and_then(|it| Some(display_path(root, &it.parent()?.join(PROGRESS[0]))));
    }
    notes
}

/// The task's own folder, then the root.
fn folders(spec: &LoopSpec) -> Vec<PathBuf> {
    let root = PathBuf::from(&spec.root);
    let task_folder = root.join(&spec.task.0).parent().map(Path::to_owned);
    let own = task_folder.filter(|it| spec.inline_prompt.is_none() && *it != root);
    own.into_iter().chain([root]).collect()
}

/// The task's `prd.json`: projects that use one keep a progress file next to it.
fn find_prd(task: &DiscoveredTask) -> Option<&PathBuf> {
    let mut files = std::iter::once(&task.path).chain(&task.plans);
    files.find(|it| it.extension().is_some_and(|it| it == "json") && it.is_file())
}

/// The file's path for display, and the beginning of its text.
fn read_beginning(root: &Path, path: &Path) -> Option<(String, String)> {
    // Most projects have none of them: one lookup instead of one for every folder on the way.
    path.symlink_metadata().ok()?;
    let text = task_files::read_beginning(root, path, MAX_BYTES).ok()?;
    Some((display_path(root, path), text))
}

fn display_path(root: &Path, path: &Path) -> String {
    sanitize::line(&path.strip_prefix(root).unwrap_or(path).to_string_lossy())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::read_beginning;

    #[test]
    fn only_files_inside_the_root_are_read_and_only_their_beginning() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::write(root.join("real.txt"), "x".repeat(100_000)).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), root.join("progress.txt")).unwrap();
        std::os::unix::fs::symlink("real.txt", root.join("progress.md")).unwrap();
        fs::create_dir(root.join("AGENTS.md")).unwrap();
        let length = |name: &str| read_beginning(root, &root.join(name)).map(|(_, text)| text.len());
        assert_eq!(length("progress.txt"), None);
        assert_eq!(length("progress.md"), Some(64 * 1024));
        assert_eq!(length("AGENTS.md"), None);
        assert_eq!(length("nothing"), None);
    }
}
