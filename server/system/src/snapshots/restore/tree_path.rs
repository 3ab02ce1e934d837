//! Resolves paths inside the work tree. Every path is walked name by name from the root's handle without following
//! symlinks, so nothing outside can be reached.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::Oid;
use loopkeeper_text::tr_later;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::folder;
use super::slot::{EntryError, EntryHandle, EntryResult, c_name};
use crate::snapshots::error::{Result, SnapshotError};
use crate::snapshots::objects::ObjectStore;

pub(super) struct RootHandle<'a> {
    root: OwnedFd,
    path: &'a Path,
}

impl<'a> RootHandle<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty())
            .map_err(SnapshotError::io(tr_later!("open the folder"), path))?;
        Ok(Self { root, path })
    }

    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    pub(super) fn path(&self, below: &[u8]) -> PathBuf {
        self.path.join(OsStr::from_bytes(below))
    }

    /// The entry at a path; `None` if one of its parent folders does not exist.
    pub(super) fn open_entry(&self, path: &[u8]) -> EntryResult<Option<EntryHandle>> {
        let (folders, name) = split(path);
        let mut fd = self.reopen()?;
        for folder_name in names(folders) {
            fd = match folder::open(fd.as_fd(), &c_name(folder_name)?) {
                Err(it) if is_absence(it) => return Ok(None),
                it => it?,
            };
        }
        Ok(Some(EntryHandle::new(fd, name)?))
    }

    /// Like [`Self::open_entry`], creating missing parents.
    pub(super) fn open_with_parents(&self, path: &[u8]) -> EntryResult<EntryHandle> {
        let (folders, name) = split(path);
        let mut fd = self.reopen()?;
        for folder_name in names(folders) {
            let folder_name = c_name(folder_name)?;
            fd = match folder::open(fd.as_fd(), &folder_name) {
                Err(Errno::NOENT) => {
                    match rustix::fs::mkdirat(&fd, &folder_name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(it) => return Err(it.into()),
                    }
                    folder::open(fd.as_fd(), &folder_name)?
                }
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    return Err(EntryError::Refused(tr_later!(
                        "something that is not a folder is in its way"
                    )));
                }
                it => it?,
            };
        }
        Ok(EntryHandle::new(fd, name)?)
    }

    /// Removes the parent folders of a deleted file that are empty.
    pub(super) fn remove_empty_parents(&self, path: &[u8]) {
        let mut path = split(path).0;
        while !path.is_empty() {
            let Ok(Some(slot)) = self.open_entry(path) else { return };
            if slot.remove_folder().is_err() {
                return;
            }
            path = split(path).0;
        }
    }

    pub(super) fn sync(&self, folder: &[u8]) -> std::result::Result<(), Errno> {
        let mut fd = self.reopen()?;
        for name in names(folder) {
            match folder::open(fd.as_fd(), &c_name(name)?) {
                // Removed or replaced by a file in the meantime: its parent is what changed.
                Err(it) if is_absence(it) => break,
                it => fd = it?,
            }
        }
        rustix::fs::fsync(&fd)
    }

    /// Whether the folder at `path` contains a file that `tree` does not name; true if it cannot be determined.
    pub(super) fn holds_more_than(&self, path: &[u8], tree: Oid, objects: &ObjectStore) -> Result<bool> {
        let opened = self.open_entry(path).map(|it| it.map(|it| it.open_folder()));
        match opened {
            Ok(None) => Ok(false),
            Ok(Some(Err(it))) if is_absence(it) => Ok(false),
            Ok(Some(Ok(fd))) => folder::has_unnamed_files(fd, tree, objects),
            _ => Ok(true),
        }
    }

    fn reopen(&self) -> std::result::Result<OwnedFd, Errno> {
        folder::open(self.root.as_fd(), c".")
    }
}

/// Whether the error means that there is no such folder.
fn is_absence(errno: Errno) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].contains(&errno)
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|it| *it == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (&[], path),
    }
}

fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|it| *it == b'/').filter(|it| !it.is_empty())
}
