//! Walks the work tree: every regular file and symlink that is not ignored is stored as raw bytes. Walks by open
//! handles, so it never follows a symlink; changes nothing in the work tree.

mod read;

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use git2::{ObjectType, Oid};
use loopkeeper_text::tr_later;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::cache::{CachedEntry, CachedFolder, CachedNode, FileNode, StatFingerprint};
use super::error::{Result, SnapshotError};
use super::ignores::IgnoreRules;
use super::names;
use super::objects::ObjectStore;
use super::tree::{self, TreeItem, TreeItemKind};
use super::{UnstoredFile, UnstoredReason};
use crate::work_trees::OtherWorkTrees;
pub(super) use read::read_file;

/// Larger files are represented by size and time only.
pub(super) const MAX_FILE: u64 = 20 * 1024 * 1024;
/// Names of files that a rollback is about to rename into place.
pub(super) const TEMPORARY_PREFIX: &[u8] = b".loopkeeper-restore-";
pub(super) const IGNORE_FILE: &[u8] = b".gitignore";
/// Granularity of the clock behind time stamps, in nanoseconds; the coarse one is that of whole seconds.
const TICK_NS: i64 = 100_000_000;
const COARSE_TICK_NS: i64 = 2_100_000_000;

/// Findings of a walk in addition to the tree.
#[derive(Debug, Default)]
pub(super) struct WalkReport {
    pub files: u64,
    pub not_covered: Vec<UnstoredFile>,
    /// Temporary files of a rollback that was killed, as paths below the root.
    pub leftovers: Vec<Vec<u8>>,
    /// Other work trees of the repository, as paths below the root.
    pub work_trees: Vec<Vec<u8>>,
    /// Number of files read despite the cache.
    pub read_files: u64,
    pub read_bytes: u64,
}

/// Paths that belong to the snapshot even if they are ignored: those of the tree that is about to be restored.
pub(super) struct ForcedPaths {
    entries: HashMap<Vec<u8>, TreeItem>,
    /// The folder itself is ignored: only these paths of it count.
    only: bool,
}

pub(super) struct TreeWalk<'a> {
    pub rules: &'a mut IgnoreRules,
    pub objects: &'a mut ObjectStore,
    /// Our own state, if it is inside the work tree.
    own: Option<&'a Path>,
    others: OtherWorkTrees<'a>,
    /// Absolute path of the current entry.
    path: Vec<u8>,
    root_length: usize,
    depth: usize,
    now: i64,
    /// The walk fails after this moment.
    pub until: Option<Instant>,
    pub found: WalkReport,
}

impl<'a> TreeWalk<'a> {
    pub(super) fn new(
        rules: &'a mut IgnoreRules,
        objects: &'a mut ObjectStore,
        root: &'a Path,
        own: Option<&'a Path>,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_nanos() as i64);
        let path = root.as_os_str().as_bytes().to_vec();
        let root_length = path.len() + usize::from(!path.ends_with(b"/"));
        Self {
            rules,
            objects,
            own,
            others: OtherWorkTrees::new(root),
            path,
            root_length,
            depth: 0,
            now,
            until: None,
            found: WalkReport::default(),
        }
    }

    /// Walks the whole tree. `old` is the result of the last walk; `target` names paths that count although ignored.
    pub(super) fn run(&mut self, old: Option<CachedFolder>, target: Option<Oid>) -> Result<CachedFolder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let path = self.current_path();
        let root = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| match error {
            Errno::NOENT => SnapshotError::NoTree { path },
            error => SnapshotError::io(tr_later!("open the folder"), &path)(error),
        })?;
        let included = target.map(|it| self.forced_paths(it, false)).transpose()?;
        self.rules.start();
        let folder = self.walk_folder(root, old, included.as_ref())?;
        let tree = match &folder {
            Some(it) => it.tree,
            None => self.objects.insert(ObjectType::Tree, &[])?,
        };
        Ok(folder.unwrap_or(CachedFolder { tree, entries: Vec::new() }))
    }

    /// Walks an open folder; `None` if it contains nothing that belongs to the tree.
    fn walk_folder(
        &mut self,
        fd: OwnedFd,
        old: Option<CachedFolder>,
        included: Option<&ForcedPaths>,
    ) -> Result<Option<CachedFolder>> {
        self.check_time()?;
        let mut dir =
            Dir::new(fd).map_err(SnapshotError::io(tr_later!("read the folder"), &self.current_path()))?;
        let (listing, holds) = read::list_folder(&mut dir)
            .map_err(SnapshotError::io(tr_later!("read the folder"), &self.current_path()))?;
        let fd = dir.fd().map_err(SnapshotError::io(tr_later!("read the folder"), &self.current_path()))?;
        if holds.repository && self.depth > 0 && self.others.holds(&self.current_path()) {
            self.found.work_trees.push(self.relative_path());
            return Ok(None);
        }
        let entered = self.rules.push_folder(fd, &self.path, holds);
        let known = old.as_ref().map(|it| (it.tree, it.entries.len()));
        let mut old = old.map(|it| it.entries).unwrap_or_default().into_iter().peekable();
        let mut entries: Vec<CachedEntry> = Vec::with_capacity(listing.len());
        let mut is_unchanged = true;
        for (name, kind) in listing {
            while old.next_if(|it| *it.name < *name.as_bytes()).is_some() {}
            let prior = old.next_if(|it| *it.name == *name.as_bytes()).map(|it| it.node);
            let item = prior.as_ref().map(CachedNode::item);
            let length = self.path.len();
            if !self.path.ends_with(b"/") {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name.as_bytes());
            let node = self.visit_entry((fd, &name), kind, prior, included)?;
            self.path.truncate(length);
            if let Some(node) = node {
                is_unchanged &= item == Some(node.item());
                entries.push(CachedEntry { name: name.as_bytes().into(), node });
            }
        }
        let is_empty = match entries.as_slice() {
            [only] => included.is_none() && &*only.name == IGNORE_FILE && self.ignores_its_rules(),
            entries => entries.is_empty(),
        };
        self.rules.pop_folder(&entered);
        if is_empty {
            self.found.files = self.found.files.saturating_sub(entries.len() as u64);
            return Ok(None);
        }
        let tree = match known {
            Some((tree, count)) if is_unchanged && count == entries.len() => tree,
            _ => {
                let bytes = tree::encode(entries.iter().map(|it| (&*it.name, it.node.item())));
                self.objects.insert(ObjectType::Tree, &bytes)?
            }
        };
        Ok(Some(CachedFolder { tree, entries }))
    }

    fn visit_entry(
        &mut self,
        at: (BorrowedFd<'_>, &CString),
        mut kind: FileType,
        prior: Option<CachedNode>,
        included: Option<&ForcedPaths>,
    ) -> Result<Option<CachedNode>> {
        let name = at.1.as_bytes();
        if name == b".git" || self.own.is_some_and(|it| it.as_os_str().as_bytes() == self.path) {
            return Ok(None);
        }
        if kind == FileType::Unknown {
            let stat = rustix::fs::statat(at.0, at.1, AtFlags::SYMLINK_NOFOLLOW);
            kind = stat.map_or(FileType::Unknown, |it| FileType::from_raw_mode(it.st_mode));
        }
        if name.starts_with(TEMPORARY_PREFIX) && !kind.is_dir() {
            self.found.leftovers.push(self.relative_path());
            return Ok(None);
        }
        let forced = included.and_then(|it| it.entries.get(name));
        let ignored =
            included.is_some_and(|it| it.only) || self.rules.is_ignored(&self.path, name, kind.is_dir());
        let is_forced = forced.is_some_and(|it| (it.kind == TreeItemKind::Folder) == kind.is_dir());
        if ignored && !is_forced && name != IGNORE_FILE {
            return Ok(None);
        }
        match kind {
            FileType::Directory => {
                let below = forced.filter(|it| it.kind == TreeItemKind::Folder);
                let included = below.map(|it| self.forced_paths(it.id, ignored)).transpose()?;
                self.walk_subfolder(at, prior, included.as_ref())
            }
            FileType::RegularFile => self.store_file(at, prior.as_ref()),
            FileType::Symlink => self.store_symlink(at, prior.as_ref()),
            _ => Ok(None),
        }
    }

    /// A `.gitignore` counts even if it ignores itself, because it decides what else is ignored; but a folder that
    /// contains nothing else (a cache that hides itself) does not.
    fn ignores_its_rules(&self) -> bool {
        self.rules.is_ignored(&names::join(&self.path, IGNORE_FILE), IGNORE_FILE, false)
    }

    fn walk_subfolder(
        &mut self,
        (fd, name): (BorrowedFd<'_>, &CString),
        prior: Option<CachedNode>,
        included: Option<&ForcedPaths>,
    ) -> Result<Option<CachedNode>> {
        if self.depth + 1 >= tree::MAX_DEPTH {
            return self.make_marker((fd, name), UnstoredReason::TooDeep);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match rustix::fs::openat(fd, name, flags, Mode::empty()) {
            Ok(it) => it,
            // Removed or replaced after it was listed: the tree is changing, and at this moment the entry did not
            // exist.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(Errno::ACCESS | Errno::PERM) => {
                return self.make_marker((fd, name), UnstoredReason::Unreadable);
            }
            Err(it) => return Err(SnapshotError::io(tr_later!("open the folder"), &self.current_path())(it)),
        };
        let old = match prior {
            Some(CachedNode::Folder(it)) => Some(it),
            _ => None,
        };
        self.depth += 1;
        let folder = self.walk_folder(opened, old, included);
        self.depth -= 1;
        Ok(folder?.map(CachedNode::Folder))
    }

    fn store_file(
        &mut self,
        at: (BorrowedFd<'_>, &CString),
        prior: Option<&CachedNode>,
    ) -> Result<Option<CachedNode>> {
        let stat = match rustix::fs::statat(at.0, at.1, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(it) => it,
            Err(Errno::NOENT) => return Ok(None),
            Err(_) => return self.make_marker(at, UnstoredReason::Unreadable),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let seen = StatFingerprint::from_stat(&stat);
        if let Some(CachedNode::File(it)) = prior
            && it.seen == seen
            && !it.racy
        {
            self.found.files += 1;
            return Ok(Some(CachedNode::File(*it)));
        }
        if seen.size > MAX_FILE {
            return self.make_marker(at, UnstoredReason::TooBig);
        }
        self.check_time()?;
        let content = match read_file(at) {
            Ok(Some(it)) => it,
            Ok(None) => return self.make_marker(at, UnstoredReason::TooBig),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
            Err(it @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => {
                return Err(SnapshotError::io(tr_later!("read"), &self.current_path())(it));
            }
            Err(_) => return self.make_marker(at, UnstoredReason::Unreadable),
        };
        let id = self.objects.insert(ObjectType::Blob, &content.bytes)?;
        self.found.files += 1;
        self.found.read_files += 1;
        self.found.read_bytes += content.bytes.len() as u64;
        let racy = !content.is_stable || self.is_racy(&content.seen);
        Ok(Some(CachedNode::File(FileNode { seen: content.seen, id, executable: content.executable, racy })))
    }

    fn check_time(&self) -> Result<()> {
        if self.until.is_some_and(|it| Instant::now() > it) { Err(SnapshotError::OutOfTime) } else { Ok(()) }
    }

    /// A change within the clock's tick after this moment would leave the same stat.
    fn is_racy(&self, seen: &StatFingerprint) -> bool {
        let tick = if seen.changed % 1_000_000_000 == 0 { COARSE_TICK_NS } else { TICK_NS };
        seen.changed >= self.now.saturating_sub(tick)
    }

    fn store_symlink(
        &mut self,
        (fd, name): (BorrowedFd<'_>, &CString),
        prior: Option<&CachedNode>,
    ) -> Result<Option<CachedNode>> {
        let target = match rustix::fs::readlinkat(fd, name, Vec::new()) {
            Ok(it) => it,
            Err(Errno::NOENT | Errno::INVAL) => return Ok(None),
            Err(_) => return self.make_marker((fd, name), UnstoredReason::Unreadable),
        };
        self.found.files += 1;
        let known = Oid::hash_object(ObjectType::Blob, target.as_bytes()).ok();
        match prior {
            Some(CachedNode::Symlink(id)) if Some(*id) == known => Ok(Some(CachedNode::Symlink(*id))),
            _ => Ok(Some(CachedNode::Symlink(self.objects.insert(ObjectType::Blob, target.as_bytes())?))),
        }
    }

    /// Represents a file that is not stored; another size or time results in another marker.
    fn make_marker(
        &mut self,
        (fd, name): (BorrowedFd<'_>, &CString),
        why: UnstoredReason,
    ) -> Result<Option<CachedNode>> {
        let (size, modified) = match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(it) => (StatFingerprint::from_stat(&it).size, StatFingerprint::from_stat(&it).modified),
            Err(Errno::NOENT) => return Ok(None),
            Err(_) => (0, 0),
        };
        let text = format!("not stored: {size} bytes, modified {modified}");
        let id = Oid::hash_object(ObjectType::Blob, text.as_bytes())
            .map_err(|it| SnapshotError::damaged(self.objects.dir(), it.message()))?;
        self.found.not_covered.push(UnstoredFile {
            path: names::display_path(&self.relative_path()),
            size,
            why,
        });
        Ok(Some(CachedNode::Marker(id)))
    }

    fn forced_paths(&self, tree: Oid, only: bool) -> Result<ForcedPaths> {
        Ok(ForcedPaths { entries: self.objects.tree(tree)?.iter().cloned().collect(), only })
    }

    fn relative_path(&self) -> Vec<u8> {
        self.path.get(self.root_length..).unwrap_or_default().to_vec()
    }

    fn current_path(&self) -> PathBuf {
        PathBuf::from(std::ffi::OsStr::from_bytes(&self.path))
    }
}
