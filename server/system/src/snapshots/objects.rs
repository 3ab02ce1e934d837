//! Writes and reads the objects of the store. They are compressed, and durable before they get their final name, so that
//! every object that can be found is complete, even after a power cut. They are read by libgit2, which checks every object
//! against its id.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use git2::{ErrorCode, ObjectType, Oid, Repository};
use loopkeeper_text::{tr, tr_later};
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};

use super::error::{Result, SnapshotError};
use super::tree::{self, TreeItem};

/// Up to this many new objects are synced one by one; for more, one sync of the whole file system is faster.
const MAX_SINGLE_SYNCS: usize = 48;
/// Exists while objects are written that are not all durable under their names.
const INCOMING: &str = "incoming";
/// The same folder between two writes: creating one each time costs more than all objects written into it, on file
/// systems that are slow to reuse the space of a deleted file.
const INCOMING_IDLE: &str = "incoming-at-rest";
/// Number of trees cached, and the largest number of entries of each: they stay in an idle keeper's memory.
const MAX_CACHED_TREES: usize = 4;
const MAX_CACHED_ENTRIES: usize = 128;

pub(super) struct ObjectStore {
    dir: PathBuf,
    repo: Repository,
    /// `objects/`, kept open.
    folder: OwnedFd,
    /// Written since the last commit; the file is kept open if it will be synced individually.
    fresh: HashMap<Oid, Option<File>>,
    /// Cache of the trees read last: an iteration asks for the same few repeatedly.
    known: RefCell<VecDeque<(Oid, ObjectEntries)>>,
}

/// Entries of one tree, sorted by the bytes of their names.
pub(super) type ObjectEntries = Arc<[(Vec<u8>, TreeItem)]>;

impl ObjectStore {
    /// Opens the store, or creates it (for the user alone) if it does not exist.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        match fs::read_dir(dir).map(|mut it| it.next().is_none()) {
            Ok(false) => {}
            Ok(true) => create(dir)?,
            Err(it) if it.kind() == io::ErrorKind::NotFound => create(dir)?,
            Err(source) => {
                return Err(SnapshotError::Io {
                    action: tr_later!("open the folder"),
                    path: dir.to_path_buf(),
                    source,
                });
            }
        }
        let repo = Repository::open_bare(dir).map_err(|it| SnapshotError::damaged(dir, it.message()))?;
        let path = dir.join("objects");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&path, flags, Mode::empty())
            .map_err(SnapshotError::io(tr_later!("open"), &path))?;
        Ok(Self { dir: dir.to_path_buf(), repo, folder, fresh: HashMap::new(), known: RefCell::default() })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn repo(&self) -> &Repository {
        &self.repo
    }

    /// Cleans up after a process that died while writing. Objects that it had renamed may not be durable yet, and a
    /// later snapshot would rely on them: hence the sync.
    pub(super) fn recover(&mut self) -> Result<()> {
        self.fresh.clear();
        let incoming = self.dir.join(INCOMING);
        match fs::remove_dir_all(&incoming) {
            Ok(()) => self.sync_all(),
            Err(it) if it.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(it) => Err(SnapshotError::Io { action: tr_later!("remove"), path: incoming, source: it }),
        }
    }

    /// Returns the id of these bytes and writes them unless the store has them. Not durable before
    /// [`Self::sync_inserted`].
    pub(super) fn insert(&mut self, kind: ObjectType, data: &[u8]) -> Result<Oid> {
        let id =
            Oid::hash_object(kind, data).map_err(|it| SnapshotError::damaged(&self.dir, it.message()))?;
        if !self.fresh.contains_key(&id) && !self.freshen(id)? {
            let file = self.write_incoming(id, &header(kind, data.len()), data)?;
            let kept = (self.fresh.len() < MAX_SINGLE_SYNCS).then_some(file);
            self.fresh.insert(id, kept);
        }
        Ok(id)
    }

    /// Whether the object exists. Sets its time to now, so that a concurrent collection with an outdated list of needed
    /// objects keeps it.
    fn freshen(&self, id: Oid) -> Result<bool> {
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
        let path = object_path(id);
        match rustix::fs::utimensat(&self.folder, &path, &times, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(it) => Err(SnapshotError::io(tr_later!("look at"), &self.dir.join("objects").join(path))(it)),
        }
    }

    fn write_incoming(&self, id: Oid, header: &str, data: &[u8]) -> Result<File> {
        let incoming = self.dir.join(INCOMING);
        if self.fresh.is_empty() && fs::rename(self.dir.join(INCOMING_IDLE), &incoming).is_err() {
            match fs::create_dir(&incoming) {
                Err(it) if it.kind() == io::ErrorKind::NotFound => {
                    return Err(SnapshotError::Missing { dir: self.dir.clone() });
                }
                Err(it) if it.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(SnapshotError::Io { action: tr_later!("make"), path: incoming, source: it });
                }
                _ => {}
            }
        }
        let path = incoming.join(id.to_string());
        let write = || -> io::Result<File> {
            let buffer = Vec::with_capacity(data.len() / 2 + 64);
            let mut encoder = ZlibEncoder::new(buffer, Compression::fast());
            encoder.write_all(header.as_bytes())?;
            encoder.write_all(data)?;
            let bytes = encoder.finish()?;
            let mut file = File::create_new(&path)?;
            file.write_all(&bytes)?;
            Ok(file)
        };
        write().map_err(SnapshotError::io(tr_later!("write"), &path))
    }

    /// When this returns, all inserted objects are on disk under their names.
    pub(super) fn sync_inserted(&mut self) -> Result<()> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        let fresh = std::mem::take(&mut self.fresh);
        let is_few = fresh.len() <= MAX_SINGLE_SYNCS;
        if is_few {
            for file in fresh.values().flatten() {
                rustix::fs::fdatasync(file).map_err(SnapshotError::io(tr_later!("sync"), &self.dir))?;
            }
        } else {
            self.sync_all()?;
        }
        let folders = self.move_in(fresh.keys().copied())?;
        if is_few {
            for it in folders {
                let path = self.dir.join("objects").join(it);
                sync_folder(&path)?;
            }
        } else {
            self.sync_all()?;
        }
        let incoming = self.dir.join(INCOMING);
        fs::rename(&incoming, self.dir.join(INCOMING_IDLE))
            .map_err(SnapshotError::io(tr_later!("put away"), &incoming))
    }

    /// Renames into place; returns the folders that need a sync (`""`: the parent of all).
    fn move_in(&self, ids: impl Iterator<Item = Oid>) -> Result<BTreeSet<String>> {
        let mut folders = BTreeSet::new();
        let incoming = self.dir.join(INCOMING);
        for id in ids {
            let (from, to) = (incoming.join(id.to_string()), object_path(id));
            let folder = to.split('/').next().unwrap_or_default().to_owned();
            let rename = || rustix::fs::renameat(CWD, &from, &self.folder, &to);
            let mut done = rename();
            if done == Err(rustix::io::Errno::NOENT) {
                let made = rustix::fs::mkdirat(&self.folder, &folder, Mode::from_raw_mode(0o700));
                if made.is_ok() {
                    folders.insert(String::new());
                }
                done = rename();
            }
            done.map_err(SnapshotError::io(tr_later!("move into the store"), &from))?;
            folders.insert(folder);
        }
        Ok(folders)
    }

    fn sync_all(&self) -> Result<()> {
        sync_file_system(&self.folder).map_err(SnapshotError::io(tr_later!("sync"), &self.dir))
    }

    /// Checks the disk first: libgit2 caches objects that have been collected since.
    pub(super) fn has(&self, id: Oid, kind: ObjectType) -> bool {
        let exists =
            rustix::fs::accessat(&self.folder, object_path(id), Access::EXISTS, AtFlags::empty()).is_ok();
        let is_known = kind == ObjectType::Tree && self.known.borrow().iter().any(|it| it.0 == id);
        exists && (is_known || self.repo.odb().and_then(|it| it.read_header(id)).is_ok_and(|it| it.1 == kind))
    }

    /// The bytes of an object that another object names: if it is missing, the store is damaged.
    pub(super) fn read(&self, id: Oid, kind: ObjectType) -> Result<Vec<u8>> {
        let odb = self.repo.odb().map_err(|it| SnapshotError::damaged(&self.dir, it.message()))?;
        let object = odb.read(id).map_err(|it| match it.code() {
            ErrorCode::NotFound => SnapshotError::damaged(&self.dir, tr!("object {id} is missing", id)),
            _ => SnapshotError::damaged(&self.dir, tr!("object {id}: {message}", id, message = it.message())),
        })?;
        if object.kind() != kind {
            return Err(SnapshotError::damaged(&self.dir, tr!("object {id} is no {kind}", id, kind)));
        }
        Ok(object.data().to_vec())
    }

    /// The entries of a tree.
    pub(super) fn tree(&self, id: Oid) -> Result<ObjectEntries> {
        if let Some((_, entries)) = self.known.borrow().iter().find(|it| it.0 == id) {
            return Ok(Arc::clone(entries));
        }
        let bytes = self.read(id, ObjectType::Tree)?;
        let entries: ObjectEntries = tree::decode(&bytes)
            .ok_or_else(|| SnapshotError::damaged(&self.dir, tr!("tree {id} cannot be read", id)))?
            .into();
        if entries.len() <= MAX_CACHED_ENTRIES {
            let mut known = self.known.borrow_mut();
            known.truncate(MAX_CACHED_TREES - 1);
            known.push_front((id, Arc::clone(&entries)));
        }
        Ok(entries)
    }

    /// The id of a snapshot that the store contains.
    pub(super) fn resolve_snapshot(&self, tree: &str) -> Result<Oid> {
        let unknown = || SnapshotError::Unknown { tree: tree.to_owned(), dir: self.dir.clone() };
        if !self.dir.join("HEAD").is_file() {
            return Err(SnapshotError::Missing { dir: self.dir.clone() });
        }
        let id = Oid::from_str(tree).map_err(|_| unknown())?;
        if tree.len() == 40 && self.has(id, ObjectType::Tree) { Ok(id) } else { Err(unknown()) }
    }
}

fn header(kind: ObjectType, length: usize) -> String {
    format!("{} {length}\0", kind.str())
}

/// `ab/cdef…` below `objects`.
pub(super) fn object_path(id: Oid) -> String {
    let mut text = id.to_string();
    text.insert(2, '/');
    text
}

/// Creates an empty bare repository, for the user alone, atomically.
fn create(dir: &Path) -> Result<()> {
    let parent = dir.parent().unwrap_or(Path::new("."));
    let staging = parent.join(format!(".snapshots-new-{}", uuid::Uuid::new_v4().simple()));
    for folder in ["objects", "refs", "info"] {
        let path = staging.join(folder);
        let mut builder = fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(SnapshotError::io(tr_later!("make"), &path))?;
    }
    let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
    // A snapshot extracted with git contains every file byte for byte, whatever the tree's attributes say.
    let attributes = "* -export-ignore -export-subst -text -eol -filter -ident -working-tree-encoding\n";
    let files = [("HEAD", "ref: refs/heads/none\n"), ("config", config), ("info/attributes", attributes)];
    for (name, text) in files {
        let path = staging.join(name);
        let write = || -> io::Result<()> {
            let mut file = File::create_new(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(SnapshotError::io(tr_later!("write"), &path))?;
    }
    sync_folder(&staging.join("info"))?;
    sync_folder(&staging)?;
    match fs::rename(&staging, dir) {
        // Another process was first: its store is as good.
        Err(_) if dir.join("HEAD").exists() => drop(fs::remove_dir_all(&staging)),
        done => done.map_err(SnapshotError::io(tr_later!("make"), dir))?,
    }
    sync_folder(parent)
}

pub(super) fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|it| it.sync_all()).map_err(SnapshotError::io(tr_later!("sync"), path))
}

/// Syncs the whole file system of `fd`.
pub(super) fn sync_file_system(fd: impl std::os::fd::AsFd) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    return rustix::fs::syncfs(fd);
    #[cfg(not(target_os = "linux"))]
    {
        rustix::fs::sync();
        rustix::fs::fsync(fd)
    }
}
