//! Access to the user's own repository. Read-only except for [`branch`] and [`commit`], which write only if the user
//! asked for it. Runs nothing that the repository's configuration names: libgit2 runs nothing, and the `git` program,
//! where it is needed, is started with settings that prevent it.

pub mod branch;
pub mod commit;
mod commit_mark;
pub mod executed_files;
mod git_folders;
pub mod head_cache;
mod program;
mod special_files;

use std::io;
use std::path::{Path, PathBuf};

use git2::{ErrorClass, ErrorCode, Oid, Repository};
use loopkeeper_core::journal::GitHead;
use loopkeeper_text::{sanitize, tr};

use super::work_trees::OtherWorkTrees;

/// Maximum number of subjects of one iteration.
pub const MAX_SUBJECTS: usize = 20;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{}", tr!("git cannot be started: {source}", source))]
    NotStarted { source: io::Error },
    #[error("{}", tr!("git {action} took longer than {seconds} s in {root}.", action, seconds, root = root.display()))]
    TimedOut { action: &'static str, seconds: u64, root: PathBuf },
    #[error("{}", tr!("git {action} failed in {root}: {message}", action, root = root.display(), message))]
    Failed { action: &'static str, root: PathBuf, message: String },
}

/// Opens the repository around `root`, unless reading it could block.
fn open(root: &Path) -> Result<Repository, git2::Error> {
    match special_files::find(root) {
        None => Repository::discover(root),
        Some(path) => {
            let message = special_message(&path);
            Err(git2::Error::new(ErrorCode::GenericError, ErrorClass::Filesystem, message))
        }
    }
}

fn special_message(path: &Path) -> String {
    tr!("{path} is not a regular file", path = sanitize::visible(&path.to_string_lossy()))
}

/// The commit that is checked out; `None` outside of a repository and before its first commit.
pub fn head(root: &Path) -> Result<Option<GitHead>, GitError> {
    match read_head(root) {
        Ok(head) => Ok(head),
        // Object formats and extensions that libgit2 does not know: sha256, reftable, partial clones.
        Err(_) => program::head(root),
    }
}

/// Git's folder that all work trees of the repository share; `None` outside of a repository.
pub fn common_dir(root: &Path) -> Option<PathBuf> {
    Some(open(root).ok()?.commondir().to_owned())
}

/// Paths below `root` that git neither tracks nor ignores, without other work trees of the repository, unprintable
/// bytes escaped; `None` outside of a repository.
pub fn untracked_paths(root: &Path) -> Result<Option<Vec<String>>, GitError> {
    let paths = program::untracked_paths(root)?;
    let others = OtherWorkTrees::new(root);
    // Git lists a nested repository as a folder.
    let is_own = |path: &String| !path.ends_with('/') || !others.holds(&root.join(path));
    Ok(paths.map(|it| it.into_iter().filter(is_own).collect()))
}

/// Whether git ignores `path`, relative to `root`; `None` outside of a repository or if it cannot be determined.
pub fn is_ignored(root: &Path, path: &Path) -> Option<bool> {
    let (repository, relative) = open_for(root, path)?;
    repository.is_path_ignored(relative).ok()
}

/// Whether a file, relative to `root`, matches the checked-out commit; `None` outside of a repository or if libgit2
/// cannot read it.
pub fn is_unmodified(root: &Path, path: &Path) -> Option<bool> {
    let (repository, relative) = open_for(root, path)?;
    match repository.status_file(&relative) {
        Ok(status) => Some(status.is_empty()),
        // In neither the commit, the index nor the work tree: it was removed and committed.
        Err(error) if error.code() == git2::ErrorCode::NotFound => Some(true),
        Err(_) => None,
    }
}

/// The repository around `root`, and the path of a file in it; `None` if reading its rules could block.
fn open_for(root: &Path, path: &Path) -> Option<(Repository, PathBuf)> {
    let repository = open(root).ok()?;
    let top = repository.workdir()?.canonicalize().ok()?;
    let file = root.canonicalize().ok()?.join(path);
    let relative = file.strip_prefix(&top).ok()?.to_path_buf();
    let is_readable = special_files::find_rules(&top, std::iter::once(relative.as_path())).is_none();
    is_readable.then_some((repository, relative))
}

/// Counts of the files in the user's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackedCounts {
    pub files: u64,
    /// Files that look like tests.
    pub tests: u64,
}

/// Reading a larger index takes too long.
const MAX_INDEX_BYTES: u64 = 16 * 1024 * 1024;

/// Counts the index entries of a plain repository at `root`. Reads that one file and no configuration; `None` if it is
/// missing, unreadable or too large.
pub fn count_tracked(root: &Path) -> Option<TrackedCounts> {
    let path = root.join(".git/index");
    std::fs::metadata(&path).ok().filter(|it| it.is_file() && it.len() <= MAX_INDEX_BYTES)?;
    let index = git2::Index::open(&path).ok()?;
    let looks_like_test = |path: &[u8]| path.windows(4).any(|it| it == b"test" || it == b"spec");
    let tests = index.iter().filter(|it| looks_like_test(&it.path)).count() as u64;
    Some(TrackedCounts { files: index.len() as u64, tests })
}

/// First lines of the commits from `from` (exclusive; `None`: from the beginning) to `to`, oldest first; at most the
/// last [`MAX_SUBJECTS`].
pub fn commit_subjects(root: &Path, from: Option<&str>, to: &str) -> Result<Vec<String>, GitError> {
    match read_subjects(root, from, to) {
        Ok(subjects) => Ok(subjects),
        Err(_) => program::commit_subjects(root, from, to),
    }
}

fn read_subjects(root: &Path, from: Option<&str>, to: &str) -> Result<Vec<String>, git2::Error> {
    let repo = open(root)?;
    let mut walk = repo.revwalk()?;
    walk.push(Oid::from_str(to)?)?;
    if let Some(from) = from {
        walk.hide(Oid::from_str(from)?)?;
    }
    let mut subjects = Vec::new();
    for id in walk.take(MAX_SUBJECTS) {
        let commit = repo.find_commit(id?)?;
        subjects.push(String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()).into_owned());
    }
    subjects.reverse();
    Ok(subjects)
}

fn read_head(root: &Path) -> Result<Option<GitHead>, git2::Error> {
    let repo = match open(root) {
        Err(it) if it.code() == ErrorCode::NotFound && it.class() == ErrorClass::Repository => {
            return Ok(None);
        }
        it => it?,
    };
    let reference = match repo.head() {
        Err(it) if it.code() == ErrorCode::UnbornBranch => return Ok(None),
        it => it?,
    };
    let commit = reference.peel_to_commit()?;
    let branch =
        reference.is_branch().then(|| String::from_utf8_lossy(reference.shorthand_bytes()).into_owned());
    Ok(Some(GitHead { commit: commit.id().to_string(), tree: commit.tree_id().to_string(), branch }))
}

#[cfg(test)]
mod tests;
