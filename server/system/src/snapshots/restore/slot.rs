//! Replaces or removes one name in an open folder. The old entry is first renamed to a temporary name and checked
//! again, so that a last-moment change is put back.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use git2::{ObjectType, Oid};
use loopkeeper_text::tr_later;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::folder;
use crate::snapshots::tree::{TreeItem, TreeItemKind};
use crate::snapshots::walk::{TEMPORARY_PREFIX, read_file};

/// Why a step was not performed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EntryError {
    Refused(&'static str),
    Failed(Errno),
}

impl From<Errno> for EntryError {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

pub(super) type EntryResult<T> = std::result::Result<T, EntryError>;

const CHANGED: &str = tr_later!("changed since the snapshot");
const LEFT: &str = tr_later!("left by an interrupted rollback, and no snapshot contains it");
const OCCUPIED: &str = tr_later!("something that no snapshot contains is in its place");

pub(super) struct EntryHandle {
    folder: OwnedFd,
    name: CString,
}

/// The current entry under a name.
enum CurrentEntry {
    Nothing,
    Item {
        item: TreeItem,
        mode: Mode,
    },
    Folder,
    /// A pipe, a socket, a device, a file too big or unreadable.
    Other,
}

impl CurrentEntry {
    fn is_unchanged(&self, expected: TreeItem) -> bool {
        matches!(self, Self::Item { item, .. } if *item == expected)
    }
}

impl EntryHandle {
    pub(super) fn new(folder: OwnedFd, name: &[u8]) -> std::result::Result<Self, Errno> {
        Ok(Self { folder, name: c_name(name)? })
    }

    /// Opens the folder of this name for reading.
    pub(super) fn open_folder(&self) -> std::result::Result<OwnedFd, Errno> {
        folder::open(self.folder.as_fd(), &self.name)
    }

    /// Deletes the entry if it is `old`; `false` if it does not exist.
    pub(super) fn remove(&self, old: TreeItem) -> EntryResult<bool> {
        match self.current()? {
            CurrentEntry::Nothing => return Ok(false),
            it if it.is_unchanged(old) => {}
            _ => return Err(EntryError::Refused(CHANGED)),
        }
        let aside = temporary_name()?;
        match self.rename(&self.name, &aside, RenameFlags::NOREPLACE) {
            Err(it) if is_unsupported(it) => self.unlink(&self.name)?,
            it => {
                it?;
                self.unlink_or_put_back(&aside, old, RenameFlags::NOREPLACE)?;
            }
        }
        Ok(true)
    }

    /// Deletes the file or link that an interrupted restore left, if nothing is lost with these bytes: a file that was
    /// changed at the last moment may have been moved aside and not put back.
    pub(super) fn discard(&self, is_stored: impl FnOnce(&[u8]) -> bool) -> EntryResult<bool> {
        let stat = rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        let bytes = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                Some(rustix::fs::readlinkat(&self.folder, &self.name, Vec::new())?.into_bytes())
            }
            FileType::RegularFile => read_file((self.folder.as_fd(), &self.name))?.map(|it| it.bytes),
            _ => None,
        };
        if bytes.is_some_and(|it| is_stored(&it)) {
            return Ok(self.unlink(&self.name).map(|()| true)?);
        }
        Err(EntryError::Refused(LEFT))
    }

    pub(super) fn remove_folder(&self) -> std::result::Result<(), Errno> {
        rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR)
    }

    /// Replaces `old` with an item; `false` if the item is already in place.
    pub(super) fn put(
        &self,
        old: Option<TreeItem>,
        new: (TreeItem, &[u8]),
        sync: SyncMode,
    ) -> EntryResult<bool> {
        let mut found = self.current()?;
        if matches!(found, CurrentEntry::Folder) {
            // Its files are already removed; only empty folders, or files to keep, remain.
            folder::remove_empty(self.folder.as_fd(), &self.name);
            found = self.current()?;
        }
        let mode = match found {
            CurrentEntry::Item { item, .. } if item == new.0 => return Ok(false),
            CurrentEntry::Item { item, mode } if Some(item) == old => Some(mode),
            CurrentEntry::Nothing => None,
            CurrentEntry::Folder | CurrentEntry::Other if old.is_none() => {
                return Err(EntryError::Refused(OCCUPIED));
            }
            _ => return Err(EntryError::Refused(CHANGED)),
        };
        let temporary = temporary_name()?;
        let done = create(self.folder.as_fd(), &temporary, new, mode, sync).and_then(|()| match old {
            Some(old) if mode.is_some() => self.exchange(&temporary, old),
            _ => self.move_in(&temporary),
        });
        if done.is_err() {
            let _ = self.unlink(&temporary);
        }
        done.map(|()| true)
    }

    /// If no entry is expected, one that appears at the last moment is kept.
    fn move_in(&self, temporary: &CString) -> EntryResult<()> {
        match self.rename(temporary, &self.name, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => Err(EntryError::Refused(CHANGED)),
            Err(it) if is_unsupported(it) => Ok(self.rename(temporary, &self.name, RenameFlags::empty())?),
            it => Ok(it?),
        }
    }

    fn exchange(&self, temporary: &CString, old: TreeItem) -> EntryResult<()> {
        match self.rename(temporary, &self.name, RenameFlags::EXCHANGE) {
            Err(it) if is_unsupported(it) => Ok(self.rename(temporary, &self.name, RenameFlags::empty())?),
            it => {
                it?;
                self.unlink_or_put_back(temporary, old, RenameFlags::EXCHANGE)
            }
        }
    }

    /// Deletes the renamed entry, or puts it back if it is not the expected one.
    fn unlink_or_put_back(&self, aside: &CString, old: TreeItem, back: RenameFlags) -> EntryResult<()> {
        let is_old = read_current(self.folder.as_fd(), aside).is_ok_and(|it| it.is_unchanged(old));
        if is_old {
            return Ok(self.unlink(aside)?);
        }
        self.rename(aside, &self.name, back)?;
        Err(EntryError::Refused(CHANGED))
    }

    fn current(&self) -> std::result::Result<CurrentEntry, Errno> {
        read_current(self.folder.as_fd(), &self.name)
    }

    fn rename(&self, from: &CString, to: &CString, flags: RenameFlags) -> std::result::Result<(), Errno> {
        if flags.is_empty() {
            return rustix::fs::renameat(&self.folder, from, &self.folder, to);
        }
        rustix::fs::renameat_with(&self.folder, from, &self.folder, to, flags)
    }

    fn unlink(&self, name: &CString) -> std::result::Result<(), Errno> {
        rustix::fs::unlinkat(&self.folder, name, AtFlags::empty())
    }
}

/// Not every file system supports the safe ways of renaming.
fn is_unsupported(errno: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&errno)
}

/// Whether a new file is synced individually, or all of them together at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncMode {
    Each,
    All,
}

fn read_current(fd: BorrowedFd<'_>, name: &CString) -> std::result::Result<CurrentEntry, Errno> {
    let stat = match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(CurrentEntry::Nothing),
        it => it?,
    };
    let hash = |bytes: &[u8]| Oid::hash_object(ObjectType::Blob, bytes).map_err(|_| Errno::IO);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(CurrentEntry::Folder),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(fd, name, Vec::new())?;
            let item = TreeItem { kind: TreeItemKind::Symlink, id: hash(target.as_bytes())? };
            Ok(CurrentEntry::Item { item, mode: Mode::empty() })
        }
        FileType::RegularFile => match read_file((fd, name)) {
            Ok(Some(it)) => {
                let kind = if it.executable { TreeItemKind::Executable } else { TreeItemKind::File };
                Ok(CurrentEntry::Item { item: TreeItem { kind, id: hash(&it.bytes)? }, mode: it.mode })
            }
            _ => Ok(CurrentEntry::Other),
        },
        _ => Ok(CurrentEntry::Other),
    }
}

/// `mode`: the permissions of the replaced file, kept except for the executable bits.
fn create(
    fd: BorrowedFd<'_>,
    name: &CString,
    (new, bytes): (TreeItem, &[u8]),
    mode: Option<Mode>,
    sync: SyncMode,
) -> EntryResult<()> {
    if new.kind == TreeItemKind::Symlink {
        let target = CString::new(bytes).map_err(|_| Errno::INVAL)?;
        return Ok(rustix::fs::symlinkat(&target, fd, name)?);
    }
    let executable = new.kind == TreeItemKind::Executable;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let initial = Mode::from_raw_mode(if executable { 0o777 } else { 0o666 });
    let mut file = File::from(rustix::fs::openat(fd, name, flags, initial)?);
    file.write_all(bytes).map_err(|it| Errno::from_io_error(&it).unwrap_or(Errno::IO))?;
    if let Some(mode) = mode.filter(|it| !it.is_empty()) {
        let bits = mode.bits() & 0o777;
        let bits = if executable { bits | ((bits & 0o444) >> 2) } else { bits & !0o111 };
        rustix::fs::fchmod(&file, Mode::from_raw_mode(bits))?;
    }
    if sync == SyncMode::Each {
        rustix::fs::fdatasync(&file)?;
    }
    Ok(())
}

pub(super) fn c_name(name: &[u8]) -> std::result::Result<CString, Errno> {
    CString::new(name).map_err(|_| Errno::INVAL)
}

fn temporary_name() -> std::result::Result<CString, Errno> {
    let mut name = TEMPORARY_PREFIX.to_vec();
    name.extend_from_slice(uuid::Uuid::new_v4().simple().to_string().as_bytes());
    c_name(&name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use git2::{ObjectType, Oid};
    use rustix::fs::{Mode, OFlags, mkdirat, openat};

    use super::{CHANGED, EntryError, EntryHandle, OCCUPIED, SyncMode, TreeItem, TreeItemKind};
    use crate::forced_removal::remove_folder;

    fn item(bytes: &[u8]) -> TreeItem {
        TreeItem { kind: TreeItemKind::File, id: Oid::hash_object(ObjectType::Blob, bytes).unwrap() }
    }

    fn slot(dir: &Path) -> EntryHandle {
        EntryHandle::new(OwnedFd::from(fs::File::open(dir).unwrap()), b"name").unwrap()
    }

    #[test]
    fn only_the_expected_entry_is_overwritten_or_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let (slot, path) = (slot(dir.path()), dir.path().join("name"));
        let new: (TreeItem, &[u8]) = (item(b"new"), b"new");
        fs::write(&path, "theirs").unwrap();
        assert_eq!(slot.put(Some(item(b"old")), new, SyncMode::All), Err(EntryError::Refused(CHANGED)));
        assert_eq!(slot.put(None, new, SyncMode::All), Err(EntryError::Refused(CHANGED)));
        assert_eq!(slot.remove(item(b"old")), Err(EntryError::Refused(CHANGED)));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(slot.put(Some(item(b"theirs")), new, SyncMode::Each), Ok(true));
        assert_eq!(slot.put(Some(item(b"theirs")), new, SyncMode::Each), Ok(false), "there already");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!((slot.remove(item(b"new")), slot.remove(item(b"new"))), (Ok(true), Ok(false)));
        fs::create_dir_all(path.join("empty/folders")).unwrap();
        assert_eq!(slot.put(None, new, SyncMode::All), Ok(true));
        fs::remove_file(&path).unwrap();
        fs::create_dir_all(path.join("not")).unwrap();
        fs::write(path.join("not/empty"), "").unwrap();
        assert_eq!(slot.put(None, new, SyncMode::All), Err(EntryError::Refused(OCCUPIED)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing of ours is left");
    }

    /// As deep as only a program makes folders.
    #[test]
    fn a_folder_too_deep_for_the_stack_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (slot, path) = (slot(dir.path()), dir.path().join("name"));
        fs::create_dir(&path).unwrap();
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = rustix::fs::open(&path, flags, Mode::empty()).unwrap();
        for _ in 0..15_000 {
            mkdirat(&at, "d", Mode::RWXU).unwrap();
            at = openat(&at, "d", flags, Mode::empty()).unwrap();
        }
        let new: (TreeItem, &[u8]) = (item(b"new"), b"new");
        assert_eq!(slot.put(None, new, SyncMode::All), Err(EntryError::Refused(OCCUPIED)));
        remove_folder(&path).unwrap();
    }

    #[test]
    fn a_late_change_is_restored() {
        let dir = tempfile::tempdir().unwrap();
        let (slot, path) = (slot(dir.path()), dir.path().join("name"));
        let aside = super::c_name(b"aside").unwrap();
        // As if the file had been saved between the check and the exchange.
        fs::write(&path, "theirs").unwrap();
        fs::write(dir.path().join("aside"), "new").unwrap();
        assert_eq!(slot.exchange(&aside, item(b"old")), Err(EntryError::Refused(CHANGED)));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(slot.move_in(&aside), Err(EntryError::Refused(CHANGED)));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }
}
