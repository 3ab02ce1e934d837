//! A copy of this program that keepers run from: an editor's update deletes the one it brought.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, linkat};

use super::lock::{Gate, pass};
use super::{StateDir, StateError};
use crate::adapters::durable;

/// What the warden's file name has behind the program's.
const WARDEN: &str = "-warden";

/// Where the warden that belongs to a program lies, if it has one of its own.
pub fn warden_of(program: &Path) -> PathBuf {
    let mut name = program.file_name().unwrap_or_default().to_owned();
    name.push(WARDEN);
    program.with_file_name(name)
}

impl StateDir {
    /// The running program under `bin/<version>`, linked or copied there unless these very bytes are there; its
    /// warden, where it brought one, beside it.
    pub fn install_binary(&self, version: &str) -> Result<PathBuf, StateError> {
        let brought = std::env::current_exe().ok().map(|it| warden_of(&it)).filter(|it| it.is_file());
        if let Some(warden) = brought {
            self.install(&warden, &format!("{version}{WARDEN}"))?;
        }
        // The name of what runs, which leads to its bytes even after the file was deleted.
        let running = Path::new("/proc/self/exe");
        if running.exists() {
            return self.install(running, version);
        }
        let running =
            std::env::current_exe().map_err(StateError::io("find this program near", self.root()))?;
        self.install(&running, version)
    }

    /// The programs and wardens of other versions than `current`, each with its size.
    pub fn old_binaries(&self, current: &str) -> Result<Vec<(PathBuf, u64)>, StateError> {
        let folder = self.bin();
        let failed = || StateError::io("list", &folder);
        let used = [current.to_owned(), format!("{current}{WARDEN}"), "lock".to_owned()];
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
        let _gate = pass(&self.bin().join("lock"), Gate::Exclusive)?;
        std::fs::remove_file(path).map_err(StateError::io("remove", path))
    }

    pub(super) fn install(&self, source: &Path, version: &str) -> Result<PathBuf, StateError> {
        let target = self.bin().join(version);
        let failed = || StateError::io("install this program as", &target);
        // Two starts at once would write the same draft.
        let _gate = pass(&self.bin().join("lock"), Gate::Exclusive)?;
        if !same_bytes(source, &target).map_err(failed())? {
            let draft = self.bin().join(format!("{version}.new"));
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
