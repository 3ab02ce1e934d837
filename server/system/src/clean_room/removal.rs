//! Removes clean rooms, also those that a killed keeper left behind.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::PREFIX;

pub(super) fn remove_room(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    // Folders of the kernel, of the work tree and of checks may be closed to their owner.
    open_folders(folder);
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes the rooms in `parent`, which no process uses any more.
pub fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_room = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        if is_room && let Err(error) = remove_room(&entry.path()) {
            tracing::warn!("could not remove {}: {error}", entry.path().display());
        }
    }
}

fn open_folders(folder: &Path) {
    if !fs::symlink_metadata(folder).is_ok_and(|it| it.is_dir()) {
        return;
    }
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        open_folders(&entry.path());
    }
}
