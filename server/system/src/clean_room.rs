//! A clean room: the final tree apart from the work tree, in a scratch folder that is removed with the room. Where the
//! kernel permits it, an overlay at the root's own path in the mount namespace of a warden; elsewhere a copy at another
//! path.

mod home;
mod outside_mounts;
mod removal;
mod repository_copy;
#[cfg(test)]
mod tests;
mod tree_copy;

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink,
};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use loopkeeper_text::tr;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::forced_removal::remove_folder;
use super::repository_layout::common_dir;
use super::snapshots::TreeEntry;
pub use home::{HomeContent, HomeRequest, ReplacementHome};
pub use outside_mounts::{BindMount, OutsideRequest, read_mounts};
use removal::RoomLock;
pub use removal::{remove_abandoned, remove_leftovers};
use tree_copy::CopyMap;
pub use tree_copy::{BuildFolders, CopyFacts, CopyRequest};

/// Names of rooms begin with it.
pub const PREFIX: &str = "room-";
/// The same in [`shared_parents`].
pub const SHARED_PREFIX: &str = "loopkeeper-room-";

/// The overlay that a warden mounts before it runs its first job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlayMount {
    /// The lower layer and the mount point.
    pub root: PathBuf,
    pub upper: PathBuf,
    /// Required by the kernel; on the same file system as `upper`.
    pub work: PathBuf,
    /// The list of the mounts outside the work tree, made before this one.
    pub outside: Option<PathBuf>,
}

/// How jobs access a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoomAccess {
    /// They see the overlay instead of the work tree.
    Overlay(OverlayMount),
    /// They run in a copy in `folder`, and cannot write to the work tree at `root` where the sandbox can prevent that.
    Copy { folder: PathBuf, root: PathBuf },
}

impl RoomAccess {
    pub(super) fn overlay(&self) -> Option<&OverlayMount> {
        match self {
            Self::Overlay(mount) => Some(mount),
            Self::Copy { .. } => None,
        }
    }

    /// The folder that jobs write to.
    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Overlay(mount) => mount.upper.parent(),
            Self::Copy { folder, .. } => Some(folder),
        }
    }

    /// The folder that jobs should not write to.
    pub(super) fn read_only_folder(&self) -> Option<&Path> {
        match self {
            Self::Overlay(_) => None,
            Self::Copy { root, .. } => Some(root),
        }
    }
}

/// The scratch folder of one clean room; removed with everything in it when dropped.
#[derive(Debug)]
pub struct CleanRoom {
    folder: PathBuf,
    /// The work tree.
    root: PathBuf,
    place: RoomPlace,
    /// The list of mounts outside the work tree.
    outside: Option<PathBuf>,
    _lock: RoomLock,
}

/// What every write of a file changes. Programs can set modification times, but not times of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl FileState {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            size: metadata.size(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[derive(Debug)]
enum RoomPlace {
    Overlay,
    Copy(CopyMap, CopyFacts),
}

impl CleanRoom {
    /// Makes an empty room for an overlay of the work tree at `root`. `folder` must not exist.
    pub fn create(folder: &Path, root: &Path) -> io::Result<Self> {
        let (folder, root) = (folder.to_owned(), root.canonicalize()?);
        let lock = RoomLock::make_folder(&folder)?;
        let room = Self { folder, root, place: RoomPlace::Overlay, outside: None, _lock: lock };
        for path in [room.layer(), room.work(), room.temporary(), room.reports()] {
            DirBuilder::new().mode(0o700).create(path)?;
        }
        // The mount has the mode of its upper layer.
        fs::set_permissions(room.layer(), fs::metadata(&room.root)?.permissions())?;
        Ok(room)
    }

    /// Makes a room with a copy of the work tree. `folder` must not exist.
    pub fn copy(folder: &Path, mut request: CopyRequest) -> io::Result<Self> {
        let root = request.root.canonicalize()?;
        request.root.clone_from(&root);
        let map = CopyMap::new(folder, &root);
        let place = RoomPlace::Copy(map.clone(), CopyFacts::default());
        let lock = RoomLock::make_folder(folder)?;
        let mut room = Self { folder: folder.to_owned(), root, place, outside: None, _lock: lock };
        for path in [room.temporary(), room.reports()] {
            DirBuilder::new().mode(0o700).create(path)?;
        }
        let facts = tree_copy::copy_tree(&map, &request)?;
        room.place = RoomPlace::Copy(map, facts);
        Ok(room)
    }

    pub fn access(&self) -> RoomAccess {
        match &self.place {
            RoomPlace::Overlay => RoomAccess::Overlay(OverlayMount {
                root: self.root.clone(),
                upper: self.layer(),
                work: self.work(),
                outside: self.outside.clone(),
            }),
            RoomPlace::Copy(..) => RoomAccess::Copy { folder: self.folder.clone(), root: self.root.clone() },
        }
    }

    /// Hides what is new outside the work tree. Only before an overlay is mounted, whose warden makes the mounts.
    pub fn hide_outside(&mut self, request: &OutsideRequest<'_>) -> io::Result<()> {
        let list = self.folder.join("mounts");
        outside_mounts::make_mounts(&self.folder, &list, request)?;
        self.outside = Some(list);
        Ok(())
    }

    /// The root for jobs in the room.
    pub fn root(&self) -> PathBuf {
        match &self.place {
            RoomPlace::Overlay => self.root.clone(),
            RoomPlace::Copy(..) => self.layer(),
        }
    }

    /// How the copy differs from the tree, if it is one.
    pub fn copy_facts(&self) -> Option<&CopyFacts> {
        match &self.place {
            RoomPlace::Overlay => None,
            RoomPlace::Copy(_, facts) => Some(facts),
        }
    }

    /// The value of a variable with its paths in the work tree replaced by those in the room; `None` if it is unchanged.
    pub fn moved_value(&self, value: &OsStr) -> Option<OsString> {
        match &self.place {
            RoomPlace::Overlay => None,
            RoomPlace::Copy(map, _) => map.map_value(value),
        }
    }

    /// The folder of the room: the ceiling of the search for a repository.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder for temporary files of programs in the room.
    pub fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The folder for reports that programs in the room are asked for.
    pub fn reports(&self) -> PathBuf {
        self.folder.join("reports")
    }

    /// Makes `path`, relative to the root, match `entry`. Only before an overlay is mounted.
    pub fn write(&self, path: &Path, entry: &TreeEntry) -> io::Result<()> {
        let Some(target) = self.place_for(path, entry)? else { return Ok(()) };
        match entry {
            TreeEntry::File { bytes, executable } => {
                let mode = if *executable { 0o755 } else { 0o644 };
                let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(target)?;
                file.write_all(bytes)
            }
            TreeEntry::Link(to) => symlink(OsStr::from_bytes(to), target),
            TreeEntry::Nothing => self.hide(path),
            TreeEntry::Unknown => {
                Err(io::Error::other(tr!("the content of {path} is not stored", path = path.display())))
            }
        }
    }

    /// Where to create the entry; the path is free. `None`: it exists already.
    fn place_for(&self, path: &Path, entry: &TreeEntry) -> io::Result<Option<PathBuf>> {
        let target = self.prepare_parent(path)?;
        if matches!(self.place, RoomPlace::Overlay) {
            let is_made = fs::symlink_metadata(&target).is_ok();
            return Ok(Some(target).filter(|_| !(is_made && *entry == TreeEntry::Nothing)));
        }
        remove(&target)?;
        Ok(Some(target).filter(|_| *entry != TreeEntry::Nothing))
    }

    /// Makes `path`, relative to the root, missing. Only before an overlay is mounted.
    pub fn hide(&self, path: &Path) -> io::Result<()> {
        if !matches!(self.place, RoomPlace::Overlay) {
            // A copy is made without the hidden files.
            return Ok(());
        }
        let target = self.prepare_parent(path)?;
        if fs::symlink_metadata(&target).is_ok() {
            return Ok(());
        }
        hide(&target)
    }

    /// Gives the file of the work tree at `path` the modification time of this moment. Only before an overlay is
    /// mounted.
    pub fn refresh(&self, path: &Path) -> io::Result<()> {
        let target = self.prepare_parent(path)?;
        match (&self.place, fs::symlink_metadata(&target)) {
            (RoomPlace::Overlay, Ok(_)) => Ok(()),
            (RoomPlace::Overlay, Err(_)) => fs::copy(self.root.join(path), target).map(drop),
            (RoomPlace::Copy(..), Ok(metadata)) if metadata.is_file() => {
                File::open(target)?.set_modified(SystemTime::now())
            }
            (RoomPlace::Copy(..), _) => Ok(()),
        }
    }

    /// Whether a program in the room wrote the file at `path`, which was hidden.
    pub fn is_written(&self, path: &Path) -> bool {
        fs::symlink_metadata(self.layer().join(path)).is_ok_and(|it| it.is_file() || it.is_symlink())
    }

    /// The states of files, relative to the root. A state that differs shows that the file was written, even if its
    /// content was restored.
    pub fn file_states(&self, paths: &[PathBuf]) -> Vec<Option<FileState>> {
        let state = |path: &PathBuf| fs::symlink_metadata(self.layer().join(path)).ok();
        paths.iter().map(|it| state(it).map(|it| FileState::of(&it))).collect()
    }

    /// Makes the home folder of the room.
    pub fn make_home(&self, request: &HomeRequest<'_>) -> io::Result<ReplacementHome> {
        home::make_home(self.folder.join("home"), request)
    }

    /// A folder with links to programs, by name.
    pub fn make_programs<'a>(
        &self,
        programs: impl Iterator<Item = (&'a str, &'a Path)>,
    ) -> io::Result<PathBuf> {
        let made = self.folder.join("bin");
        DirBuilder::new().mode(0o700).create(&made)?;
        for (name, program) in programs {
            symlink(program, made.join(name))?;
        }
        Ok(made)
    }

    /// The parent folders of `path` in the layer, with the modes that they have in the work tree.
    fn prepare_parent(&self, path: &Path) -> io::Result<PathBuf> {
        if !path.components().all(|it| matches!(it, Component::Normal(_))) {
            return Err(io::Error::other(tr!(
                "{path} is not a path in the work tree",
                path = path.display()
            )));
        }
        let mut at = PathBuf::new();
        for part in path.parent().into_iter().flat_map(Path::components) {
            at.push(part);
            let made = self.layer().join(&at);
            match fs::symlink_metadata(&made) {
                Ok(metadata) if metadata.is_dir() => continue,
                // The folder of the start may be a file or a link now.
                Ok(_) => remove(&made)?,
                Err(_) => {}
            }
            fs::create_dir(&made)?;
            let below = fs::symlink_metadata(self.root.join(&at)).ok().filter(fs::Metadata::is_dir);
            let mode = below.map_or_else(|| Permissions::from_mode(0o755), |it| it.permissions());
            fs::set_permissions(&made, mode)?;
        }
        Ok(self.layer().join(path))
    }

    /// The folder for the files of the work tree: the upper layer, or the root of the copy.
    fn layer(&self) -> PathBuf {
        match &self.place {
            RoomPlace::Overlay => self.folder.join("upper"),
            RoomPlace::Copy(map, _) => map.map(&self.root).unwrap_or_else(|| map.to.clone()),
        }
    }

    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

impl Drop for CleanRoom {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.folder) {
            tracing::warn!("could not remove the clean room {}: {error}", self.folder.display());
        }
    }
}

/// Folders for overlays where the loop's own folder supports none.
pub fn shared_parents() -> [PathBuf; 2] {
    ["/dev/shm".into(), std::env::temp_dir()]
}

/// The folder of the repository around the work tree at `root`.
pub fn repository_of(root: &Path) -> Option<PathBuf> {
    root.ancestors().find_map(common_dir)
}

/// Removes whatever exists at the path, without following links.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a whiteout, which hides the entry of the lower layer.
fn hide(target: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, target, FileType::CharacterDevice, Mode::empty(), 0)?)
}
