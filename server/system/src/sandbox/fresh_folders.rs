//! Folders for temporary files that every process can write to: in a clean room they contain only what was there before
//! the loop, so that no check passes because of files that an agent left there.

use std::fs::{self, DirBuilder, DirEntry, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Each entry that is kept is a mount, and the time that bubblewrap takes grows with their square. A folder with more of
/// them stays as it is.
const MAX_KEPT: usize = 150;
/// A folder with more entries stays as it is.
const MAX_ENTRIES: usize = 20_000;
/// Anyone may create files, and only their owner removes them.
const STICKY: u32 = 0o1000;

/// A folder that is replaced by one of the room, with some entries of the old one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreshFolder {
    pub(super) path: PathBuf,
    /// Shared by all jobs in the room.
    pub(super) instead: PathBuf,
    /// Mounted into it.
    pub(super) kept: Vec<PathBuf>,
}

/// Makes a folder below `room` for each shared folder in which something was created since `since`. Entries around
/// `needed` paths are kept.
pub fn make_fresh_folders(
    room: &Path,
    since: SystemTime,
    needed: &[PathBuf],
) -> io::Result<Vec<FreshFolder>> {
    let mut made = Vec::new();
    for (number, path) in SHARED.iter().map(Path::new).enumerate() {
        let Some(kept) = old_entries(path, since, needed, MAX_KEPT) else { continue };
        let instead = room.join(format!("shared-{number}"));
        DirBuilder::new().create(&instead)?;
        fs::set_permissions(&instead, Permissions::from_mode(STICKY | 0o777))?;
        let (links, kept): (Vec<PathBuf>, Vec<PathBuf>) = kept.into_iter().partition(|it| it.is_symlink());
        for link in links {
            symlink(fs::read_link(&link)?, instead.join(link.file_name().unwrap_or_default()))?;
        }
        made.push(FreshFolder { path: path.to_owned(), instead, kept });
    }
    Ok(made)
}

/// The entries of a shared folder to keep, if something in it is new and they are at most `most`.
fn old_entries(path: &Path, since: SystemTime, needed: &[PathBuf], most: usize) -> Option<Vec<PathBuf>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_needed = |it: &Path| needed.iter().any(|needed| needed.starts_with(it));
    if !metadata.is_dir() || metadata.permissions().mode() & STICKY == 0 || needed.iter().any(|it| it == path)
    {
        return None;
    }
    let entries: Vec<DirEntry> = fs::read_dir(path).ok()?.take(MAX_ENTRIES).collect::<Result<_, _>>().ok()?;
    let is_kept = |entry: &DirEntry| {
        is_needed(&entry.path()) || entry.metadata().is_ok_and(|it| !is_created_since(&it, since))
    };
    let count = entries.len();
    let kept: Vec<PathBuf> = entries.iter().filter(|it| is_kept(it)).map(DirEntry::path).collect();
    (kept.len() < count && count < MAX_ENTRIES && kept.len() <= most).then_some(kept)
}

/// Programs can set modification times, but not creation times. On a file system that records none, every entry counts
/// as old.
fn is_created_since(metadata: &Metadata, since: SystemTime) -> bool {
    metadata.created().is_ok_and(|it| it >= since)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_folder_with_new_entries_keeps_the_old_and_the_needed_ones() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::set_permissions(root, fs::Permissions::from_mode(0o1777)).unwrap();
        fs::write(root.join("old"), "").unwrap();
        let since = fs::metadata(root.join("old")).unwrap().created().unwrap() + Duration::from_nanos(1);
        let (tree, needed) = (root.join("project"), [root.join("project/tree")]);
        assert_eq!(old_entries(root, since, &needed, 9), None, "nothing is new");
        while SystemTime::now() < since + Duration::from_millis(20) {
            std::thread::yield_now();
        }
        fs::create_dir(&tree).unwrap();
        assert_eq!(old_entries(root, since, &needed, 9), None, "only the work tree is new");
        fs::write(root.join("new"), "").unwrap();
        let mut kept = old_entries(root, since, &needed, 9).unwrap();
        kept.sort();
        assert_eq!(kept, [root.join("old"), tree]);
        assert_eq!(old_entries(root, since, &needed, 1), None, "too many old entries");
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(old_entries(root, since, &needed, 9), None, "not shared");
    }
}
