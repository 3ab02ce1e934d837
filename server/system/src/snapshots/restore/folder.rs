//! Lists, empties and searches folders of the work tree, by open handles only.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use git2::Oid;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::snapshots::error::Result;
use crate::snapshots::objects::ObjectStore;
use crate::snapshots::tree::{MAX_DEPTH, TreeItemKind};

/// Never follows a symlink.
pub(super) fn open(fd: BorrowedFd<'_>, name: &CStr) -> std::result::Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(fd, name, flags, Mode::empty())
}

/// Removes a folder that contains only empty folders; any other folder may be removed in part.
pub(super) fn remove_empty(fd: BorrowedFd<'_>, name: &CString) {
    remove_empty_below(fd, name, 0);
}

fn remove_empty_below(fd: BorrowedFd<'_>, name: &CString, depth: usize) {
    if depth <= MAX_DEPTH
        && let Ok(folder) = open(fd, name)
        && let Ok((folder, entries)) = entries(folder)
    {
        for (child, kind) in entries {
            if kind.is_dir() {
                remove_empty_below(folder.as_fd(), &child, depth + 1);
            }
        }
    }
    let _ = rustix::fs::unlinkat(fd, name, AtFlags::REMOVEDIR);
}

/// Whether the folder holds any file that `tree` does not name; true if it cannot be determined.
pub(super) fn has_unnamed_files(fd: OwnedFd, tree: Oid, objects: &ObjectStore) -> Result<bool> {
    has_unnamed_files_below(fd, Some(tree), objects, 0)
}

fn has_unnamed_files_below(
    fd: OwnedFd,
    tree: Option<Oid>,
    objects: &ObjectStore,
    depth: usize,
) -> Result<bool> {
    if depth > MAX_DEPTH {
        return Ok(true);
    }
    let known = tree.map(|it| objects.tree(it)).transpose()?.unwrap_or_default();
    let Ok((fd, entries)) = entries(fd) else { return Ok(true) };
    for (name, kind) in entries {
        let item = known.iter().find(|it| it.0 == name.as_bytes()).map(|it| it.1);
        if !kind.is_dir() {
            if item.is_none_or(|it| matches!(it.kind, TreeItemKind::Folder | TreeItemKind::Marker)) {
                return Ok(true);
            }
            continue;
        }
        let below = item.filter(|it| it.kind == TreeItemKind::Folder).map(|it| it.id);
        let Ok(folder) = open(fd.as_fd(), &name) else { return Ok(true) };
        if has_unnamed_files_below(folder, below, objects, depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

type OpenFolder = (OwnedFd, Vec<(CString, FileType)>);

fn entries(fd: OwnedFd) -> std::result::Result<OpenFolder, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(&fd)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(rustix::fs::statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
            }
            it => it,
        };
        entries.push((name.to_owned(), kind));
    }
    Ok((fd, entries))
}
