//! Hooks of git, and settings that name programs for git to execute. No snapshot contains them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use loopkeeper_core::autorun::git_config_programs;
use loopkeeper_text::digest;

use crate::regular_file::read_linked;
use crate::repository_layout::{common_dir, repository_top};

/// A folder with more hooks is compared in part.
const MAX_HOOKS: usize = 200;

/// Hashes of hooks and configuration, by path below the repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecutedFiles(BTreeMap<String, String>);

impl ExecutedFiles {
    /// The files as they are now; none outside of a repository.
    pub fn read(root: &Path) -> Self {
        // Opening the repository would cost more than the rest of a snapshot.
        let git = repository_top(root).and_then(|top| common_dir(&top));
        let Some(git) = git else { return Self::default() };
        let mut files = BTreeMap::new();
        let mut add = |path: &Path, name: String| {
            // A file that cannot be read counts by its name.
            let bytes = read_linked(path).unwrap_or_default();
            files.insert(format!(".git/{name}"), digest::sha256(&bytes));
        };
        let hooks = fs::read_dir(git.join("hooks")).into_iter().flatten().flatten();
        let mut hooks: Vec<_> = hooks.map(|it| it.path()).filter(|it| !has_extension(it, "sample")).collect();
        hooks.sort();
        for hook in hooks.iter().take(MAX_HOOKS) {
            let name = hook.file_name().unwrap_or_default().to_string_lossy();
            add(hook, format!("hooks/{name}"));
        }
        for name in ["config", "config.worktree"] {
            if let Some(bytes) = read_linked(&git.join(name)) {
                let programs = git_config_programs(&String::from_utf8_lossy(&bytes));
                files.insert(format!(".git/{name}"), digest::sha256(programs.as_bytes()));
            }
        }
        Self(files)
    }

    /// Files that are new or different in `self`. A removed file executes nothing.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let is_changed = |(path, hash): &(&String, &String)| before.0.get(*path) != Some(*hash);
        self.0.iter().filter(is_changed).map(|(path, _)| path.clone()).collect()
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

#[cfg(test)]
mod tests {
    use super::ExecutedFiles;
    use std::fs;

    #[test]
    fn hooks_and_configuration_are_compared() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(ExecutedFiles::read(root.path()), ExecutedFiles::default());
        git2::Repository::init(root.path()).unwrap();
        let git = root.path().join(".git");
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("hooks/pre-push"), "#!/bin/sh\n").unwrap();
        let before = ExecutedFiles::read(root.path());
        let config = fs::read_to_string(git.join("config")).unwrap();
        fs::write(git.join("config"), format!("{config}[user]\n\tname = A\n")).unwrap();
        assert!(ExecutedFiles::read(root.path()).changed_since(&before).is_empty());
        fs::write(git.join("hooks/pre-commit.sample"), "x").unwrap();
        fs::write(git.join("hooks/post-checkout"), "x").unwrap();
        fs::write(git.join("config"), "[core]\n\thooksPath = /tmp/x\n").unwrap();
        fs::remove_file(git.join("hooks/pre-push")).unwrap();
        let after = ExecutedFiles::read(root.path());
        assert_eq!(after.changed_since(&before), [".git/config", ".git/hooks/post-checkout"]);
    }

    #[test]
    fn a_pipe_in_place_of_a_hook_does_not_block() {
        let root = tempfile::tempdir().unwrap();
        git2::Repository::init(root.path()).unwrap();
        let before = ExecutedFiles::read(root.path());
        let hooks = root.path().join(".git/hooks");
        fs::create_dir_all(&hooks).unwrap();
        let pipe = hooks.join("pre-commit");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(ExecutedFiles::read(root.path()).changed_since(&before), [".git/hooks/pre-commit"]);
    }
}
