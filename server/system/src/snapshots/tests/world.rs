//! Makes a work tree and its store in a temporary folder, for tests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::snapshots::{RestoreReport, Snapshot, SnapshotStore};

pub(super) struct World {
    pub dir: tempfile::TempDir,
    pub store: SnapshotStore,
}

/// Kind and complete contents of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry {
    File { bytes: Vec<u8>, executable: bool },
    Symlink(Vec<u8>),
    Folder,
}

pub(super) type Contents = BTreeMap<Vec<u8>, Entry>;

impl World {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let store = open(dir.path());
        Self { dir, store }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root().join(path)
    }

    pub(super) fn store_dir(&self) -> PathBuf {
        self.dir.path().join("state/snapshots.git")
    }

    /// Simulates another process.
    pub(super) fn reopen(&mut self) {
        self.store = open(self.dir.path());
    }

    pub(super) fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn link(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) {
        symlink(target, self.path(path)).unwrap();
    }

    pub(super) fn mode(&self, path: impl AsRef<Path>, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(super) fn take(&mut self) -> Snapshot {
        self.store.take_snapshot().unwrap()
    }

    pub(super) fn restore(&mut self, tree: &str) -> RestoreReport {
        self.store.restore(tree, None).unwrap()
    }

    pub(super) fn contents(&self) -> Contents {
        contents(&self.root())
    }

    pub(super) fn objects(&self) -> usize {
        let folders = fs::read_dir(self.store_dir().join("objects")).unwrap();
        folders.map(|it| fs::read_dir(it.unwrap().path()).unwrap().count()).sum()
    }
}

fn open(dir: &Path) -> SnapshotStore {
    SnapshotStore::open_with(&dir.join("state/snapshots.git"), &dir.join("work"), None).unwrap()
}

/// All entries below a folder, including `.git`.
pub(super) fn contents(root: &Path) -> Contents {
    let mut found = Contents::new();
    collect(root, &mut Vec::new(), &mut found);
    found
}

fn collect(folder: &Path, prefix: &mut Vec<u8>, found: &mut Contents) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let length = prefix.len();
        prefix.extend_from_slice(&entry.file_name().into_vec());
        let metadata = entry.path().symlink_metadata().unwrap();
        let entry_contents = if metadata.is_symlink() {
            Entry::Symlink(fs::read_link(entry.path()).unwrap().as_os_str().as_bytes().to_vec())
        } else if metadata.is_dir() {
            Entry::Folder
        } else {
            let executable = metadata.permissions().mode() & 0o100 != 0;
            let bytes = if metadata.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            Entry::File { bytes, executable }
        };
        if entry_contents == Entry::Folder {
            let mut below = prefix.clone();
            below.push(b'/');
            collect(&entry.path(), &mut below, found);
        }
        found.insert(prefix.clone(), entry_contents);
        prefix.truncate(length);
    }
}
