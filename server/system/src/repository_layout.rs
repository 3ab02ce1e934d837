//! Finds where a repository begins and where it keeps `info/exclude`, by reading files only: git is not asked, because
//! its answer would depend on a configuration that is not trusted yet.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::regular_file::read_linked;

/// The top folder of the repository that contains `root`.
pub(crate) fn repository_top(root: &Path) -> Option<PathBuf> {
    root.ancestors().find(|it| common_dir(it).is_some()).map(Path::to_path_buf)
}

/// The git directory that all work trees of the repository at `top` share.
pub(crate) fn common_dir(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    shared_dir(if dot_git.is_dir() { dot_git } else { linked_git_dir(top)? })
}

/// The git directory of which `git_dir` is a part, or itself.
pub(crate) fn shared_dir(git_dir: PathBuf) -> Option<PathBuf> {
    if !git_dir.join("HEAD").symlink_metadata().is_ok_and(|it| it.is_file() || it.is_symlink()) {
        return None;
    }
    match read_linked(&git_dir.join("commondir")).and_then(|it| pointed_at(&it, b"")) {
        Some(common) => Some(git_dir.join(common)),
        None => Some(git_dir),
    }
}

/// The git directory that the file `.git` in `folder` names.
pub(crate) fn linked_git_dir(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(pointed_at(&read_linked(&folder.join(".git"))?, b"gitdir: ")?))
}

/// The top folder of the work tree that belongs to a folder of `worktrees/`.
pub(crate) fn work_tree_of(git_dir: &Path) -> Option<PathBuf> {
    let dot_git = git_dir.join(pointed_at(&read_linked(&git_dir.join("gitdir"))?, b"")?);
    dot_git.parent().map(Path::to_path_buf)
}

fn pointed_at(text: &[u8], prefix: &[u8]) -> Option<PathBuf> {
    let line = text.strip_prefix(prefix)?.trim_ascii_end();
    (!line.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(line)))
}
