//! Takes snapshots of a work tree, in a separate store outside of it: a bare git repository that only we write. Nothing is
//! executed and no attribute, filter or hook applies: the raw bytes of every regular file and symlink that is not
//! ignored are stored. The user's own repository is never written, and only its ignore rules are read.
//!
//! A file that is not stored (over 20 MiB, unreadable, too deep) is represented in the tree by a marker made of size
//! and time, so that its change shows; a rollback never touches it.

mod cache;
mod compare;
mod error;
mod gc;
pub(crate) mod ignores;
mod links;
mod names;
mod objects;
mod patch;
mod restore;
mod rollback;
mod root_folder;
mod state;
mod tree;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use git2::{ObjectType, Oid};
use loopkeeper_core::journal::LineStats;
use loopkeeper_text::tr_later;

pub use error::SnapshotError;
pub use gc::{GcMode, GcReport};
pub use restore::RestoreReport;
pub use rollback::RestorePreview;

pub(crate) use names::display_path;

use cache::CachedFolder;
use error::Result;
use ignores::IgnoreRules;
use objects::ObjectStore;
use root_folder::RootFolder;
use state::{StoreLock, StoreState};
use tree::{TreeItem, TreeItemKind};
use walk::{TreeWalk, WalkReport};

/// The first snapshot of a large tree by another process takes minutes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The snapshots of one work tree.
pub struct SnapshotStore {
    objects: ObjectStore,
    root: RootFolder,
    rules: IgnoreRules,
    /// Our own state folder, if it is inside the work tree.
    own: Option<PathBuf>,
    /// Result of the last walk, and the state of the store that it is valid for.
    cache: Option<CachedFolder>,
    valid_for: Option<StoreState>,
    unsaved: DirtyStats,
    /// Start time and result of the last snapshot.
    last: Option<(Instant, Snapshot)>,
    timeout: Option<Duration>,
}

/// Data that would have to be read again if the cache file were not written.
#[derive(Default)]
struct DirtyStats {
    files: u64,
    bytes: u64,
}

/// The tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id in the store: the same for the same names, bytes and executable bits.
    pub tree: String,
    pub not_covered: Vec<UnstoredFile>,
    pub n_files: u64,
}

/// One file that differs between two snapshots; a side is absent if its bytes are not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the root.
    pub path: Vec<u8>,
    /// The same path with unprintable bytes escaped.
    pub shown: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// What a snapshot contains at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEntry {
    Nothing,
    File {
        bytes: Vec<u8>,
        executable: bool,
    },
    Link(Vec<u8>),
    /// Its bytes are not stored.
    Unknown,
}

/// A file in the tree whose bytes are not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnstoredFile {
    /// Relative to the root, `/` between names, unprintable bytes escaped.
    pub path: String,
    pub size: u64,
    pub why: UnstoredReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnstoredReason {
    TooBig,
    Unreadable,
    TooDeep,
}

impl SnapshotStore {
    /// Opens the store in `dir` for the work tree at `root`, a path without links; creates it if it does not exist.
    pub fn open(dir: &Path, root: &Path) -> Result<Self> {
        Self::open_with(dir, root, ignores::users_excludes_file())
    }

    fn open_with(dir: &Path, root: &Path, excludes_file: Option<PathBuf>) -> Result<Self> {
        let root = RootFolder::open(root)?;
        let dir = std::path::absolute(dir).map_err(SnapshotError::io(tr_later!("open the folder"), dir))?;
        let objects = ObjectStore::open(&dir)?;
        state::ensure_state(&dir)?;
        let own = own_folder(&dir, root.path());
        let rules = IgnoreRules::new(root.path(), excludes_file);
        let unsaved = DirtyStats::default();
        Ok(Self {
            objects,
            root,
            rules,
            own,
            cache: None,
            valid_for: None,
            unsaved,
            last: None,
            timeout: None,
        })
    }

    /// Stores the current tree. It is on disk when this returns.
    pub fn take_snapshot(&mut self) -> Result<Snapshot> {
        let began = Instant::now();
        let _lock = self.lock_for_snapshot()?;
        let (tree, found) = self.walk_tree(None)?;
        let taken = Snapshot { tree: tree.to_string(), not_covered: found.not_covered, n_files: found.files };
        self.last = Some((began, taken.clone()));
        Ok(taken)
    }

    fn lock_for_snapshot(&self) -> Result<StoreLock> {
        let timeout = self.timeout.unwrap_or(LOCK_TIMEOUT);
        StoreLock::acquire(self.objects.dir(), timeout).map_err(|error| match error {
            SnapshotError::Locked { .. } if self.timeout.is_some() => SnapshotError::OutOfTime,
            error => error,
        })
    }

    /// Like [`Self::take_snapshot`], but returns the last snapshot if it began less than `max_age` ago.
    pub fn take_or_reuse(&mut self, max_age: Duration) -> Result<Snapshot> {
        match &self.last {
            Some((began, taken)) if began.elapsed() < max_age => Ok(taken.clone()),
            _ => self.take_snapshot(),
        }
    }

    /// Sets a time limit for snapshots: longer ones fail with [`SnapshotError::OutOfTime`], and the next one has more
    /// to do.
    pub fn set_time_limit(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Whether the store holds this snapshot.
    pub fn contains_snapshot(&self, tree: &str) -> bool {
        self.objects.resolve_snapshot(tree).is_ok()
    }

    /// The paths that differ, relative to the root, unprintable bytes escaped.
    pub fn changed_paths(&self, a: &str, b: &str) -> Result<Vec<String>> {
        let changes = compare::diff_trees(
            &self.objects,
            self.objects.resolve_snapshot(a)?,
            self.objects.resolve_snapshot(b)?,
        )?;
        let mut paths: Vec<_> = changes.iter().map(|it| names::display_path(&it.path)).collect();
        paths.dedup();
        Ok(paths)
    }

    /// The paths of all files of a snapshot, relative to the root.
    pub fn paths(&self, tree: &str) -> Result<HashSet<Vec<u8>>> {
        let files = compare::list_files(&self.objects, self.objects.resolve_snapshot(tree)?)?;
        Ok(files.into_iter().map(|it| it.path).collect())
    }

    /// Reads the files of a snapshot in the order of its folders, as long as `take` returns true. `take` is also called
    /// with the paths of files that are not stored. Nothing if there are more than `most`.
    pub fn read_files(
        &self,
        tree: &str,
        most: usize,
        mut take: impl FnMut(Vec<u8>, TreeEntry) -> bool,
    ) -> Result<()> {
        let files = compare::list_files(&self.objects, self.objects.resolve_snapshot(tree)?)?;
        for file in files.iter().take_while(|_| files.len() <= most) {
            let Some(item) = file.new else { continue };
            // Objects are read by their ids: following each path reads its folders again.
            if !take(file.path.clone(), self.to_entry(item)?) {
                break;
            }
        }
        Ok(())
    }

    /// The files that differ, with ids for [`Self::bytes`].
    pub fn files_changed(&self, a: &str, b: &str) -> Result<Vec<FileChange>> {
        let changes = compare::diff_trees(
            &self.objects,
            self.objects.resolve_snapshot(a)?,
            self.objects.resolve_snapshot(b)?,
        )?;
        let stored = |it: Option<TreeItem>| {
            it.filter(|it| it.kind != TreeItemKind::Marker).map(|it| it.id.to_string())
        };
        Ok(changes
            .into_iter()
            .map(|it| FileChange {
                shown: names::display_path(&it.path),
                old: stored(it.old),
                new: stored(it.new),
                path: it.path,
            })
            .collect())
    }

    /// Contents of a file; of a link, its target.
    pub fn bytes(&self, id: &str) -> Result<Vec<u8>> {
        let id = Oid::from_str(id).map_err(|_| SnapshotError::Unknown {
            tree: id.to_owned(),
            dir: self.objects.dir().to_owned(),
        })?;
        self.objects.read(id, ObjectType::Blob)
    }

    /// Contents of a regular file of a snapshot that is no longer than `limit`. `None`: the file does not exist, is
    /// longer, or its bytes are not stored.
    pub fn file(&self, tree: &str, path: &str, limit: usize) -> Result<Option<Vec<u8>>> {
        let Some(at) = self.item(tree, path.as_bytes())? else { return Ok(None) };
        if !matches!(at.kind, TreeItemKind::File | TreeItemKind::Executable) {
            return Ok(None);
        }
        let bytes = self.objects.read(at.id, ObjectType::Blob)?;
        Ok(Some(bytes).filter(|it| it.len() <= limit))
    }

    /// Whether a file or folder exists at a path, as [`names::display_path`] writes it.
    pub fn contains_path(&self, tree: &str, path: &str) -> Result<bool> {
        Ok(self.find_by(tree, path.split('/'), |name, part| names::display_path(name) == part)?.is_some())
    }

    /// The entry at a path, as [`Self::files_changed`] names it.
    pub fn entry_at(&self, tree: &str, path: &[u8]) -> Result<TreeEntry> {
        self.item(tree, path)?.map_or(Ok(TreeEntry::Nothing), |at| self.to_entry(at))
    }

    /// Whether two snapshots have the same entry at a path: kind and bytes, or size and time where these are not stored.
    pub fn is_same_entry(&self, a: &str, b: &str, path: &[u8]) -> Result<bool> {
        Ok(self.item(a, path)? == self.item(b, path)?)
    }

    fn to_entry(&self, at: TreeItem) -> Result<TreeEntry> {
        let bytes = || self.objects.read(at.id, ObjectType::Blob);
        Ok(match at.kind {
            TreeItemKind::Folder => TreeEntry::Nothing,
            TreeItemKind::File => TreeEntry::File { bytes: bytes()?, executable: false },
            TreeItemKind::Executable => TreeEntry::File { bytes: bytes()?, executable: true },
            TreeItemKind::Symlink => TreeEntry::Link(bytes()?),
            TreeItemKind::Marker => TreeEntry::Unknown,
        })
    }

    fn item(&self, tree: &str, path: &[u8]) -> Result<Option<TreeItem>> {
        self.find_by(tree, path.split(|it| *it == b'/'), |name, part| name == part)
    }

    fn find_by<P: Copy>(
        &self,
        tree: &str,
        path: impl Iterator<Item = P>,
        is: impl Fn(&[u8], P) -> bool,
    ) -> Result<Option<TreeItem>> {
        let mut at = TreeItem { kind: TreeItemKind::Folder, id: self.objects.resolve_snapshot(tree)? };
        for part in path {
            if at.kind != TreeItemKind::Folder {
                return Ok(None);
            }
            let entries = self.objects.tree(at.id)?;
            let Some((_, item)) = entries.iter().find(|(it, _)| is(it, part)) else { return Ok(None) };
            at = *item;
        }
        Ok(Some(at))
    }

    /// A unified patch of at most `limit` bytes. It contains raw file contents: not sanitised for a terminal.
    pub fn diff(&self, a: &str, b: &str, limit: usize) -> Result<String> {
        patch::render_patch(
            &self.objects,
            (self.objects.resolve_snapshot(a)?, self.objects.resolve_snapshot(b)?),
            limit,
        )
    }

    /// Lines added and removed in every path that differs, named as by [`Self::changed_paths`]; `None` if it is too
    /// much to count.
    pub fn count_lines(&self, a: &str, b: &str) -> Result<Option<BTreeMap<String, LineStats>>> {
        patch::count_lines(
            &self.objects,
            (self.objects.resolve_snapshot(a)?, self.objects.resolve_snapshot(b)?),
        )
    }

    /// Deletes (or counts) objects that are needed neither by the snapshots in `keep`, nor by those taken before a
    /// rollback, nor by the last one.
    pub fn collect_garbage(&mut self, keep: &HashSet<String>, sweep: GcMode) -> Result<GcReport> {
        let dir = self.objects.dir().to_path_buf();
        let _lock = StoreLock::acquire(&dir, LOCK_TIMEOUT)?;
        self.last = None;
        self.objects.recover()?;
        let state = StoreState::read(&dir)?;
        let roots = keep.iter().filter_map(|it| Oid::from_str(it).ok());
        let roots = roots.chain(state.last).chain(state::read_rollbacks(&dir)?);
        let reachable = gc::reachable_objects(&self.objects, roots)?;
        if sweep == GcMode::Delete {
            // Caches of other processes may refer to objects that are deleted now; the one on disk mostly refers to
            // objects that stay.
            let cached = state::read_cache(&dir).and_then(|it| self.decode_cache(&it));
            if cached.is_some_and(|it| !reachable.contains(&it.tree)) {
                state::remove_cache(&dir)?;
            }
            state.next_generation().write(&dir)?;
        }
        gc::collect_objects(&dir, &reachable, sweep)
    }

    /// One durable walk, under the lock.
    fn walk_tree(&mut self, target: Option<Oid>) -> Result<(Oid, WalkReport)> {
        self.root.require_in_place()?;
        let dir = self.objects.dir().to_path_buf();
        let state = StoreState::read(&dir)?;
        self.objects.recover()?;
        let old = match self.valid_for {
            Some(it) if it.is_valid_under(&state) => self.cache.take(),
            _ => None,
        };
        let old = old.or_else(|| self.decode_cache(&state::read_cache(&dir)?));
        let mut walk =
            TreeWalk::new(&mut self.rules, &mut self.objects, self.root.path(), self.own.as_deref());
        walk.until = self.timeout.map(|it| Instant::now() + it);
        let folder = walk.run(old, target)?;
        let found = walk.found;
        self.objects.sync_inserted()?;
        let now = state.with_last(folder.tree);
        if now != state {
            now.write(&dir)?;
        }
        self.unsaved.files += found.read_files;
        self.unsaved.bytes += found.read_bytes;
        self.valid_for = Some(now);
        let tree = self.cache.insert(folder).tree;
        if self.unsaved.is_large() {
            self.save_cache();
        }
        Ok((tree, found))
    }

    fn decode_cache(&self, bytes: &[u8]) -> Option<CachedFolder> {
        cache::decode(bytes, self.root.path().as_os_str().as_bytes())
    }

    /// The cache only saves time: if it cannot be written, the next process reads everything once.
    fn save_cache(&mut self) {
        if let Some(folder) = &self.cache {
            let bytes = cache::encode(self.root.path().as_os_str().as_bytes(), folder);
            if state::write_cache(self.objects.dir(), &bytes).is_ok() {
                self.unsaved = DirtyStats::default();
            }
        }
    }
}

impl Drop for SnapshotStore {
    fn drop(&mut self) {
        if self.unsaved.files == 0 {
            return;
        }
        let Ok(Some(_lock)) = StoreLock::try_acquire(self.objects.dir()) else { return };
        let current = StoreState::read(self.objects.dir());
        if let (Some(valid), Ok(current)) = (self.valid_for, current)
            && valid.is_valid_under(&current)
        {
            self.save_cache();
        }
    }
}

impl DirtyStats {
    fn is_large(&self) -> bool {
        self.files >= 512 || self.bytes >= 16 * 1024 * 1024
    }
}

/// The state root above the store (`…/workspaces/<id>/snapshots.git`) or the part of it inside the work tree:
/// our own writes are not changes of the user.
fn own_folder(dir: &Path, root: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    let inside = |it: &&Path| *it != root && it.starts_with(root);
    dir.ancestors().take(4).take_while(inside).last().map(Path::to_path_buf)
}

#[cfg(test)]
mod tests;
