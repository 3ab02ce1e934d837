//! Takes and probes locks: one keeper per loop, one loop or check round per work tree. A lock exists as long as the
//! process that holds it; its contents are for the user and never indicate whether the holder is alive.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::{tr, tr_later};

use super::workspace::{LoopDir, path_id};
use super::{StateDir, StateError, lock_holder, stopped_keeper};
use crate::process_table::Process;

/// Why a lock could not be acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{}", tr!("loop {loop_id} already has a keeper", loop_id))]
    Held { loop_id: String },
    #[error("{}", holder.busy_fact(path))]
    TreeBusy { holder: TreeHolder, path: PathBuf },
    #[error(transparent)]
    State(#[from] StateError),
}

impl HintedError for LockError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Held { loop_id } => tr!("`loopkeeper watch {loop_id}` shows what it does.", loop_id),
            Self::TreeBusy { holder: TreeHolder::Checks { .. }, .. } => tr!(
                "One work tree holds one loop or check round at a time. Try again when the checks are done."
            )
            .to_owned(),
            Self::TreeBusy { .. } => tr!(
                "One work tree holds one loop at a time: `loopkeeper watch` shows it, `loopkeeper stop` ends it."
            )
            .to_owned(),
            Self::State(error) => return error.hint(),
        })
    }
}

/// The holder of a work tree's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeHolder {
    Loop {
        id: String,
    },
    /// A check round without a loop. It ends without a command.
    Checks {
        task: String,
    },
    /// The lock is held, but its record is unreadable.
    Unknown,
}

impl TreeHolder {
    const CHECKS: &str = "checks of ";

    pub fn loop_id(&self) -> Option<&str> {
        match self {
            Self::Loop { id } => Some(id),
            Self::Checks { .. } | Self::Unknown => None,
        }
    }

    fn parse(record: &str) -> Self {
        match record.strip_prefix(Self::CHECKS) {
            Some(task) => Self::Checks { task: task.to_owned() },
            None => Self::Loop { id: record.to_owned() },
        }
    }

    fn busy_fact(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Loop { id } => tr!("loop {id} is already running in {path}", id, path),
            Self::Checks { task } => tr!("checks of {task} are already running in {path}", task, path),
            Self::Unknown => tr!("another process is already running in {path}", path),
        }
    }

    fn record(&self) -> String {
        match self {
            Self::Loop { id } => id.clone(),
            Self::Checks { task } => format!("{}{task}", Self::CHECKS),
            Self::Unknown => String::new(),
        }
    }
}

/// A lock that is held until this value is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the lock's file is still the one at its path. If not, another keeper may assume that it is alone.
    pub fn is_in_place(&self) -> bool {
        same_file(&self.file, &self.path)
    }
}

impl StateDir {
    /// Makes this process the loop's keeper.
    pub fn lock_loop(&self, loop_dir: &LoopDir) -> Result<Lock, LockError> {
        let path = loop_dir.lock();
        let _gate = self.gate(LockMode::Exclusive)?;
        let held = || LockError::Held { loop_id: loop_dir.id().to_owned() };
        let lock = try_acquire(&path).map_err(StateError::io(tr_later!("lock"), &path))?.ok_or_else(held)?;
        if is_journal_held(loop_dir)? {
            return Err(held());
        }
        let pid = std::process::id().to_string();
        write(&lock.file, pid.as_bytes()).map_err(StateError::io(tr_later!("write"), &path))?;
        Ok(lock)
    }

    /// Whether the loop has a keeper. Does not disturb a keeper that is just starting.
    pub fn keeper_of(&self, loop_dir: &LoopDir) -> Result<KeeperLiveness, StateError> {
        let path = loop_dir.lock();
        let _gate = self.gate(LockMode::Shared)?;
        if !is_lock_held(&path)? {
            let journal_held = is_journal_held(loop_dir)?;
            return Ok(if journal_held {
                KeeperLiveness::Alive { pid: None, stopped: false }
            } else {
                KeeperLiveness::Gone
            });
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let pid = text.trim().parse().ok();
        let stopped = pid.and_then(|pid| stopped_keeper::find(loop_dir, pid)).is_some();
        Ok(KeeperLiveness::Alive { pid, stopped })
    }

    /// Runs `act` while no keeper of the loop can start; `None` if it has one. Other processes wait for `act`.
    pub(crate) fn without_keeper<T>(
        &self,
        loop_dir: &LoopDir,
        act: impl FnOnce() -> T,
    ) -> Result<Option<T>, StateError> {
        let _gate = self.gate(LockMode::Exclusive)?;
        let has_keeper = is_lock_held(&loop_dir.lock())? || is_journal_held(loop_dir)?;
        Ok((!has_keeper).then(act))
    }

    /// Continues the loop's keeper if its process is stopped. False if it is not.
    pub fn continue_stopped_keeper(&self, loop_dir: &LoopDir) -> Result<bool, StateError> {
        let KeeperLiveness::Alive { pid: Some(pid), stopped: true } = self.keeper_of(loop_dir)? else {
            return Ok(false);
        };
        Ok(stopped_keeper::find(loop_dir, pid).is_some_and(|it| stopped_keeper::resume(&it)))
    }

    /// Gives `holder` exclusive use of the tree at `root`. A tree inside it, or around it, counts as the same tree.
    pub fn lock_tree(&self, root: &Path, holder: &TreeHolder) -> Result<Lock, LockError> {
        let root = root.canonicalize().map_err(StateError::no_tree(root))?;
        let _gate = self.gate(LockMode::Exclusive)?;
        if let Some(TreeLockRecord { holder, path, .. }) = self.tree_around(&root)? {
            return Err(LockError::TreeBusy { holder, path });
        }
        let path = self.tree_lock(&root);
        let lock = try_acquire(&path).map_err(StateError::io(tr_later!("lock"), &path))?;
        let busy = || LockError::TreeBusy { holder: TreeHolder::Unknown, path: root.clone() };
        let lock = lock.ok_or_else(busy)?;
        let text = [holder.record().as_bytes(), b"\n", root.as_os_str().as_bytes()].concat();
        write(&lock.file, &text).map_err(StateError::io(tr_later!("write"), &path))?;
        Ok(lock)
    }

    /// The holder of the tree at `root`, as [`LockError::TreeBusy`] would name it.
    pub fn tree_holder(&self, root: &Path) -> Result<Option<(TreeHolder, PathBuf)>, StateError> {
        let root = root.canonicalize().map_err(StateError::no_tree(root))?;
        let _gate = self.gate(LockMode::Shared)?;
        Ok(self.tree_around(&root)?.map(|it| (it.holder, it.path)))
    }

    /// The process that runs checks of this task without a loop in the tree at `root`.
    pub fn check_process(&self, root: &Path, task: &str) -> Result<Option<Process>, StateError> {
        let root = root.canonicalize().map_err(StateError::no_tree(root))?;
        let _gate = self.gate(LockMode::Shared)?;
        let locked = self.tree_around(&root)?;
        let ours = locked.filter(|it| matches!(&it.holder, TreeHolder::Checks { task: its } if its == task));
        Ok(ours.and_then(|it| lock_holder::find(&self.tree_lock(&it.path))))
    }

    fn tree_lock(&self, root: &Path) -> PathBuf {
        self.tree_locks_dir().join(format!("{}.lock", path_id(root)))
    }

    /// A locked tree that equals, contains or is inside `root`. Only under the gate, where no lock is taken in the
    /// meantime.
    fn tree_around(&self, root: &Path) -> Result<Option<TreeLockRecord>, StateError> {
        let folder = self.tree_locks_dir();
        let failed = || StateError::io(tr_later!("list"), &folder);
        for entry in std::fs::read_dir(&folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            if path.extension() != Some(OsStr::new("lock")) || !is_lock_held(&path)? {
                continue;
            }
            let bytes = std::fs::read(&path).map_err(StateError::io(tr_later!("read"), &path))?;
            match TreeLockRecord::read(&bytes) {
                Some(tree) if !tree.path.starts_with(root) && !root.starts_with(&tree.path) => {}
                Some(tree) => return Ok(Some(tree)),
                // Held, but the holder is unreadable: it may be any tree.
                None => return Ok(Some(TreeLockRecord { holder: TreeHolder::Unknown, path })),
            }
        }
        Ok(None)
    }

    /// Removes the locks of unused trees: under the gate, where no lock is about to be taken.
    pub fn sweep_trees(&self) -> Result<(), StateError> {
        let folder = self.tree_locks_dir();
        let _gate = self.gate(LockMode::Exclusive)?;
        let failed = || StateError::io(tr_later!("list"), &folder);
        for entry in std::fs::read_dir(&folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            let is_lock = path.extension() == Some(OsStr::new("lock"));
            if is_lock && !is_lock_held(&path)? {
                std::fs::remove_file(&path).map_err(StateError::io(tr_later!("remove"), &path))?;
            }
        }
        Ok(())
    }

    fn gate(&self, gate: LockMode) -> Result<File, StateError> {
        acquire_gate(&self.tree_locks_dir().join("lock"), gate)
    }
}

/// Serialises taking and probing locks, so that no lock is taken between a probe and the following acquisition. Held
/// for a few system calls only; waits have a limit, so that a stopped process cannot block the others indefinitely.
pub(crate) fn acquire_gate(path: &Path, gate: LockMode) -> Result<File, StateError> {
    const TIMEOUT: Duration = Duration::from_secs(10);
    const RETRY_DELAY: Duration = Duration::from_millis(2);
    let failed = || StateError::io(tr_later!("lock"), path);
    let begun = Instant::now();
    loop {
        let file = open_gate(path).map_err(failed())?;
        let outcome = match gate {
            LockMode::Shared => file.try_lock_shared(),
            LockMode::Exclusive => file.try_lock(),
        };
        match outcome {
            Ok(()) if same_file(&file, path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if begun.elapsed() < TIMEOUT => std::thread::sleep(RETRY_DELAY),
            Err(error) => return Err(failed()(error.into())),
        }
    }
}

/// Access through the gate: probing (shared) or taking (exclusive).
#[derive(Debug, Clone, Copy)]
pub(crate) enum LockMode {
    Shared,
    Exclusive,
}

/// Contents of a tree's lock file.
struct TreeLockRecord {
    holder: TreeHolder,
    path: PathBuf,
}

impl TreeLockRecord {
    fn read(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|it| *it == b'\n')?;
        let (holder, path) = (bytes.get(..end)?, bytes.get(end + 1..).filter(|it| !it.is_empty())?);
        Some(Self {
            holder: TreeHolder::parse(std::str::from_utf8(holder).ok()?),
            path: PathBuf::from(OsStr::from_bytes(path)),
        })
    }
}

/// The lock at `path`; `None` if it is held. Only under the gate.
fn try_acquire(path: &Path) -> io::Result<Option<Lock>> {
    loop {
        let file = open(path)?;
        match file.try_lock() {
            // Deleted or replaced in between: a lock on an unlinked file excludes no other process.
            Ok(()) if !same_file(&file, path) => {}
            Ok(()) => return Ok(Some(Lock { file, path: path.to_owned() })),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// A keeper locks its journal too, and stays the only one if the file of its lock is deleted.
fn is_journal_held(loop_dir: &LoopDir) -> Result<bool, StateError> {
    let path = loop_dir.journal();
    // Opening a FIFO would block. A keeper refuses a journal that is no file.
    if !std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file()) {
        return Ok(false);
    }
    is_lock_held(&path)
}

fn is_lock_held(path: &Path) -> Result<bool, StateError> {
    is_held(path).map_err(StateError::io(tr_later!("look at"), path))
}

fn is_held(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    // Shared, so that two processes that probe do not take each other for a holder.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Processes of a loop see some folders of the state as read-only. A file that is open for reading can be locked, too.
fn open_gate(path: &Path) -> io::Result<File> {
    match open(path) {
        // The error is the disk's, not that the file is missing.
        Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => {
            File::open(path).map_err(|it| if it.kind() == ErrorKind::NotFound { error } else { it })
        }
        other => other,
    }
}

/// Close-on-exec, like all files here: a lock that a child inherits outlives its owner.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn write(file: &File, text: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(text, 0)
}

fn same_file(file: &File, path: &Path) -> bool {
    let found = std::fs::metadata(path).map(|it| (it.dev(), it.ino()));
    let ours = file.metadata().map(|it| (it.dev(), it.ino()));
    matches!((found, ours), (Ok(found), Ok(ours)) if found == ours)
}
