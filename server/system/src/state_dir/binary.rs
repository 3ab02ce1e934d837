//! Copies of this program and its parts that keepers run from: an editor's update deletes those it brought.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, linkat};

use super::lock::{LockMode, acquire_gate};
use super::{StateDir, StateError};
use crate::durable;

/// The small programs: for requests, and for what the whole program can do as well. They lie beside it where they were
/// installed too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperBinary {
    Keeper,
    Warden,
    /// Makes the requests of checks: all that knows TLS.
    Request,
}

impl HelperBinary {
    const ALL: [Self; 3] = [Self::Keeper, Self::Warden, Self::Request];

    /// What its file name has behind the whole program's.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Keeper => "-keeper",
            Self::Warden => "-warden",
            Self::Request => "-request",
        }
    }

    /// Where it lies if it lies beside `program`, which may be a part itself.
    pub fn path_beside(self, program: &Path) -> PathBuf {
        let name = program.file_name().unwrap_or_default().as_bytes();
        let stem =
            Self::from_name(name).and_then(|it| name.strip_suffix(it.suffix().as_bytes())).unwrap_or(name);
        program.with_file_name(OsString::from_vec([stem, self.suffix().as_bytes()].concat()))
    }

    /// What this process is. A file that was deleted meanwhile is told with that word.
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
    /// A part under `bin/<version>-<part>`, if the running program brought one now or earlier.
    pub fn install_part(&self, part: HelperBinary, version: &str) -> Result<Option<PathBuf>, StateError> {
        let name = format!("{version}{}", part.suffix());
        let brought = std::env::current_exe().ok().map(|it| part.path_beside(&it)).filter(|it| it.is_file());
        if let Some(brought) = brought {
            return self.install(&brought, &name).map(Some);
        }
        Ok(Some(self.bin_dir().join(name)).filter(|it| it.is_file()))
    }

    /// The running program, whichever it is, under `bin/<version>` or as that part of it; linked or copied there
    /// unless these very bytes are there.
    pub fn install_binary(&self, version: &str) -> Result<PathBuf, StateError> {
        let version = &format!("{version}{}", HelperBinary::current().map_or("", HelperBinary::suffix));
        // The name of what runs, which leads to its bytes even after the file was deleted.
        let running = Path::new("/proc/self/exe");
        if running.exists() {
            return self.install(running, version);
        }
        let running =
            std::env::current_exe().map_err(StateError::io("find this program near", self.root()))?;
        self.install(&running, version)
    }

    /// The programs and their parts of other versions than `current`, each with its size.
    pub fn old_binaries(&self, current: &str) -> Result<Vec<(PathBuf, u64)>, StateError> {
        let folder = self.bin_dir();
        let failed = || StateError::io("list", &folder);
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

    /// Removes what [`StateDir::old_binaries`] found. Only where no keeper runs from one of them.
    pub fn remove_binary(&self, path: &Path) -> Result<(), StateError> {
        let _gate = acquire_gate(&self.bin_dir().join("lock"), LockMode::Exclusive)?;
        std::fs::remove_file(path).map_err(StateError::io("remove", path))
    }

    pub(super) fn install(&self, source: &Path, version: &str) -> Result<PathBuf, StateError> {
        let target = self.bin_dir().join(version);
        let failed = || StateError::io("install this program as", &target);
        // Two starts at once would write the same draft.
        let _gate = acquire_gate(&self.bin_dir().join("lock"), LockMode::Exclusive)?;
        if !same_bytes(source, &target).map_err(failed())? {
            let draft = self.bin_dir().join(format!("{version}.new"));
            let _ = std::fs::remove_file(&draft);
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

/// On another disk, deleted meanwhile, or somebody else's: a link is not to be had.
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
