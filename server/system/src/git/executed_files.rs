//! Hooks of git, settings that name programs for git to execute, and which startup files the home folder has. No
//! snapshot contains them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_core::autorun::git_config_programs;
use loopkeeper_text::digest;

use crate::regular_file::read_linked;
use crate::repository_layout::{common_dir, repository_top};
use crate::sandbox::STARTUP;

/// A folder with more hooks is compared in part.
const MAX_HOOKS: usize = 200;
/// Hooks of more submodules are not looked for.
const MAX_MODULES: usize = 200;
/// Slashes in the name of a submodule.
const MODULE_DEPTH: u32 = 5;

/// The folders of hooks of the repository and of its submodules.
pub fn hook_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(git) = common_dir(root) {
        found.push(git.join("hooks"));
        find_modules(&git.join("modules"), MODULE_DEPTH, &mut found);
    }
    found
}

/// The name of a submodule may contain slashes, and a submodule others.
fn find_modules(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if found.len() >= MAX_MODULES || !entry.file_type().is_ok_and(|it| it.is_dir()) {
            continue;
        }
        if path.join("HEAD").is_file() {
            found.push(path.join("hooks"));
            find_modules(&path.join("modules"), depth, found);
        } else if depth > 0 {
            find_modules(&path, depth - 1, found);
        }
    }
}

/// Hashes of hooks and configuration, by path below the repository; startup files without a hash, by path below `~`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecutedFiles(BTreeMap<String, String>);

impl ExecutedFiles {
    /// The files as they are now; of git none outside of a repository.
    pub fn read(root: &Path, home: Option<&Path>) -> Self {
        let mut files = Self::read_git(root);
        files.extend(home.into_iter().flat_map(|home| startup_files(home, root)));
        Self(files)
    }

    fn read_git(root: &Path) -> BTreeMap<String, String> {
        // Opening the repository would cost more than the rest of a snapshot.
        let git = repository_top(root).and_then(|top| common_dir(&top));
        let Some(git) = git else { return BTreeMap::new() };
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
        files
    }

    /// Files that are new or different in `self`. A removed file executes nothing.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let is_changed = |(path, hash): &(&String, &String)| before.0.get(*path) != Some(*hash);
        self.0.iter().filter(is_changed).map(|(path, _)| path.clone()).collect()
    }
}

/// The sandbox keeps those that exist when a job starts from changes, so the names suffice. One in the work tree is work.
fn startup_files(home: &Path, root: &Path) -> impl Iterator<Item = (String, String)> {
    let is_there = move |path: &Path| fs::symlink_metadata(path).is_ok() && !path.starts_with(root);
    let there = STARTUP.iter().filter(move |it| is_there(&home.join(it)));
    there.map(|it| (format!("~/{it}"), String::new()))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

#[cfg(test)]
mod tests {
    use super::{ExecutedFiles, hook_folders};
    use std::fs;

    #[test]
    fn hooks_and_configuration_are_compared() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(ExecutedFiles::read(root.path(), None), ExecutedFiles::default());
        git2::Repository::init(root.path()).unwrap();
        let git = root.path().join(".git");
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("hooks/pre-push"), "#!/bin/sh\n").unwrap();
        let before = ExecutedFiles::read(root.path(), None);
        let config = fs::read_to_string(git.join("config")).unwrap();
        fs::write(git.join("config"), format!("{config}[user]\n\tname = A\n")).unwrap();
        assert!(ExecutedFiles::read(root.path(), None).changed_since(&before).is_empty());
        fs::write(git.join("hooks/pre-commit.sample"), "x").unwrap();
        fs::write(git.join("hooks/post-checkout"), "x").unwrap();
        fs::write(git.join("config"), "[core]\n\thooksPath = /tmp/x\n").unwrap();
        fs::remove_file(git.join("hooks/pre-push")).unwrap();
        let after = ExecutedFiles::read(root.path(), None);
        assert_eq!(after.changed_since(&before), [".git/config", ".git/hooks/post-checkout"]);
    }

    #[test]
    fn hooks_of_submodules_are_found() {
        let root = tempfile::tempdir().unwrap();
        git2::Repository::init(root.path()).unwrap();
        let modules = root.path().join(".git/modules");
        for module in ["lib", "vendor/deep", "lib/modules/inner"] {
            git2::Repository::init_bare(modules.join(module)).unwrap();
        }
        let mut found = hook_folders(root.path());
        found.sort();
        let names = [
            ".git/hooks",
            ".git/modules/lib/hooks",
            ".git/modules/lib/modules/inner/hooks",
            ".git/modules/vendor/deep/hooks",
        ];
        assert_eq!(found, names.map(|it| root.path().join(it)));
    }

    #[test]
    fn new_startup_files_of_the_user_are_found() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("project");
        fs::create_dir(&root).unwrap();
        fs::write(home.path().join(".bashrc"), "").unwrap();
        let read = |root: &std::path::Path| ExecutedFiles::read(root, Some(home.path()));
        let (before, of_home) = (read(&root), read(home.path()));
        fs::write(home.path().join(".bashrc"), "changed").unwrap();
        fs::write(home.path().join(".bash_profile"), "").unwrap();
        fs::create_dir_all(home.path().join(".config/autostart")).unwrap();
        assert_eq!(read(&root).changed_since(&before), ["~/.bash_profile", "~/.config/autostart"]);
        assert!(read(home.path()).changed_since(&of_home).is_empty(), "the home folder is the work tree");
    }

    #[test]
    fn a_pipe_in_place_of_a_hook_does_not_block() {
        let root = tempfile::tempdir().unwrap();
        git2::Repository::init(root.path()).unwrap();
        let before = ExecutedFiles::read(root.path(), None);
        let hooks = root.path().join(".git/hooks");
        fs::create_dir_all(&hooks).unwrap();
        let pipe = hooks.join("pre-commit");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(ExecutedFiles::read(root.path(), None).changed_since(&before), [".git/hooks/pre-commit"]);
    }
}
