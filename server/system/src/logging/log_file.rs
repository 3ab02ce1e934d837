//! A log file of bounded size, with one older file next to it. Created when the first line is written.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tracing::Level;

use super::LogSink;

/// Size of each of the two files.
const MAX_BYTES: u64 = 1 << 20;

pub(super) struct LogFile {
    path: PathBuf,
    max_bytes: u64,
    open: Mutex<Option<OpenLog>>,
}

struct OpenLog {
    file: File,
    length: u64,
}

impl LogFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self::with_limit(path, MAX_BYTES)
    }

    pub(super) fn with_limit(path: PathBuf, max_bytes: u64) -> Self {
        Self { path, max_bytes, open: Mutex::new(None) }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let log = match open.as_mut() {
            Some(log) => log,
            None => open.insert(self.open_file()?),
        };
        let line = format!("{line}\n");
        let added = line.len() as u64;
        if log.length > 0 && log.length + added > self.max_bytes {
            self.rotate(log)?;
        }
        log.file.write_all(line.as_bytes())?;
        log.length += added;
        Ok(())
    }

    fn open_file(&self) -> io::Result<OpenLog> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        let length = file.metadata()?.len();
        Ok(OpenLog { file, length })
    }

    /// Copied and emptied rather than renamed: standard error of a detached keeper is the same file.
    fn rotate(&self, log: &mut OpenLog) -> io::Result<()> {
        let mut older = self.path.clone().into_os_string();
        older.push(".1");
        // On a full disk the older lines are lost, but the file stays bounded.
        let _ = std::fs::copy(&self.path, older);
        log.file.set_len(0)?;
        log.length = 0;
        Ok(())
    }
}

impl LogSink for LogFile {
    fn write_line(&self, _: Level, line: &str) {
        // A failure to write the log is not fatal.
        let _ = self.append(line);
    }
}
