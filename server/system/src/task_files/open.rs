//! Opens a file that must be inside the root, even if links on its path are exchanged concurrently.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::TaskFileError;

/// Links are followed as long as they stay inside; does not block on a pipe.
pub(super) fn open_beneath(root: &Path, path: &Path) -> Result<File, TaskFileError> {
    let failed = |source: io::Error| TaskFileError::Read { path: path.to_owned(), source };
    // Resolved first, because this fails if the file does not exist.
    let real = path.canonicalize().map_err(failed)?;
    let real_root = root.canonicalize().map_err(failed)?;
    let Ok(inside) = real.strip_prefix(&real_root) else {
        return Err(TaskFileError::OutsideRoot { path: path.to_owned() });
    };
    match open(&real_root, inside) {
        Ok(file) => Ok(file),
        // The path had no links a moment ago.
        Err(Errno::XDEV | Errno::LOOP) => Err(TaskFileError::OutsideRoot { path: path.to_owned() }),
        Err(errno) => Err(failed(errno.into())),
    }
}

const FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

#[cfg(target_os = "linux")]
fn open(root: &Path, inside: &Path) -> Result<File, Errno> {
    use rustix::fs::ResolveFlags;

    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root_fd = rustix::fs::open(root, folder, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&root_fd, inside, FLAGS, Mode::empty(), resolve) {
        // Kernels before 5.6, and containers that block unknown system calls.
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::openat(&root_fd, inside, FLAGS, Mode::empty()).map(File::from)
        }
        opened => opened.map(File::from),
    }
}

#[cfg(not(target_os = "linux"))]
fn open(root: &Path, inside: &Path) -> Result<File, Errno> {
    rustix::fs::open(root.join(inside), FLAGS, Mode::empty()).map(File::from)
}
