//! Records what programs execute outside of snapshots: hooks of git, settings that name programs for git, and the startup
//! files in the home folder.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use loopkeeper_core::autorun::git_config_programs;
use loopkeeper_text::digest;

use super::git_folders::{GitFolder, configured_hooks, find_all, find_own};
use crate::check_programs::hash_contents;
use crate::regular_file::{self, read_linked};
use crate::sandbox::STARTUP;

/// A folder with more hooks is compared in part.
const MAX_HOOKS: usize = 200;
/// A longer hook is compared by its beginning.
const MAX_HOOK_BYTES: u64 = 64 * 1024 * 1024;
const CONFIGURATIONS: [&str; 2] = ["config", "config.worktree"];
/// The user's own, below the home folder.
const USER_CONFIGURATIONS: [&str; 2] = [".gitconfig", ".config/git/config"];

/// The folders of hooks that no work on the tree changes: those of the repository, of its submodules, and those outside
/// the tree that a configuration names. Repositories inside the tree belong to the work, so theirs are only compared: a
/// program that removes one, such as a build that removes its folder, would fail on a mount point.
pub fn hook_folders(root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for GitFolder { path, top, .. } in find_own(root) {
        found.push(path.join("hooks"));
        let named = CONFIGURATIONS.iter().filter_map(|it| named_hooks(&path.join(it), top.as_deref(), home));
        found.extend(named.filter(|it| !it.starts_with(root)));
    }
    found.extend(user_hooks(home).filter(|it| !it.starts_with(root)));
    found
}

fn named_hooks(configuration: &Path, top: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    configured_hooks(&String::from_utf8_lossy(&read_linked(configuration)?), top, home)
}

fn user_hooks(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let configurations = home.into_iter().flat_map(|home| USER_CONFIGURATIONS.map(|it| home.join(it)));
    configurations.filter_map(move |it| named_hooks(&it, None, home))
}

/// Hashes of hooks and configuration, by path below the repository; startup files without a hash, by path below `~`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecutedFiles(BTreeMap<String, String>);

impl ExecutedFiles {
    /// Reads the files as they are now.
    pub fn read(root: &Path, home: Option<&Path>) -> Self {
        let mut files = Self::default();
        for folder in find_all(root) {
            files.add_folder(&folder, root, home);
        }
        for hooks in user_hooks(home) {
            files.add_hooks(&hooks, &shown_path(&hooks, root, home));
        }
        files.0.extend(home.into_iter().flat_map(|home| startup_files(home, root)));
        files
    }

    fn add_folder(&mut self, GitFolder { path, shown, top }: &GitFolder, root: &Path, home: Option<&Path>) {
        self.add_hooks(&path.join("hooks"), &format!("{shown}/hooks"));
        for name in CONFIGURATIONS {
            let Some(bytes) = read_linked(&path.join(name)) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            let programs = git_config_programs(&text);
            if !programs.is_empty() {
                self.0.insert(format!("{shown}/{name}"), digest::sha256(programs.as_bytes()));
            }
            if let Some(hooks) = configured_hooks(&text, top.as_deref(), home) {
                self.add_hooks(&hooks, &shown_path(&hooks, root, home));
            }
        }
    }

    fn add_hooks(&mut self, folder: &Path, shown: &str) {
        let hooks = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut hooks: Vec<_> = hooks.map(|it| it.path()).filter(|it| !has_extension(it, "sample")).collect();
        hooks.sort();
        for hook in hooks.iter().take(MAX_HOOKS) {
            let name = hook.file_name().unwrap_or_default().to_string_lossy();
            let hash = regular_file::open(hook).and_then(|it| hash_contents(it.take(MAX_HOOK_BYTES)));
            // A file that cannot be read counts by its name.
            self.0.insert(format!("{shown}/{name}"), hash.unwrap_or_default());
        }
    }

    /// Files that are new or different in `self`. A removed file executes nothing.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let is_changed = |(path, hash): &(&String, &String)| before.0.get(*path) != Some(*hash);
        self.0.iter().filter(is_changed).map(|(path, _)| path.clone()).collect()
    }
}

/// The sandbox prevents changes of those that exist when a job starts, so the names suffice. One in the work tree
/// belongs to the work.
fn startup_files(home: &Path, root: &Path) -> impl Iterator<Item = (String, String)> {
    let entries = entry_names(home);
    let may_exist =
        move |path: &&&str| entries.as_ref().is_none_or(|names| names.contains(first_component(path)));
    let is_there = move |path: &Path| fs::symlink_metadata(path).is_ok() && !path.starts_with(root);
    let existing = STARTUP.iter().filter(may_exist).filter(move |it| is_there(&home.join(it)));
    existing.map(|it| (format!("~/{it}"), String::new()))
}

/// One listing costs less than looking for every startup file, of which few exist. `None`: the folder cannot be listed.
fn entry_names(folder: &Path) -> Option<HashSet<OsString>> {
    fs::read_dir(folder).ok()?.map(|it| it.map(|it| it.file_name()).ok()).collect()
}

fn first_component(path: &str) -> &OsStr {
    OsStr::new(path.split('/').next().unwrap_or(path))
}

fn shown_path(path: &Path, root: &Path, home: Option<&Path>) -> String {
    let below = |folder: Option<&Path>, prefix: &str| {
        path.strip_prefix(folder?).ok().map(|it| format!("{prefix}{}", it.display()))
    };
    below(Some(root), "").or_else(|| below(home, "~/")).unwrap_or_else(|| path.display().to_string())
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
    fn a_change_of_a_large_hook_is_found() {
        let root = tempfile::tempdir().unwrap();
        git2::Repository::init(root.path()).unwrap();
        let hook = root.path().join(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        let mut program = vec![0; 2 * 1024 * 1024];
        fs::write(&hook, &program).unwrap();
        let before = ExecutedFiles::read(root.path(), None);
        *program.last_mut().unwrap() = 1;
        fs::write(&hook, &program).unwrap();
        assert_eq!(ExecutedFiles::read(root.path(), None).changed_since(&before), [".git/hooks/pre-commit"]);
    }

    #[test]
    fn hooks_of_submodules_are_found() {
        let root = tempfile::tempdir().unwrap();
        git2::Repository::init(root.path()).unwrap();
        let modules = root.path().join(".git/modules");
        for module in ["lib", "vendor/deep", "lib/modules/inner"] {
            git2::Repository::init_bare(modules.join(module)).unwrap();
        }
        let mut found = hook_folders(root.path(), None);
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
    fn hooks_outside_the_tree_are_found_and_compared() {
        let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        git2::Repository::init(root.path()).unwrap();
        fs::write(home.path().join(".gitconfig"), "[core]\n\thooksPath = ~/hooks\n").unwrap();
        fs::write(root.path().join(".git/config"), "[core]\n\thooksPath = tools/hooks\n").unwrap();
        for folder in [root.path().join("tools/hooks"), home.path().join("hooks")] {
            fs::create_dir_all(folder).unwrap();
        }
        let own = root.path().join(".git/hooks");
        assert_eq!(hook_folders(root.path(), Some(home.path())), [own, home.path().join("hooks")]);
        let read = || ExecutedFiles::read(root.path(), Some(home.path()));
        let before = read();
        fs::write(root.path().join("tools/hooks/pre-push"), "x").unwrap();
        fs::write(home.path().join("hooks/pre-push"), "x").unwrap();
        assert_eq!(read().changed_since(&before), ["tools/hooks/pre-push", "~/hooks/pre-push"]);
    }

    #[test]
    fn hooks_and_configuration_of_inner_repositories_are_compared() {
        let root = tempfile::tempdir().unwrap();
        for path in ["", "deps/one"] {
            git2::Repository::init(root.path().join(path)).unwrap();
        }
        git2::Repository::init_bare(root.path().join(".git/modules/lib")).unwrap();
        let worktree = root.path().join(".git/worktrees/other");
        fs::create_dir_all(&worktree).unwrap();
        fs::write(worktree.join("HEAD"), "").unwrap();
        fs::write(worktree.join("commondir"), "../..\n").unwrap();
        let read = || ExecutedFiles::read(root.path(), None);
        let before = read();
        // A new repository without hooks executes nothing.
        git2::Repository::init(root.path().join("deps/two")).unwrap();
        assert_eq!(read(), before);
        fs::create_dir_all(root.path().join("deps/one/.git/hooks")).unwrap();
        fs::write(root.path().join("deps/one/.git/hooks/pre-commit"), "x").unwrap();
        fs::write(root.path().join("deps/two/.git/config"), "[alias]\n\tst = !x\n").unwrap();
        fs::write(root.path().join(".git/modules/lib/config"), "[core]\n\tfsmonitor = x\n").unwrap();
        fs::write(worktree.join("commondir"), "../../../deps/two/.git\n").unwrap();
        let expect =
            [".git/modules/lib/config", ".git/worktrees/other/config", "deps/one/.git/hooks/pre-commit"];
        assert_eq!(read().changed_since(&before), expect);
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
