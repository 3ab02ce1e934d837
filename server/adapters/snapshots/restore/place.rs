//! Single steps inside the work tree. Every path is walked name by name from the root's handle without following
//! symlinks, so nothing outside can be reached; every file is compared with what is expected right before it is
//! replaced or deleted.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::adapters::snapshots::error::{Result, SnapshotError};
use crate::adapters::snapshots::objects::Objects;
use crate::adapters::snapshots::tree::{Item, Kind};
use crate::adapters::snapshots::walk::{TEMPORARY, read_file};

/// Why a step was not taken.
#[derive(Debug)]
pub(super) enum Trouble {
    Refused(&'static str),
    Failed(Errno),
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

type Step<T> = std::result::Result<T, Trouble>;

const CHANGED: &str = "changed since the snapshot";
const OCCUPIED: &str = "something that no snapshot holds is in its place";

/// What stands under a name now.
enum Now {
    Nothing,
    Item {
        item: Item,
        mode: Mode,
    },
    Folder,
    /// A pipe, a socket, a device, something too big or unreadable.
    Other,
}

impl Now {
    fn item(&self) -> Option<Item> {
        match self {
            Self::Item { item, .. } => Some(*item),
            _ => None,
        }
    }
}

pub(super) struct Place<'a> {
    root: OwnedFd,
    path: &'a Path,
}

impl<'a> Place<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty())
            .map_err(SnapshotError::io("open the folder", path))?;
        Ok(Self { root, path })
    }

    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    pub(super) fn path(&self, below: &[u8]) -> PathBuf {
        self.path.join(std::ffi::OsStr::from_bytes(below))
    }

    /// Deletes what is `old`; `false` when it is gone already. Folders that become empty go too.
    pub(super) fn remove(&self, path: &[u8], old: Item) -> Step<bool> {
        let Some((folder, name)) = self.find(path)? else { return Ok(false) };
        match now(folder.as_fd(), &name)? {
            Now::Nothing => return Ok(false),
            it if it.item() == Some(old) => {}
            _ => return Err(Trouble::Refused(CHANGED)),
        }
        rustix::fs::unlinkat(&folder, &name, AtFlags::empty())?;
        self.prune(path);
        Ok(true)
    }

    /// Deletes a temporary file of our own.
    pub(super) fn discard(&self, path: &[u8]) -> Step<bool> {
        let Some((folder, name)) = self.find(path)? else { return Ok(false) };
        rustix::fs::unlinkat(&folder, &name, AtFlags::empty())?;
        Ok(true)
    }

    /// Puts an item where `old` stands; `false` when it is there already.
    pub(super) fn write(
        &self,
        path: &[u8],
        old: Option<Item>,
        (new, bytes): (Item, &[u8]),
        sync: bool,
    ) -> Step<bool> {
        let (folder, name) = self.make_way(path)?;
        let mut now_there = now(folder.as_fd(), &name)?;
        if matches!(now_there, Now::Folder) {
            // Its files are gone by now; what is left are empty folders, or something that stays.
            remove_empty(folder.as_fd(), &name);
            now_there = now(folder.as_fd(), &name)?;
        }
        let mode = match now_there {
            Now::Item { item, .. } if item == new => return Ok(false),
            Now::Item { item, mode } if Some(item) == old => Some(mode),
            Now::Nothing => None,
            Now::Folder | Now::Other if old.is_none() => return Err(Trouble::Refused(OCCUPIED)),
            _ => return Err(Trouble::Refused(CHANGED)),
        };
        let temporary = temporary_name()?;
        let done = create(folder.as_fd(), &temporary, (new, bytes), mode, sync)
            .and_then(|()| move_over(folder.as_fd(), &temporary, &name, mode.is_none()));
        if done.is_err() {
            let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        }
        done.map(|()| true)
    }

    pub(super) fn sync(&self, folder: &[u8]) -> std::result::Result<(), Errno> {
        let mut fd = self.reopen()?;
        for name in parts(folder) {
            match open_folder(fd.as_fd(), &c_name(name)?) {
                // Removed, or replaced by a file since: its parent is what changed.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => break,
                it => fd = it?,
            }
        }
        rustix::fs::fsync(&fd)
    }

    /// Whether the folder holds any file that `tree` does not name.
    pub(super) fn holds_more_than(&self, path: &[u8], tree: Oid, objects: &Objects) -> Result<bool> {
        let look = || -> Step<Option<OwnedFd>> {
            let Some((folder, name)) = self.find(path)? else { return Ok(None) };
            match open_folder(folder.as_fd(), &name) {
                Ok(it) => Ok(Some(it)),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
                Err(it) => Err(it.into()),
            }
        };
        match look() {
            Ok(Some(fd)) => holds_more(fd, Some(tree), objects),
            Ok(None) => Ok(false),
            Err(_) => Ok(true),
        }
    }

    /// The folder of a path and its last name; `None` when a folder on the way is not there.
    fn find(&self, path: &[u8]) -> Step<Option<(OwnedFd, CString)>> {
        let (folders, name) = split(path);
        let mut fd = self.reopen()?;
        for part in parts(folders) {
            fd = match open_folder(fd.as_fd(), &c_name(part)?) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                it => it?,
            };
        }
        Ok(Some((fd, c_name(name)?)))
    }

    /// Like [`Self::find`], making what is missing.
    fn make_way(&self, path: &[u8]) -> Step<(OwnedFd, CString)> {
        let (folders, name) = split(path);
        let mut fd = self.reopen()?;
        for part in parts(folders) {
            let part = c_name(part)?;
            fd = match open_folder(fd.as_fd(), &part) {
                Err(Errno::NOENT) => {
                    match rustix::fs::mkdirat(&fd, &part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(it) => return Err(it.into()),
                    }
                    open_folder(fd.as_fd(), &part)?
                }
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    return Err(Trouble::Refused("something that is no folder is in its way"));
                }
                it => it?,
            };
        }
        Ok((fd, c_name(name)?))
    }

    /// Removes the folders above a deleted file as far as they are empty.
    fn prune(&self, path: &[u8]) {
        let mut path = split(path).0;
        while !path.is_empty() {
            let Ok(Some((folder, name))) = self.find(path) else { return };
            if rustix::fs::unlinkat(&folder, &name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
            path = split(path).0;
        }
    }

    fn reopen(&self) -> std::result::Result<OwnedFd, Errno> {
        open_folder(self.root.as_fd(), c".")
    }
}

fn open_folder(fd: BorrowedFd<'_>, name: &std::ffi::CStr) -> std::result::Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(fd, name, flags, Mode::empty())
}

fn now(fd: BorrowedFd<'_>, name: &CString) -> std::result::Result<Now, Errno> {
    let stat = match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(Now::Nothing),
        it => it?,
    };
    let hash = |bytes: &[u8]| Oid::hash_object(ObjectType::Blob, bytes).map_err(|_| Errno::IO);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(Now::Folder),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(fd, name, Vec::new())?;
            let item = Item { kind: Kind::Symlink, id: hash(target.as_bytes())? };
            Ok(Now::Item { item, mode: Mode::empty() })
        }
        FileType::RegularFile => match read_file((fd, name)) {
            Ok(Some(it)) => {
                let kind = if it.executable { Kind::Executable } else { Kind::File };
                Ok(Now::Item { item: Item { kind, id: hash(&it.bytes)? }, mode: it.mode })
            }
            _ => Ok(Now::Other),
        },
        _ => Ok(Now::Other),
    }
}

/// `mode`: the permissions of what is replaced, kept but for the executable bits.
fn create(
    fd: BorrowedFd<'_>,
    name: &CString,
    (new, bytes): (Item, &[u8]),
    mode: Option<Mode>,
    sync: bool,
) -> Step<()> {
    if new.kind == Kind::Symlink {
        let target = CString::new(bytes).map_err(|_| Errno::INVAL)?;
        return Ok(rustix::fs::symlinkat(&target, fd, name)?);
    }
    let executable = new.kind == Kind::Executable;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let initial = Mode::from_raw_mode(if executable { 0o777 } else { 0o666 });
    let mut file = File::from(rustix::fs::openat(fd, name, flags, initial)?);
    file.write_all(bytes).map_err(|it| Errno::from_io_error(&it).unwrap_or(Errno::IO))?;
    if let Some(mode) = mode.filter(|it| !it.is_empty()) {
        let bits = mode.bits() & 0o777;
        let bits = if executable { bits | ((bits & 0o444) >> 2) } else { bits & !0o111 };
        rustix::fs::fchmod(&file, Mode::from_raw_mode(bits))?;
    }
    if sync {
        rustix::fs::fdatasync(&file)?;
    }
    Ok(())
}

/// Where nothing is expected, something that appears in the last moment stays.
fn move_over(fd: BorrowedFd<'_>, from: &CString, to: &CString, expects_nothing: bool) -> Step<()> {
    if expects_nothing {
        match rustix::fs::renameat_with(fd, from, fd, to, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => return Err(Trouble::Refused(CHANGED)),
            // Not every file system can.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            it => return Ok(it?),
        }
    }
    Ok(rustix::fs::renameat(fd, from, fd, to)?)
}

/// Removes a folder that holds nothing but empty folders; anything else stays whole or in part.
fn remove_empty(fd: BorrowedFd<'_>, name: &CString) {
    if let Ok(folder) = open_folder(fd, name)
        && let Ok(entries) = entries(folder)
    {
        for (child, kind) in entries.1 {
            if kind.is_dir() {
                remove_empty(entries.0.as_fd(), &child);
            }
        }
    }
    let _ = rustix::fs::unlinkat(fd, name, AtFlags::REMOVEDIR);
}

fn holds_more(fd: OwnedFd, tree: Option<Oid>, objects: &Objects) -> Result<bool> {
    let known = tree.map_or(Ok(Vec::new()), |it| objects.tree(it))?;
    let Ok((fd, entries)) = entries(fd) else { return Ok(true) };
    for (name, kind) in entries {
        let item = known.iter().find(|it| it.0 == name.as_bytes()).map(|it| it.1);
        if !kind.is_dir() {
            if item.is_none_or(|it| matches!(it.kind, Kind::Folder | Kind::Marker)) {
                return Ok(true);
            }
            continue;
        }
        let below = item.filter(|it| it.kind == Kind::Folder).map(|it| it.id);
        let Ok(folder) = open_folder(fd.as_fd(), &name) else { return Ok(true) };
        if holds_more(folder, below, objects)? {
            return Ok(true);
        }
    }
    Ok(false)
}

type Entries = (OwnedFd, Vec<(CString, FileType)>);

fn entries(fd: OwnedFd) -> std::result::Result<Entries, Errno> {
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

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|it| *it == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (&[], path),
    }
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|it| *it == b'/').filter(|it| !it.is_empty())
}

fn c_name(name: &[u8]) -> std::result::Result<CString, Errno> {
    CString::new(name).map_err(|_| Errno::INVAL)
}

fn temporary_name() -> std::result::Result<CString, Errno> {
    let mut name = TEMPORARY.to_vec();
    name.extend_from_slice(uuid::Uuid::new_v4().simple().to_string().as_bytes());
    c_name(&name)
}
