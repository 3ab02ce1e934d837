//! Gives the socket of a keeper an address, and limits the length of a protocol line. Socket addresses are short; paths of
//! state folders may be longer.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use loopkeeper_text::tr_later;

use super::{StateDir, StateError};

/// The longest line of the control protocol, except for responses to hooks.
pub const MAX_LINE: usize = 64 * 1024;
/// Longer paths are reached through an open folder (the system's limit is 107 bytes, on some systems 103).
const MAX_PATH_BYTES: usize = 100;

/// A path that fits in a socket address for as long as this value exists.
#[derive(Debug)]
pub struct SocketAddress {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketAddress {
    /// The address of the socket at `path`.
    pub fn new(path: &Path) -> io::Result<Self> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if path.as_os_str().as_bytes().len() <= MAX_PATH_BYTES {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let folder = File::open(folder)?;
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl StateDir {
    /// The loops that have a socket; the socket of a killed keeper remains.
    pub fn listening_loops(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.socket_dir()).into_iter().flatten().flatten();
        let id = |it: std::fs::DirEntry| Some(it.file_name().to_str()?.strip_suffix(".sock")?.to_owned());
        entries.filter_map(id).collect()
    }

    /// The socket of a loop's keeper.
    pub fn socket(&self, loop_id: &str) -> Result<SocketAddress, StateError> {
        let run = self.socket_dir();
        SocketAddress::new(&run.join(format!("{loop_id}.sock")))
            .map_err(StateError::io(tr_later!("open"), &run))
    }
}
