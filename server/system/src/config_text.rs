//! Reads the text of one configuration file, of loopkeeper or of another tool. Never blocks, and never reads more than a
//! configuration file holds.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use loopkeeper_text::message::HintedError;
use loopkeeper_text::tr;
use rustix::fs::OFlags;
use thiserror::Error;

/// No configuration file is this long; a longer file is something else.
const MAX_BYTES: u64 = 1024 * 1024;

/// A configuration file that exists and cannot be read. Nothing falls back to defaults in this case.
#[derive(Debug, Error)]
pub enum ConfigFileError {
    #[error("{}", tr!("cannot read {path}: {source}", path = path.display(), source))]
    Read { path: PathBuf, source: io::Error },
    #[error("{}", tr!("{path} is not a regular file", path = path.display()))]
    NotAFile { path: PathBuf },
    #[error("{}", tr!("{path} is larger than {MAX_BYTES} bytes", path = path.display(), MAX_BYTES))]
    TooLarge { path: PathBuf },
    #[error("{}", tr!("{path} is not UTF-8 text: byte {at} is invalid", path = path.display(), at))]
    NotText { path: PathBuf, at: usize },
}

impl HintedError for ConfigFileError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read { .. } => tr!("make the file readable, or remove it."),
            Self::NotAFile { .. } | Self::TooLarge { .. } => {
                tr!("put a configuration file there, or remove it.")
            }
            Self::NotText { .. } => tr!("save the file as UTF-8."),
        };
        Some(hint.to_owned())
    }
}

/// The text of a small file; `None` if it does not exist.
pub fn read_text(path: &Path) -> Result<Option<String>, ConfigFileError> {
    let failed = |source| ConfigFileError::Read { path: path.to_owned(), source };
    // Opening a pipe would block until it has a writer.
    let open = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path);
    let file = match open {
        Ok(file) => file,
        Err(error) if is_absence(&error) && fs::symlink_metadata(path).is_err() => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(ConfigFileError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ConfigFileError::TooLarge { path: path.to_owned() });
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ConfigFileError::NotText { path: path.to_owned(), at }
    })
}

/// A file in place of a folder means absence, too.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_without_permission_is_an_error_with_its_path() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("loopkeeper.toml");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        match read_text(&path) {
            Err(ConfigFileError::Read { path: named, .. }) => assert_eq!(named, path),
            // Root reads everything.
            other => assert!(rustix::process::geteuid().is_root() && other.is_ok()),
        }
    }
}
