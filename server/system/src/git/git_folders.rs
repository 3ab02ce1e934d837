//! Finds the git directories whose hooks and configuration name programs for git: those of the repository around a work
//! tree, of its submodules and linked work trees, and of the repositories inside the tree. Reads files only.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_core::autorun::git_config_programs;

use crate::repository_layout::{common_dir, repository_top, shared_dir};

/// At most so many submodules, and so many repositories inside the tree, are found.
const MAX_FOUND: usize = 200;
/// Slashes in the name of a submodule.
const MODULE_DEPTH: u32 = 5;
/// Repositories inside the tree are searched for in so many folders, those near the root first.
const MAX_FOLDERS: usize = 2000;

/// A git directory.
#[derive(Debug)]
pub(super) struct GitFolder {
    pub path: PathBuf,
    /// How it is shown: relative to the repository around the tree, or to the tree.
    pub shown: String,
    /// The folder from which git runs its hooks, where it is known.
    pub top: Option<PathBuf>,
}

/// The git directories of the repository around `root` and of its submodules.
pub(super) fn find_own(root: &Path) -> Vec<GitFolder> {
    let mut found = Vec::new();
    let Some(top) = repository_top(root) else { return found };
    let Some(path) = common_dir(&top) else { return found };
    let modules = path.join("modules");
    found.push(GitFolder { path, shown: ".git".to_owned(), top: Some(top) });
    add_modules(&modules, ".git/modules", MODULE_DEPTH, &mut found);
    found
}

/// The same with those of repositories inside the tree, and those to which linked work trees were redirected.
pub(super) fn find_all(root: &Path) -> Vec<GitFolder> {
    let mut found = find_own(root);
    let linked = found.first().map(|it| linked_folders(&it.path)).unwrap_or_default();
    let nested = nested_tops(root).into_iter().filter_map(|top| {
        let shown = format!("{}/.git", top.strip_prefix(root).ok()?.display());
        Some(GitFolder { path: common_dir(&top)?, shown, top: Some(top) })
    });
    let others: Vec<GitFolder> = linked.into_iter().chain(nested).take(MAX_FOUND).collect();
    if others.is_empty() {
        return found;
    }
    let mut known: BTreeSet<PathBuf> =
        found.iter().filter_map(|it| fs::canonicalize(&it.path).ok()).collect();
    for folder in others {
        if fs::canonicalize(&folder.path).is_ok_and(|it| known.insert(it)) {
            found.push(folder);
        }
    }
    found
}

/// The name of a submodule may contain slashes, and a submodule others.
fn add_modules(folder: &Path, shown: &str, depth: u32, found: &mut Vec<GitFolder>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if found.len() >= MAX_FOUND || !entry.file_type().is_ok_and(|it| it.is_dir()) {
            continue;
        }
        let shown = format!("{shown}/{}", entry.file_name().to_string_lossy());
        if path.join("HEAD").is_file() {
            let inner = path.join("modules");
            let names = format!("{shown}/modules");
            found.push(GitFolder { path: shared_dir(path.clone()).unwrap_or(path), shown, top: None });
            add_modules(&inner, &names, depth, found);
        } else if depth > 0 {
            add_modules(&path, &shown, depth - 1, found);
        }
    }
}

/// The git directories that linked work trees of the repository use: that of the repository, unless `commondir` was
/// changed.
fn linked_folders(git: &Path) -> Vec<GitFolder> {
    let entries = fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten();
    let folders = entries.filter_map(|entry| {
        let shown = format!(".git/worktrees/{}", entry.file_name().to_string_lossy());
        Some(GitFolder { path: shared_dir(entry.path())?, shown, top: None })
    });
    folders.take(MAX_FOUND).collect()
}

/// The folders below `root` with a `.git`, by breadth.
fn nested_tops(root: &Path) -> Vec<PathBuf> {
    let mut waiting = VecDeque::from([root.to_owned()]);
    let mut tops = Vec::new();
    for _ in 0..MAX_FOLDERS {
        let Some(folder) = waiting.pop_front() else { break };
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_name() == ".git" {
                tops.extend((folder != root).then(|| folder.clone()));
            } else if entry.file_type().is_ok_and(|it| it.is_dir()) && waiting.len() < MAX_FOLDERS {
                waiting.push_back(entry.path());
            }
        }
    }
    tops
}

/// The folder that `core.hooksPath` in a configuration names. A relative one is below `top`.
pub(super) fn configured_hooks(text: &str, top: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    let programs = git_config_programs(text);
    let value = programs.lines().rev().find_map(|line| {
        let (section, setting) = line.split_once(' ')?;
        let (key, value) = setting.split_once('=')?;
        let is_hooks_path =
            section.eq_ignore_ascii_case("core") && key.trim().eq_ignore_ascii_case("hookspath");
        is_hooks_path.then(|| value.trim().trim_matches('"'))
    })?;
    match value.strip_prefix("~/") {
        _ if value.is_empty() => None,
        Some(below) => Some(home?.join(below)),
        None if value.starts_with('/') => Some(value.into()),
        None => Some(top?.join(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_in_the_tree_are_found_once() {
        let root = tempfile::tempdir().unwrap();
        for path in ["", "deps/one", "deps/one/inner", "build/_deps/two"] {
            git2::Repository::init(root.path().join(path)).unwrap();
        }
        git2::Repository::init_bare(root.path().join(".git/modules/lib")).unwrap();
        fs::create_dir(root.path().join("lib")).unwrap();
        fs::write(root.path().join("lib/.git"), "gitdir: ../.git/modules/lib\n").unwrap();
        let mut shown: Vec<String> = find_all(root.path()).into_iter().map(|it| it.shown).collect();
        shown.sort();
        let expect =
            [".git", ".git/modules/lib", "build/_deps/two/.git", "deps/one/.git", "deps/one/inner/.git"];
        assert_eq!(shown, expect);
        let below: Vec<String> =
            find_own(&root.path().join("build")).into_iter().map(|it| it.shown).collect();
        assert_eq!(below, [".git", ".git/modules/lib"]);
    }

    #[test]
    fn the_folder_of_hooks_is_read_from_the_configuration() {
        let (top, home) = (Path::new("/t"), Path::new("/h"));
        let check = |text: &str, expect: Option<&str>| {
            let found = configured_hooks(text, Some(top), Some(home));
            assert_eq!(found.as_deref(), expect.map(Path::new), "{text}");
        };
        check("[core]\n\tbare = false\n", None);
        check("[core]\n\thooksPath = tools/hooks\n", Some("/t/tools/hooks"));
        check("[Core] HooksPath=\"~/hooks\"\n", Some("/h/hooks"));
        check("[core]\nhooksPath = /a\nhooksPath = /b\n", Some("/b"));
        check("[core]\nhooksPath =\n", None);
        check("[alias]\nhooksPath = /a\n", None);
    }
}
