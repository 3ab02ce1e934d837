//! Removes clean rooms, also those that a killed keeper left behind.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::PREFIX;
use crate::forced_removal::remove_folder;

/// Removes the rooms in `parent`, which no process uses any more.
pub fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_room = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        if is_room && let Err(error) = remove_folder(&entry.path()) {
            tracing::warn!("could not remove {}: {error}", entry.path().display());
        }
    }
}
