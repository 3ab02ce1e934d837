//! Locks the journal itself, which excludes a second writer even if the file of the loop's lock was deleted.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use loopkeeper_text::tr_later;

use super::{JournalError, io_error};

/// A child process of a killed keeper holds the lock until its `exec` closes the descriptor.
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_DELAY: Duration = Duration::from_millis(2);

/// Opens the journal at `path` with its lock.
pub(super) fn open(path: &Path) -> Result<File, JournalError> {
    loop {
        let file = super::open(path)?;
        // Another file may have been put in place before the lock was taken.
        if lock(&file, path)? {
            return Ok(file);
        }
    }
}

/// Locks a journal. False if it is not, or no longer, the file at `path`.
pub(super) fn lock(file: &File, path: &Path) -> Result<bool, JournalError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if begun.elapsed() < TIMEOUT => std::thread::sleep(RETRY_DELAY),
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(io_error(tr_later!("lock"), path, source)),
        }
    }
    is_same_file(file, &super::open(path)?, path)
}

pub(super) fn is_same_file(one: &File, other: &File, path: &Path) -> Result<bool, JournalError> {
    let id = |file: &File| file.metadata().map(|it| (it.dev(), it.ino()));
    let same = id(one).and_then(|one| Ok(one == id(other)?));
    same.map_err(|source| io_error(tr_later!("look at"), path, source))
}
