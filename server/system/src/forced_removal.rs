//! Removes folders that a program made hard to remove: closed to their owner, or nested deeper than a path, the open files
//! or the stack of a process reach.

use std::fs::{self, DirEntry, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Deeper folders are removed without recursion.
const MAX_RECURSION: usize = 256;

/// Removes a folder with everything in it. Links are removed, not followed. No other process may use the folder.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    if is_shallow(folder) && fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    match remove_by_levels(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Whether the standard library, which descends by recursion, can remove the folder without overflowing the stack.
fn is_shallow(folder: &Path) -> bool {
    let mut waiting = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { return false };
        if depth > MAX_RECURSION {
            return false;
        }
        let folders = entries.flatten().filter(|it| is_folder(it).unwrap_or(false));
        waiting.extend(folders.map(|it| (it.path(), depth + 1)));
    }
    true
}

/// Moves the folders of the second level to the first one until there are none, so that every path stays short.
fn remove_by_levels(folder: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    loop {
        let entries = open_entries(folder)?;
        if entries.is_empty() {
            return fs::remove_dir(folder);
        }
        for entry in entries {
            if !is_folder(&entry)? {
                fs::remove_file(entry.path())?;
                continue;
            }
            for inner in open_entries(&entry.path())? {
                if is_folder(&inner)? {
                    // Only a folder that can be written can be moved.
                    fs::set_permissions(inner.path(), Permissions::from_mode(0o700))?;
                    fs::rename(inner.path(), unused_name(folder, &mut moved))?;
                } else {
                    fs::remove_file(inner.path())?;
                }
            }
            fs::remove_dir(entry.path())?;
        }
    }
}

fn open_entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    fs::read_dir(folder)?.collect()
}

fn is_folder(entry: &DirEntry) -> io::Result<bool> {
    Ok(entry.file_type()?.is_dir())
}

fn unused_name(folder: &Path, moved: &mut u64) -> PathBuf {
    loop {
        *moved += 1;
        let path = folder.join(format!("moved-{moved}"));
        if fs::symlink_metadata(&path).is_err() {
            return path;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};

    use super::*;

    #[test]
    fn closed_folders_are_removed_and_the_targets_of_links_are_kept() {
        let around = tempfile::tempdir().unwrap();
        let (folder, kept) = (around.path().join("folder"), around.path().join("kept"));
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/file"), "").unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        symlink(&kept, folder.join("a/link")).unwrap();
        fs::set_permissions(folder.join("a/b"), Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(folder.join("a"), Permissions::from_mode(0o000)).unwrap();
        remove_by_levels(&folder).unwrap();
        assert!(!folder.exists() && kept.join("file").exists());
        assert!(remove_folder(&folder).is_ok(), "a missing folder is no error");
    }

    #[test]
    fn folders_deeper_than_a_path_or_the_stack_are_removed() {
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let name = "d".repeat(200);
        let mut at = open(&folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        for _ in 0..15_000 {
            mkdirat(&at, name.as_str(), Mode::RWXU).unwrap();
            at = openat(&at, name.as_str(), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        }
        drop(at);
        remove_folder(&folder).unwrap();
        assert!(!folder.exists());
    }
}
