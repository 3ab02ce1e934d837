//! Reads regular files of limited size, such as rules and pointers of git. Never blocks on a pipe.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A larger file is neither a file of patterns nor a pointer.
const MAX_BYTES: u64 = 1024 * 1024;

/// Opens a file for reading, following links; an error if it is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    if metadata.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// Reads a file of the user, following links (dotfiles are often linked).
pub(crate) fn read_linked(path: &Path) -> Option<Vec<u8>> {
    read_limited(open(path).ok()?, MAX_BYTES)
}

/// Reads the text of a file that is at most `max_bytes` long, following links.
pub fn read_text(path: &Path, max_bytes: u64) -> Option<String> {
    String::from_utf8(read_limited(open(path).ok()?, max_bytes)?).ok()
}

/// Reads an open file; `None` if it is not a regular file, or too large.
pub(crate) fn read_open(fd: OwnedFd) -> Option<Vec<u8>> {
    read_limited(File::from(fd), MAX_BYTES)
}

fn read_limited(file: File, max_bytes: u64) -> Option<Vec<u8>> {
    let metadata = file.metadata().ok()?;
    let mut text = Vec::new();
    if !metadata.is_file() || metadata.len() > max_bytes {
        return None;
    }
    file.take(max_bytes).read_to_end(&mut text).ok()?;
    Some(text)
}
