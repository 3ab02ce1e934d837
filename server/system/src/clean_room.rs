//! A clean room: an overlay of the work tree, mounted at the root's own path in the mount namespace of a warden.
//! Programs in the room read the work tree and write to a scratch folder that is removed with the room.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::snapshots::TreeEntry;

/// The overlay that a warden mounts before it runs its first job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlayMount {
    /// The lower layer and the mount point.
    pub root: PathBuf,
    pub upper: PathBuf,
    /// Required by the kernel; on the same file system as `upper`.
    pub work: PathBuf,
}

/// The scratch folder of one clean room; removed with everything in it when dropped.
#[derive(Debug)]
pub struct CleanRoom {
    folder: PathBuf,
    root: PathBuf,
}

impl CleanRoom {
    /// Makes an empty room for the work tree at `root`. `folder` must not exist.
    pub fn create(folder: &Path, root: &Path) -> io::Result<Self> {
        let room = Self { folder: folder.to_owned(), root: root.canonicalize()? };
        for path in [folder, &room.upper(), &room.work(), &room.temporary(), &room.reports()] {
            DirBuilder::new().mode(0o700).create(path)?;
        }
        // The mount has the mode of its upper layer.
        fs::set_permissions(room.upper(), fs::metadata(&room.root)?.permissions())?;
        Ok(room)
    }

    pub fn mount(&self) -> OverlayMount {
        OverlayMount { root: self.root.clone(), upper: self.upper(), work: self.work() }
    }

    /// The folder for temporary files of programs in the room.
    pub fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The folder for reports that programs in the room are asked for.
    pub fn reports(&self) -> PathBuf {
        self.folder.join("reports")
    }

    /// Makes `path`, relative to the root, match `entry`. Only before the room is mounted.
    pub fn write(&self, path: &Path, entry: &TreeEntry) -> io::Result<()> {
        let target = self.prepare_parent(path)?;
        match entry {
            TreeEntry::File { bytes, executable } => {
                let mode = if *executable { 0o755 } else { 0o644 };
                let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(target)?;
                file.write_all(bytes)
            }
            TreeEntry::Link(to) => symlink(std::ffi::OsStr::from_bytes(to), target),
            TreeEntry::Nothing if fs::symlink_metadata(&target).is_ok() => Ok(()),
            TreeEntry::Nothing => hide(&target),
            TreeEntry::Unknown => {
                Err(io::Error::other(format!("the content of {} is not stored", path.display())))
            }
        }
    }

    /// Makes `path`, relative to the root, missing. Only before the room is mounted.
    pub fn hide(&self, path: &Path) -> io::Result<()> {
        let target = self.prepare_parent(path)?;
        if fs::symlink_metadata(&target).is_ok() {
            return Ok(());
        }
        hide(&target)
    }

    /// Gives the file of the work tree at `path` the modification time of this moment. Only before the room is mounted.
    pub fn refresh(&self, path: &Path) -> io::Result<()> {
        let target = self.prepare_parent(path)?;
        if fs::symlink_metadata(&target).is_ok() {
            return Ok(());
        }
        fs::copy(self.root.join(path), target).map(drop)
    }

    /// Whether what ran in the room wrote the file at `path`.
    pub fn is_written(&self, path: &Path) -> bool {
        fs::symlink_metadata(self.upper().join(path)).is_ok_and(|it| it.is_file() || it.is_symlink())
    }

    /// A home folder with links to the entries of `home`, without the files at `hidden`, relative to it.
    pub fn make_home(&self, home: &Path, hidden: &[PathBuf]) -> io::Result<PathBuf> {
        let made = self.folder.join("home");
        link_all(home, &made, Path::new(""), hidden)?;
        Ok(made)
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

    /// The parent folders of `path` in the upper layer, with the modes that they have in the work tree.
    fn prepare_parent(&self, path: &Path) -> io::Result<PathBuf> {
        if !path.components().all(|it| matches!(it, Component::Normal(_))) {
            return Err(io::Error::other(format!("{} is no path in the work tree", path.display())));
        }
        let mut at = PathBuf::new();
        for part in path.parent().into_iter().flat_map(Path::components) {
            at.push(part);
            let made = self.upper().join(&at);
            if made.is_dir() {
                continue;
            }
            fs::create_dir(&made)?;
            let below = fs::symlink_metadata(self.root.join(&at)).ok().filter(fs::Metadata::is_dir);
            let mode = below.map_or_else(|| Permissions::from_mode(0o755), |it| it.permissions());
            fs::set_permissions(&made, mode)?;
        }
        Ok(self.upper().join(path))
    }

    fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }

    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

impl Drop for CleanRoom {
    fn drop(&mut self) {
        // The kernel creates a folder in there that its owner cannot list.
        let inner = self.work().join("work");
        if inner.is_dir() {
            let _ = fs::set_permissions(&inner, Permissions::from_mode(0o700));
        }
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!("could not remove the clean room {}: {error}", self.folder.display());
        }
    }
}

/// Links in `to` to the entries of `from`; folders with something hidden below are folders of links again.
fn link_all(from: &Path, to: &Path, below: &Path, hidden: &[PathBuf]) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        let path = below.join(&name);
        if hidden.contains(&path) {
            continue;
        }
        if hidden.iter().any(|it| it.starts_with(&path)) {
            link_all(&from.join(&name), &to.join(&name), &path, hidden)?;
        } else {
            symlink(from.join(&name), to.join(&name))?;
        }
    }
    Ok(())
}

/// A whiteout: the entry of the lower layer is not there.
fn hide(target: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, target, FileType::CharacterDevice, Mode::empty(), 0)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
    use std::path::Path;

    use super::CleanRoom;
    use crate::snapshots::TreeEntry;

    fn file(bytes: &str) -> TreeEntry {
        TreeEntry::File { bytes: bytes.as_bytes().to_vec(), executable: true }
    }

    #[test]
    fn the_upper_layer_holds_files_links_and_whiteouts_below_folders_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("tests")).unwrap();
        fs::set_permissions(root.join("tests"), fs::Permissions::from_mode(0o750)).unwrap();
        let scratch = folder.path().join("room");
        let room = CleanRoom::create(&scratch, &root).unwrap();
        room.write(Path::new("tests/a/run"), &file("1")).unwrap();
        room.write(Path::new("tests/link"), &TreeEntry::Link(b"a/run".to_vec())).unwrap();
        room.write(Path::new("tests/new"), &TreeEntry::Nothing).unwrap();

        let upper = scratch.join("upper");
        let mode = |path: &str| fs::symlink_metadata(upper.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("tests"), mode("tests/a"), mode("tests/a/run")), (0o750, 0o755, 0o755));
        assert_eq!(fs::read_link(upper.join("tests/link")).unwrap(), Path::new("a/run"));
        assert!(fs::symlink_metadata(upper.join("tests/new")).unwrap().file_type().is_char_device());

        for wrong in ["../x", "/x", "a/../x"] {
            assert!(room.write(Path::new(wrong), &file("")).is_err(), "{wrong}");
        }
        assert!(room.write(Path::new("big"), &TreeEntry::Unknown).is_err());
        drop(room);
        assert!(!scratch.exists());
    }
}
