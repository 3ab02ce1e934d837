//! Finds other work trees of the same repository below a root (`git worktree add .claude/worktrees/x`). Each is a
//! separate tree with its own loops, so no walk of the root enters them. Only reads files, without git. Submodules and
//! nested repositories are part of the root's tree.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use super::repository_layout;

/// The folder with git's data of linked work trees.
const WORK_TREES_FOLDER: &str = "worktrees";

/// Recognises the other work trees of the repository that contains `root`.
#[derive(Debug)]
pub struct OtherWorkTrees<'a> {
    root: &'a Path,
    /// The real git directory that the work trees share; looked up when the first folder with a `.git` is found.
    shared: OnceCell<Option<PathBuf>>,
}

impl<'a> OtherWorkTrees<'a> {
    pub fn new(root: &'a Path) -> Self {
        Self { root, shared: OnceCell::new() }
    }

    /// Whether `folder`, which is not the root, is the top of another work tree.
    pub fn holds(&self, folder: &Path) -> bool {
        let Some(git_dirs) = linked_from(folder) else { return false };
        let shared = git_dirs.parent().and_then(|it| it.canonicalize().ok());
        shared.is_some_and(|it| self.common_dir() == Some(&it))
    }

    /// Their paths relative to the root, sorted, as far as git still lists them.
    pub fn paths(&self) -> Vec<String> {
        let Some(shared) = self.common_dir() else { return Vec::new() };
        let listed = fs::read_dir(shared.join(WORK_TREES_FOLDER)).into_iter().flatten().flatten();
        let mut paths: Vec<String> = listed
            .filter_map(|entry| {
                let top = repository_layout::work_tree_of(&entry.path())?.canonicalize().ok()?;
                let below = top.strip_prefix(self.root).ok().filter(|it| !it.as_os_str().is_empty())?;
                self.holds(&top).then(|| below.to_string_lossy().into_owned())
            })
            .collect();
        paths.sort();
        paths
    }

    fn common_dir(&self) -> Option<&PathBuf> {
        let read_links = || {
            repository_layout::common_dir(&repository_layout::repository_top(self.root)?)?.canonicalize().ok()
        };
        self.shared.get_or_init(read_links).as_ref()
    }
}

/// Whether the folder was created by `git worktree add`, of any repository.
pub fn is_linked(folder: &Path) -> bool {
    linked_from(folder).is_some()
}

/// The folder in the repository for its linked work trees.
fn linked_from(folder: &Path) -> Option<PathBuf> {
    let git_dir = repository_layout::linked_git_dir(folder)?;
    git_dir.parent().filter(|it| it.ends_with(WORK_TREES_FOLDER)).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests;
