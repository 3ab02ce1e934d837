//! Detects that the root of a work tree was replaced. An agent can move it away, with the folders above it, and put
//! another folder or a link in its place: its next process would work in that folder, and a rollback would write there.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use loopkeeper_text::tr_later;
use rustix::fs::{Mode, OFlags, open};

use super::SnapshotError;
use super::error::Result;

#[derive(Debug)]
pub(super) struct RootFolder {
    path: PathBuf,
    /// Kept open, so that no other folder gets its number.
    opened: File,
}

impl RootFolder {
    /// `path` contains no link.
    pub(super) fn open(path: &Path) -> Result<Self> {
        require_without_links(path)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(path, flags, Mode::empty())
            .map_err(SnapshotError::io(tr_later!("open the folder"), path))?;
        Ok(Self { path: path.to_owned(), opened: File::from(opened) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if another folder is at its path.
    pub(super) fn require_in_place(&self) -> Result<()> {
        require_without_links(&self.path)?;
        let read = SnapshotError::io(tr_later!("read the folder"), &self.path);
        let same = self.opened.metadata().and_then(|opened| {
            let found = fs::symlink_metadata(&self.path)?;
            Ok(identity(&opened) == identity(&found))
        });
        if same.map_err(read)? { Ok(()) } else { Err(SnapshotError::NoTree { path: self.path.clone() }) }
    }
}

fn require_without_links(path: &Path) -> Result<()> {
    match path.canonicalize() {
        Ok(found) if found == path => Ok(()),
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(SnapshotError::io(tr_later!("open the folder"), path)(error))
        }
        Ok(_) | Err(_) => Err(SnapshotError::NoTree { path: path.to_owned() }),
    }
}

fn identity(folder: &Metadata) -> (u64, u64) {
    (folder.dev(), folder.ino())
}
