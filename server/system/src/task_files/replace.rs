//! Rewrites a task document: atomically, with its current mode, and only if its bytes are those that were read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{TaskFileError, open, read};
use crate::durable;

/// Replaces the first text with the second one.
pub fn replace(root: &Path, path: &Path, (before, after): (&str, &str)) -> Result<(), TaskFileError> {
    let failed = |source: io::Error| TaskFileError::Write { path: path.to_owned(), source };
    // A link is kept: its target is written, as an editor would do.
    let mode = open::open_beneath(root, path)?.metadata().map_err(failed)?.permissions();
    let real = path.canonicalize().map_err(failed)?;
    let draft = real.with_file_name(format!(".loopkeeper-{}.new", uuid::Uuid::new_v4()));
    let require_unchanged = || -> Result<(), TaskFileError> {
        if read(root, path)? == before.as_bytes() {
            Ok(())
        } else {
            Err(TaskFileError::Changed { path: path.to_owned() })
        }
    };
    let write = || {
        require_unchanged()?;
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
        file.write_all(after.as_bytes()).map_err(failed)?;
        file.set_permissions(mode).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        require_unchanged()?;
        fs::rename(&draft, &real).map_err(failed)?;
        durable::sync_folder(&real).map_err(failed)
    };
    write().inspect_err(|_| drop(fs::remove_file(&draft)))
}
