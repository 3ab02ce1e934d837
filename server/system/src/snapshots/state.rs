//! Reads and writes the small files next to the objects: the lock, the last snapshot with the generation of the store,
//! the snapshots taken before rollbacks, and the stat cache. None of them is needed to read a snapshot.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use git2::Oid;
use loopkeeper_text::tr_later;
use rustix::fs::{CWD, FlockOperation, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::error::{Result, SnapshotError};
use super::objects::sync_folder;

const STATE: &str = "loopkeeper";
const CACHE: &str = "stat-cache";
const ROLLBACKS: &str = "before-rollbacks";
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// Held while the store or the work tree changes; released when the process exits.
pub(super) struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Waits while another process holds the lock. One that is stopped may hold it without end, so the wait is limited.
    pub(super) fn acquire(dir: &Path, timeout: Duration) -> Result<Self> {
        let begun = Instant::now();
        loop {
            match Self::try_acquire(dir)? {
                Some(lock) => return Ok(lock),
                None if begun.elapsed() < timeout => std::thread::sleep(RETRY_DELAY),
                None => return Err(SnapshotError::Locked { dir: dir.to_path_buf() }),
            }
        }
    }

    /// `None`: another process holds the lock.
    pub(super) fn try_acquire(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join("lock");
        let file = match File::options().create(true).append(true).open(&path) {
            Err(it) if it.kind() == io::ErrorKind::NotFound => {
                return Err(SnapshotError::Missing { dir: dir.to_path_buf() });
            }
            it => it.map_err(SnapshotError::io(tr_later!("open"), &path))?,
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(SnapshotError::io(tr_later!("lock"), &path)(error)),
        }
    }
}

/// The state that caches are validated against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoreState {
    /// Changes after each collection, and after anything that makes earlier caches doubtful.
    generation: u64,
    /// The last snapshot taken: never collected.
    pub last: Option<Oid>,
}

impl StoreState {
    /// An unreadable file (after a power cut) only costs the caches; a missing file means that the store was deleted.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(STATE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self::parse(&text).unwrap_or_else(Self::new)),
            Err(it) if it.kind() == io::ErrorKind::NotFound => {
                Err(SnapshotError::Missing { dir: dir.to_path_buf() })
            }
            Err(it) if it.kind() == io::ErrorKind::InvalidData => Ok(Self::new()),
            Err(source) => Err(SnapshotError::Io { action: tr_later!("read"), path, source }),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (generation, last) = text.strip_suffix('\n')?.split_once(' ')?;
        let last = if last == "-" { None } else { Some(Oid::from_str(last).ok()?) };
        Some(Self { generation: u64::from_str_radix(generation, 16).ok()?, last })
    }

    fn new() -> Self {
        Self { generation: uuid::Uuid::new_v4().as_u64_pair().0, last: None }
    }

    /// Whether a cache made under this state still refers to existing objects: nothing was collected since, or the
    /// collection kept exactly the objects of the cache.
    pub(super) fn is_valid_under(self, now: &Self) -> bool {
        self.generation == now.generation || (self.last.is_some() && self.last == now.last)
    }

    pub(super) fn with_last(self, tree: Oid) -> Self {
        Self { last: Some(tree), ..self }
    }

    pub(super) fn next_generation(self) -> Self {
        Self { last: self.last, ..Self::new() }
    }

    pub(super) fn write(self, dir: &Path) -> Result<()> {
        let last = self.last.map_or_else(|| "-".to_owned(), |it| it.to_string());
        replace_file(dir, STATE, format!("{:x} {last}\n", self.generation).as_bytes())
    }
}

/// Creates the state file of a new store.
pub(super) fn ensure_state(dir: &Path) -> Result<()> {
    if dir.join(STATE).exists() { Ok(()) } else { StoreState::new().write(dir) }
}

/// Records durably the snapshot taken before a rollback: it is never collected, even if the process is killed before it
/// can record the snapshot anywhere else.
pub(super) fn record_rollback(dir: &Path, before: Oid) -> Result<()> {
    let path = dir.join(ROLLBACKS);
    let write = || -> io::Result<()> {
        // The previous line may be incomplete.
        let mut file = File::options().create(true).append(true).open(&path)?;
        file.write_all(format!("\n{before}\n").as_bytes())?;
        file.sync_all()
    };
    write().map_err(SnapshotError::io(tr_later!("write"), &path))?;
    sync_folder(dir)
}

pub(super) fn read_rollbacks(dir: &Path) -> Result<Vec<Oid>> {
    let path = dir.join(ROLLBACKS);
    match fs::read(&path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let whole = text.lines().filter(|it| it.len() == 40);
            Ok(whole.filter_map(|it| Oid::from_str(it).ok()).collect())
        }
        Err(it) if it.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(SnapshotError::Io { action: tr_later!("read"), path, source }),
    }
}

pub(super) fn read_cache(dir: &Path) -> Option<Vec<u8>> {
    fs::read(dir.join(CACHE)).ok()
}

pub(super) fn write_cache(dir: &Path, bytes: &[u8]) -> Result<()> {
    replace_file(dir, CACHE, bytes)
}

pub(super) fn remove_cache(dir: &Path) -> Result<()> {
    match fs::remove_file(dir.join(CACHE)) {
        Err(it) if it.kind() != io::ErrorKind::NotFound => {
            Err(SnapshotError::Io { action: tr_later!("delete"), path: dir.join(CACHE), source: it })
        }
        _ => Ok(()),
    }
}

/// Atomic for every reader; not synced, because a loss only costs time. If possible, two files alternate: creating and
/// deleting one each time costs more than writing its contents.
fn replace_file(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let (path, staging) = (dir.join(name), dir.join(format!("{name}.new")));
    let write = || -> io::Result<()> {
        let mut file = File::options().write(true).create(true).truncate(false).open(&staging)?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        drop(file);
        if renameat_with(CWD, &staging, CWD, &path, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        fs::rename(&staging, &path)
    };
    write().map_err(SnapshotError::io(tr_later!("write"), &path))
}
