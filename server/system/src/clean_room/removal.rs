//! Removes clean rooms, also those that a killed keeper left behind.

use std::fs::{self, DirBuilder, DirEntry, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use super::{PREFIX, SHARED_PREFIX};
use crate::forced_removal::remove_folder;

/// A younger room may not be locked yet.
const MIN_AGE: Duration = Duration::from_secs(60);

/// Held on the folder of a room by the process that uses it.
#[derive(Debug)]
pub(super) struct RoomLock {
    _folder: File,
}

impl RoomLock {
    /// Makes the folder of a room, which must not exist.
    pub(super) fn make_folder(path: &Path) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(path)?;
        Self::try_acquire(path)
    }

    fn try_acquire(path: &Path) -> io::Result<Self> {
        let folder = File::open(path)?;
        flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { _folder: folder })
    }
}

/// Removes the rooms in `parent`, which no process uses any more.
pub fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if has_prefix(&entry, PREFIX) {
            remove_room(&entry.path());
        }
    }
}

/// Removes the rooms of this user in `parent`, a folder of many programs, that no process uses any more.
pub fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if has_prefix(&entry, SHARED_PREFIX)
            && is_old_folder(&entry)
            && let Ok(_lock) = RoomLock::try_acquire(&entry.path())
        {
            remove_room(&entry.path());
        }
    }
}

fn has_prefix(entry: &DirEntry, prefix: &str) -> bool {
    entry.file_name().as_bytes().starts_with(prefix.as_bytes())
}

fn is_old_folder(entry: &DirEntry) -> bool {
    entry.metadata().is_ok_and(|it| {
        let age = it.modified().ok().and_then(|it| it.elapsed().ok());
        it.is_dir() && it.uid() == geteuid().as_raw() && age.is_some_and(|it| it > MIN_AGE)
    })
}

fn remove_room(path: &Path) {
    if let Err(error) = remove_folder(path) {
        tracing::warn!("could not remove {}: {error}", path.display());
    }
}
