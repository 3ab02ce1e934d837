//! Installs copies of this program and its helpers that keepers run from, because an editor's update deletes the installed
//! ones.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use loopkeeper_text::tr_later;
use rustix::fs::{AtFlags, CWD, linkat};

use super::lock::{LockMode, acquire_gate};
use super::{StateDir, StateError};
use crate::durable;

/// The small programs: one for requests, and subsets of the whole program. They are installed next to it, if at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperBinary {
    Keeper,
    Warden,
    /// Makes the requests of checks; the only one that links TLS.
    Request,
}

impl HelperBinary {
    const ALL: [Self; 3] = [Self::Keeper, Self::Warden, Self::Request];

    /// Suffix of its file name after the whole program's name.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Keeper => "-keeper",
            Self::Warden => "-warden",
            Self::Request => "-request",
        }
    }

    /// Its path next to `program`, which may be a helper itself.
    pub fn path_beside(self, program: &Path) -> PathBuf {
        let name = program.file_name().unwrap_or_default().as_bytes();
        let stem =
            Self::from_name(name).and_then(|it| name.strip_suffix(it.suffix().as_bytes())).unwrap_or(name);
        program.with_file_name(OsString::from_vec([stem, self.suffix().as_bytes()].concat()))
    }

    /// Which helper this process is. The path of a file that was deleted in the meantime ends in ` (deleted)`.
    fn current() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let name = program.file_name()?.as_bytes();
        Self::from_name(name.strip_suffix(b" (deleted)").unwrap_or(name))
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|it| name.ends_with(it.suffix().as_bytes()))
    }
}

impl StateDir {
    /// A helper under `bin/<version>-<part>`, if the running program installed one now or earlier.
    pub fn install_helper(&self, part: HelperBinary, version: &str) -> Result<Option<PathBuf>, StateError> {
        let name = format!("{version}{}", part.suffix());
        let installed =
            std::env::current_exe().ok().map(|it| part.path_beside(&it)).filter(|it| it.is_file());
        if let Some(installed) = installed {
            return self.install(&installed, &name).map(Some);
        }
        Ok(Some(self.bin_dir().join(name)).filter(|it| it.is_file()))
    }

    /// The running program, whole or helper, under `bin/<version>` or that helper's name; linked or copied there unless
    /// the same bytes already exist.
    pub fn install_binary(&self, version: &str) -> Result<PathBuf, StateError> {
        let version = &format!("{version}{}", HelperBinary::current().map_or("", HelperBinary::suffix));
        // Path of the running program, which leads to its bytes even after the file was deleted.
        let running = Path::new("/proc/self/exe");
        if running.exists() {
            return self.install(running, version);
        }
        let running = std::env::current_exe()
            .map_err(StateError::io(tr_later!("find this program near"), self.root()))?;
        self.install(&running, version)
    }

    /// The programs and helpers of versions other than `current`, each with its size.
    pub fn old_binaries(&self, current: &str) -> Result<Vec<(PathBuf, u64)>, StateError> {
        let folder = self.bin_dir();
        let failed = || StateError::io(tr_later!("list"), &folder);
        let parts = HelperBinary::ALL.map(|it| format!("{current}{}", it.suffix()));
        let used = [&[current.to_owned(), "lock".to_owned()], parts.as_slice()].concat();
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let kept = used.iter().any(|it| entry.file_name() == it.as_str());
            let metadata = entry.metadata().map_err(failed())?;
            if !kept && metadata.is_file() {
                found.push((entry.path(), metadata.len()));
            }
        }
        Ok(found)
    }

    /// Removes a result of [`StateDir::old_binaries`]. Only if no keeper runs from it.
    pub fn remove_binary(&self, path: &Path) -> Result<(), StateError> {
        let _gate = acquire_gate(&self.bin_dir().join("lock"), LockMode::Exclusive)?;
        std::fs::remove_file(path).map_err(StateError::io(tr_later!("remove"), path))
    }

    pub(super) fn install(&self, source: &Path, version: &str) -> Result<PathBuf, StateError> {
        let target = self.bin_dir().join(version);
        let failed = || StateError::io(tr_later!("install this program as"), &target);
        // Two concurrent starts would write the same draft.
        let _gate = acquire_gate(&self.bin_dir().join("lock"), LockMode::Exclusive)?;
        if !same_bytes(source, &target).map_err(failed())? {
            let draft = self.bin_dir().join(format!("{version}.new"));
            if let Err(error) = std::fs::remove_file(&draft)
                && error.kind() == io::ErrorKind::ReadOnlyFilesystem
            {
                // In the sandbox of a loop whose agent starts another loop.
                return source.canonicalize().map_err(failed());
            }
            if linkat(CWD, source, CWD, &draft, AtFlags::SYMLINK_FOLLOW).is_err() {
                copy(source, &draft).map_err(failed())?;
            }
            // A keeper that runs from the old file keeps running from it.
            std::fs::rename(&draft, &target).map_err(failed())?;
            durable::sync_folder(&target).map_err(failed())?;
        }
        Ok(target)
    }
}

/// For programs that cannot be linked: on another disk, deleted in the meantime, or owned by another user.
pub(super) fn copy(source: &Path, draft: &Path) -> io::Result<()> {
    let mut from = File::open(source)?;
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o700).open(draft)?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()
}

fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let Ok(other) = File::open(other) else { return Ok(false) };
    let one = File::open(one)?;
    let (left, right) = (one.metadata()?, other.metadata()?);
    if (left.dev(), left.ino()) == (right.dev(), right.ino()) {
        return Ok(true);
    }
    if left.len() != right.len() || right.mode() & 0o100 == 0 {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let count = left.len().min(right.len());
        if left.get(..count) != right.get(..count) {
            return Ok(false);
        }
        if count == 0 {
            return Ok(left.len() == right.len());
        }
        one.consume(count);
        other.consume(count);
    }
}
