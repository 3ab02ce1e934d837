//! The address of a keeper's socket. Socket addresses are short; state folders need not be.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{StateDir, StateError};

/// Longer paths go round through an open folder (the system's limit is 107 bytes, on some systems 103).
const LONGEST: usize = 100;

/// A path that fits a socket address as long as this value lives.
#[derive(Debug)]
pub struct SocketAddress {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketAddress {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl StateDir {
    /// Where the keeper of a loop listens.
    pub fn socket(&self, loop_id: &str) -> Result<SocketAddress, StateError> {
        let (run, name) = (self.run(), format!("{loop_id}.sock"));
        let path = run.join(&name);
        if path.as_os_str().as_bytes().len() <= LONGEST {
            return Ok(SocketAddress { path, _folder: None });
        }
        let folder = File::open(&run).map_err(StateError::io("open", &run))?;
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(SocketAddress { path, _folder: Some(folder) })
    }
}
