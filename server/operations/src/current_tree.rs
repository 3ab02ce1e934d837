//! Finds the work tree of the current folder and decides which loops work in it. A loop of another tree must be named
//! by its id: `rollback latest 0` must never change a project that the user is not in.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use loopkeeper_system::{config_files, work_trees};
use loopkeeper_text::tr;

use super::failure::Failure;

/// The folder in which a command was run, a real path.
pub fn current_folder() -> Result<PathBuf, Failure> {
    Path::new(".").canonicalize().map_err(|error| {
        let fact = match error.kind() {
            ErrorKind::NotFound => tr!("the current folder no longer exists").to_owned(),
            _ => tr!("the current folder cannot be read: {error}", error),
        };
        Failure::usage(fact).hint(tr!("Change to a folder that exists, then try again."))
    })
}

/// The place where a command was run.
#[derive(Debug, Clone)]
pub struct CurrentTree {
    /// The current folder, a real path.
    folder: PathBuf,
    root: PathBuf,
    /// A configuration or a repository makes the root a project; in other folders, subfolders are unrelated.
    is_project: bool,
}

impl CurrentTree {
    /// `None` if the current folder no longer exists.
    pub fn find() -> Option<Self> {
        Self::at(&std::env::current_dir().ok()?)
    }

    fn at(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let root = config_files::root_of(&folder).ok()?;
        let is_project = root.join("loopkeeper.toml").exists() || config_files::has_repository(&root);
        Some(Self { folder, root, is_project })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a loop that works in `root` works in this tree: here, in a folder around it, or in a nested root of the
    /// same repository.
    pub fn contains_root(&self, root: &Path) -> bool {
        if self.folder.starts_with(root) {
            return !folders_between(root, &self.folder).any(work_trees::is_linked);
        }
        let is_nested = self.is_project && root.starts_with(&self.root);
        is_nested && !folders_between(&self.root, root).any(config_files::has_repository)
    }
}

/// The folders below `top` down to `folder`.
fn folders_between<'a>(top: &'a Path, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
    folder.ancestors().take_while(move |it| *it != top)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::CurrentTree;

    #[test]
    fn a_tree_holds_its_nested_roots_and_no_other_project() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().canonicalize().unwrap().join(path);
        for folder in ["repo/.git", "repo/src/deep", "repo/package", "repo/own/.git", "empty", "plain/below"]
        {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for repository in ["repo", "repo/own"] {
            fs::write(at(repository).join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        for (folder, kind) in [("repo/trees/x", "worktrees/x"), ("repo/module", "modules/module")] {
            fs::create_dir_all(at(folder)).unwrap();
            let git_dir = at("repo/.git").join(kind);
            fs::write(at(folder).join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        }
        fs::write(at("repo/package/loopkeeper.toml"), "").unwrap();
        let check = |folder: &str, root: &str, expect: bool| {
            let current = CurrentTree::at(&at(folder)).unwrap();
            assert_eq!(current.contains_root(&at(root)), expect, "in {folder}, a loop of {root}");
        };
        check("repo", "repo", true);
        check("repo/src/deep", "repo", true);
        check("repo/package", "repo", true);
        check("repo", "repo/package", true);
        check("repo/src", "repo/package", true);
        check("repo/module", "repo", true);
        // Separate projects.
        check("repo", "repo/own", false);
        check("repo", "repo/trees/x", false);
        check("repo/trees/x", "repo", false);
        check("repo/trees/x", "repo/trees/x", true);
        check("empty", "repo", false);
        check("repo", "empty", false);
        // A folder that is no project contains only itself.
        check("plain", "plain", true);
        check("plain/below", "plain", true);
        check("", "repo", false);
        check("", "plain", false);
    }
}
