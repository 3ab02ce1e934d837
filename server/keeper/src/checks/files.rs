//! `exists`, `missing`, `has`, `lacks`: existence and contents of files. Read-only.
//!
//! Globs match everything under the root except `.git` and other work trees of the repository. Ignored files match too,
//! because otherwise a line in `.gitignore` could hide a file from its check. An unreadable path never produces a pass.

mod glob;
mod search;
#[cfg(test)]
mod tests;
mod walk;

use loopkeeper_text::tr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loopkeeper_core::check::Status;
use loopkeeper_task::criterion::Check;

use self::walk::{FileKind, GlobWalk, WalkEntry};
use super::RawResult;

/// Evaluates a file check on a separate thread; dropping the future stops it soon.
pub(super) async fn check_files(root: &Path, check: &Check, timeout: Duration) -> RawResult {
    let stop = Arc::new(AtomicBool::new(false));
    let _stops = StopOnDrop(Arc::clone(&stop));
    let (root, check) = (root.to_path_buf(), check.clone());
    let looking = tokio::task::spawn_blocking(move || evaluate(&root, &check, &stop));
    match tokio::time::timeout(timeout, looking).await {
        Ok(Ok(Ok(finding))) => finding,
        Ok(Ok(Err(reason))) => RawResult::new(Status::CouldNotRun, reason),
        Ok(Err(panic)) => RawResult::new(Status::CouldNotRun, panic.to_string()),
        Err(_) => RawResult::timed_out(timeout),
    }
}

/// Whether any path under the root matches the glob. Evaluates synchronously.
pub(in super::super) fn any_match(root: &Path, glob: &str) -> bool {
    let check = Check::Exists { globs: vec![glob.to_owned()] };
    evaluate(root, &check, &AtomicBool::new(false)).is_ok_and(|it| it.status == Status::Pass)
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The error explains why there is no result.
fn evaluate(root: &Path, check: &Check, stop: &AtomicBool) -> Result<RawResult, String> {
    let root = root
        .canonicalize()
        .map_err(|error| tr!("could not read {path}: {error}", path = root.display(), error))?;
    let walk = |globs: &[String]| GlobWalk::new(&root, globs, stop);
    match check {
        Check::Exists { globs } => check_exists(&walk(globs)?),
        Check::Missing { globs } => check_missing(&walk(globs)?),
        Check::Has { pattern, globs } => search::check_contains(&walk(globs)?, pattern),
        Check::Lacks { pattern, globs } => search::check_lacks(&walk(globs)?, pattern),
        Check::Command { .. } | Check::Clean | Check::Get { .. } | Check::Judge { .. } => {
            Err(tr!("not a check of files").to_owned())
        }
    }
}

/// A literal name matches any kind of entry; a glob needs at least one file, because folders alone are not what the
/// user asked for. A link counts as its target within the root.
fn check_exists(walk: &GlobWalk<'_>) -> Result<RawResult, String> {
    let mut absent = Vec::new();
    for glob in walk.globs() {
        let mut is_there = false;
        let problem = walk.for_each_match(glob, |entry| {
            let counts = if glob.literal { entry.leads_somewhere() } else { entry.leads_to_file() };
            is_there |= counts && (entry.kind == FileKind::Folder || !glob.folder_only);
            !is_there
        })?;
        match problem {
            _ if is_there => {}
            Some(problem) => return Err(problem),
            None => absent.push(glob.written.clone()),
        }
    }
    Ok(match absent.as_slice() {
        [] => RawResult::new(Status::Pass, tr!("exists")),
        [one] => RawResult::new(Status::Fail, tr!("{one} does not exist", one)),
        [first, rest @ ..] => RawResult::new(
            Status::Fail,
            tr!("{first} and {more} more do not exist", first, more = rest.len()),
        ),
    })
}

/// Every entry with such a name fails the check: files, folders, dangling links.
fn check_missing(walk: &GlobWalk<'_>) -> Result<RawResult, String> {
    let mut there = Vec::new();
    let mut problem = None;
    for glob in walk.globs() {
        let found = walk.for_each_match(glob, |entry| {
            if entry.kind == FileKind::Folder || !glob.folder_only {
                there.push(entry.name());
            }
            true
        })?;
        problem = problem.or(found);
    }
    there.sort();
    there.dedup();
    Ok(match (there.as_slice(), problem) {
        ([], Some(problem)) => return Err(problem),
        ([], None) => RawResult::new(Status::Pass, tr!("no file matches")),
        ([one], _) => RawResult::new(Status::Fail, tr!("{one} exists", one)),
        ([first, rest @ ..], _) => {
            RawResult::new(Status::Fail, tr!("{first} and {more} more exist", first, more = rest.len()))
        }
    })
}

impl WalkEntry {
    fn leads_to_file(&self) -> bool {
        self.kind == FileKind::File
    }

    fn leads_somewhere(&self) -> bool {
        matches!(self.kind, FileKind::File | FileKind::Folder)
    }
}
