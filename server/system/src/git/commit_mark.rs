//! A file that exists while a commit is made. If one is left over, the keeper was killed during the commit, and the locks
//! of that time in the user's repository are those of the keeper: nothing else would ever remove them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git2::Repository;

/// A commit takes milliseconds. A lock that is younger belongs to a program that the user started since.
const MAX_COMMIT: Duration = Duration::from_secs(10);

pub(super) struct CommitMark<'a> {
    path: &'a Path,
}

impl<'a> CommitMark<'a> {
    /// Removes the locks that an interrupted commit left, then marks the commit that begins now.
    pub(super) fn place(path: &'a Path, repo: &Repository) -> Self {
        if let Ok(began) = modification_time(path) {
            remove_locks(repo, began);
        }
        // The commit is made without the mark, too; only the locks of a killed keeper would remain.
        if let Err(error) = fs::write(path, "") {
            tracing::warn!(path = %path.display(), %error, "commit not marked");
        }
        Self { path }
    }
}

impl Drop for CommitMark<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path);
    }
}

fn remove_locks(repo: &Repository, began: SystemTime) {
    let is_of_that_commit = |lock: &Path| {
        modification_time(lock)
            .is_ok_and(|at| at.duration_since(began).is_ok_and(|after| after <= MAX_COMMIT))
    };
    for lock in locks(repo).into_iter().filter(|it| is_of_that_commit(it)) {
        let removed = fs::remove_file(&lock);
        tracing::warn!(lock = %lock.display(), ?removed, "lock of an interrupted commit");
    }
}

/// Every lock that libgit2 takes for a commit on a branch.
fn locks(repo: &Repository) -> Vec<PathBuf> {
    let mut locks = vec![repo.path().join("index.lock")];
    let head = repo.find_reference("HEAD");
    if let Ok(Some(branch)) = head.as_ref().map_or(Ok(None), git2::Reference::symbolic_target) {
        locks.push(repo.commondir().join(format!("{branch}.lock")));
    }
    locks
}

fn modification_time(path: &Path) -> io::Result<SystemTime> {
    fs::symlink_metadata(path)?.modified()
}
