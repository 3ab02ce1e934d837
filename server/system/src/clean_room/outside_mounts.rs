//! Hides from jobs in a clean room what was created outside the work tree during the loop, so that no check passes because
//! of files that an agent left there.
//!
//! Folders for temporary files are replaced by folders of the room with the older entries. New entries elsewhere are
//! covered, which leaves an empty folder or file. All of these are bind mounts, which the room's warden makes: one takes
//! microseconds, whereas the time of bubblewrap grows with the square of their number.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, DirEntry, File, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::unrecorded::{SHARED_FOLDERS, is_created_since};

/// A folder with more old entries is not replaced: each of them is a mount.
const MAX_KEPT: usize = 2_000;
/// A folder with more entries is not replaced.
const MAX_ENTRIES: usize = 20_000;
/// Mode of folders in which anyone may create files and only their owner may remove them.
const STICKY: u32 = 0o1000;

/// What a room hides outside the work tree.
#[derive(Debug, Clone)]
pub struct OutsideRequest<'a> {
    /// When the loop began.
    pub since: SystemTime,
    /// The paths around and below these stay.
    pub needed: &'a [PathBuf],
    /// New entries outside the folders for temporary files.
    pub covered: &'a [PathBuf],
}

/// A path that shows another one, with everything that is mounted below that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindMount {
    pub source: PathBuf,
    pub target: PathBuf,
}

/// Makes what is to be mounted in the room's folder, and writes the list of mounts to `list`.
pub(super) fn make_mounts(room: &Path, list: &Path, request: &OutsideRequest<'_>) -> io::Result<()> {
    let mut mounts = Vec::new();
    let mut covered: Vec<&PathBuf> = request.covered.iter().collect();
    for (number, path) in SHARED_FOLDERS.iter().map(Path::new).enumerate() {
        let Some(kept) = old_entries(path, request) else { continue };
        covered.retain(|it| !it.starts_with(path) || kept.iter().any(|kept| it.starts_with(kept)));
        replace_folder(path, &room.join(format!("shared-{number}")), kept, &mut mounts)?;
    }
    if !covered.is_empty() {
        let folder = room.join("covers");
        DirBuilder::new().create(&folder)?;
        for (number, path) in covered.into_iter().enumerate() {
            cover(path, folder.join(number.to_string()), &mut mounts)?;
        }
    }
    let words = mounts.iter().flat_map(|it| [&it.source, &it.target]);
    fs::write(list, words.map(|it| it.as_os_str().as_bytes()).collect::<Vec<_>>().join(&0))
}

/// Reads a list of mounts.
pub fn read_mounts(list: &Path) -> io::Result<Vec<BindMount>> {
    let bytes = fs::read(list)?;
    let mut words = bytes.split(|it| *it == 0).filter(|it| !it.is_empty());
    let mut next = || words.next().map(|it| PathBuf::from(OsString::from_vec(it.to_vec())));
    let mut mounts = Vec::new();
    while let (Some(source), Some(target)) = (next(), next()) {
        mounts.push(BindMount { source, target });
    }
    Ok(mounts)
}

/// The mounts that put `instead`, a new folder with the kept entries, in the place of `path`.
fn replace_folder(
    path: &Path,
    instead: &Path,
    kept: Vec<PathBuf>,
    mounts: &mut Vec<BindMount>,
) -> io::Result<()> {
    DirBuilder::new().create(instead)?;
    fs::set_permissions(instead, Permissions::from_mode(STICKY | 0o777))?;
    for entry in kept {
        let target = instead.join(entry.file_name().unwrap_or_default());
        match fs::symlink_metadata(&entry) {
            Ok(it) if it.is_symlink() => {
                symlink(fs::read_link(&entry)?, target)?;
                continue;
            }
            Ok(it) if it.is_dir() => DirBuilder::new().create(&target)?,
            Ok(_) => drop(File::create_new(&target)?),
            // It was removed in the meantime.
            Err(_) => continue,
        }
        mounts.push(BindMount { source: entry, target });
    }
    mounts.push(BindMount { source: instead.to_owned(), target: path.to_owned() });
    Ok(())
}

fn cover(path: &Path, instead: PathBuf, mounts: &mut Vec<BindMount>) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if metadata.is_dir() {
        DirBuilder::new().create(&instead)?;
    } else {
        drop(File::create_new(&instead)?);
    }
    fs::set_permissions(&instead, metadata.permissions())?;
    mounts.push(BindMount { source: instead, target: path.to_owned() });
    Ok(())
}

/// The entries of a shared folder to keep, if something in it is new and they are not too many. The one with the room in
/// it is first: a mount of it includes those that were made before.
fn old_entries(path: &Path, request: &OutsideRequest<'_>) -> Option<Vec<PathBuf>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_needed = |it: &Path| request.needed.iter().any(|needed| needed.starts_with(it));
    let is_shared = metadata.is_dir() && metadata.permissions().mode() & STICKY != 0;
    if !is_shared || request.needed.iter().any(|it| it == path) {
        return None;
    }
    let entries: Vec<DirEntry> = fs::read_dir(path).ok()?.take(MAX_ENTRIES).collect::<Result<_, _>>().ok()?;
    let is_old = |it: &DirEntry| it.metadata().is_ok_and(|it| !is_created_since(&it, request.since));
    let kept = entries.iter().filter(|it| is_needed(&it.path()) || is_old(it));
    let mut kept: Vec<PathBuf> = kept.map(DirEntry::path).collect();
    kept.sort_by_key(|it| !is_needed(it));
    let count = entries.len();
    (kept.len() < count && count < MAX_ENTRIES && kept.len() <= MAX_KEPT).then_some(kept)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn shared() -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            fs::set_permissions(folder.0.path(), Permissions::from_mode(0o1777)).unwrap();
            folder
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// A moment after everything made so far, and before everything made later.
        fn now(&self) -> SystemTime {
            fs::write(self.at("probe"), "").unwrap();
            let since = fs::metadata(self.at("probe")).unwrap().created().unwrap() + Duration::from_nanos(1);
            fs::remove_file(self.at("probe")).unwrap();
            while SystemTime::now() < since + Duration::from_millis(20) {
                std::thread::yield_now();
            }
            since
        }
    }

    #[test]
    fn a_folder_with_new_entries_keeps_the_old_and_the_needed_ones() {
        let folder = Folder::shared();
        let root = folder.0.path();
        fs::write(folder.at("old"), "").unwrap();
        let (tree, needed) = (folder.at("project"), [folder.at("project/tree")]);
        let since = folder.now();
        let request = OutsideRequest { since, needed: &needed, covered: &[] };
        assert_eq!(old_entries(root, &request), None, "nothing is new");
        fs::create_dir(&tree).unwrap();
        assert_eq!(old_entries(root, &request), None, "only the work tree is new");
        fs::write(folder.at("new"), "").unwrap();
        assert_eq!(old_entries(root, &request).unwrap(), [tree, folder.at("old")]);
        fs::set_permissions(root, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(old_entries(root, &request), None, "not shared");
    }

    #[test]
    fn kept_entries_are_mounted_into_the_folder_before_it_takes_its_place() {
        let folder = Folder::shared();
        fs::create_dir(folder.at("old")).unwrap();
        fs::write(folder.at("file"), "x").unwrap();
        symlink("/elsewhere", folder.at("link")).unwrap();
        let (instead, mut mounts) = (folder.at("instead"), Vec::new());
        let kept = ["old", "file", "link", "gone"].map(|it| folder.at(it)).to_vec();
        replace_folder(Path::new("/shared"), &instead, kept, &mut mounts).unwrap();
        let mount = |source: &Path, target: &Path| BindMount { source: source.into(), target: target.into() };
        let expect = [
            mount(&folder.at("old"), &instead.join("old")),
            mount(&folder.at("file"), &instead.join("file")),
            mount(&instead, Path::new("/shared")),
        ];
        assert_eq!(mounts, expect);
        assert_eq!(fs::read_link(instead.join("link")).unwrap(), Path::new("/elsewhere"));
    }

    #[test]
    fn new_folders_are_covered_by_empty_ones_and_the_list_is_read_again() {
        let folder = Folder::shared();
        fs::create_dir(folder.at("room")).unwrap();
        fs::create_dir(folder.at("new\n")).unwrap();
        fs::write(folder.at("file"), "x").unwrap();
        let covered = ["new\n", "file", "gone"].map(|it| folder.at(it));
        let needed = SHARED_FOLDERS.map(PathBuf::from);
        let request = OutsideRequest { since: SystemTime::UNIX_EPOCH, needed: &needed, covered: &covered };
        make_mounts(&folder.at("room"), &folder.at("room/mounts"), &request).unwrap();
        let mounts = read_mounts(&folder.at("room/mounts")).unwrap();
        let targets: Vec<_> = mounts.iter().map(|it| it.target.clone()).collect();
        assert_eq!(targets, &covered[..2]);
        assert!(mounts[0].source.is_dir() && fs::read(&mounts[1].source).unwrap().is_empty());
    }
}
