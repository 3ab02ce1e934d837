//! The errors of snapshots, as messages for the user. A store that cannot be read is an error, never an empty snapshot.

use std::io;
use std::path::{Path, PathBuf};

use loopkeeper_text::language::translate;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::tr;

use crate::resource_limits;

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("{}", tr!("Cannot {action} {path}: {source}", action = translate(action), path = path.display(), source))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{}", tr!("The work tree {path} was moved, deleted or replaced", path = path.display()))]
    NoTree { path: PathBuf },
    #[error("{}", tr!("The snapshot store {dir} no longer exists", dir = dir.display()))]
    Missing { dir: PathBuf },
    #[error("{}", tr!("The snapshot store {dir} is damaged: {what}", dir = dir.display(), what))]
    Damaged { dir: PathBuf, what: String },
    #[error("{}", tr!("Snapshot {tree} is not in the store {dir}", tree, dir = dir.display()))]
    Unknown { tree: String, dir: PathBuf },
    #[error("{}", tr!("Another process holds the lock of the snapshot store {dir}", dir = dir.display()))]
    Locked { dir: PathBuf },
    /// See [`super::SnapshotStore::set_time_limit`].
    #[error("{}", tr!("Reading the work tree exceeded its time limit"))]
    OutOfTime,
    #[error("{}", tr!("The rollback is incomplete: {source}", source))]
    Incomplete { before: String, source: Box<SnapshotError> },
}

impl HintedError for SnapshotError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } => resource_limits::hint(source).map(str::to_owned),
            Self::OutOfTime => None,
            Self::NoTree { .. } => {
                Some(tr!("move it back and start again, or start a loop where it is now.").to_owned())
            }
            Self::Locked { .. } => {
                Some(tr!("wait until it has ended, or end it if it is stopped; then try again.").to_owned())
            }
            Self::Missing { .. } => {
                Some(tr!("it was deleted while in use; start again to make a new, empty one.").to_owned())
            }
            Self::Damaged { .. } => Some(
                tr!("move that folder aside to continue with an empty one; the work tree is not affected.")
                    .to_owned(),
            ),
            Self::Unknown { .. } => {
                Some(tr!("retention ([keep]) or `loopkeeper gc` may have removed it.").to_owned())
            }
            Self::Incomplete { before, .. } => {
                Some(tr!("run it again. The tree as it was before is snapshot {before}.", before))
            }
        }
    }
}

impl SnapshotError {
    /// For `map_err`: the failed action and its path.
    pub(super) fn io<E: Into<io::Error>>(action: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source: source.into() }
    }

    /// Whether the only cause is lack of disk space.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::Incomplete { source, .. } => source.is_full(),
            Self::NoTree { .. }
            | Self::Missing { .. }
            | Self::Damaged { .. }
            | Self::Unknown { .. }
            | Self::Locked { .. }
            | Self::OutOfTime => false,
        }
    }

    pub(super) fn damaged(dir: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { dir: dir.to_path_buf(), what: what.into() }
    }
}

pub(super) type Result<T> = std::result::Result<T, SnapshotError>;
