//! Reads a journal concurrently with its writer: each poll returns the new records. Never writes, and never takes a
//! line that is just being written for damage.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::{self, ChecksumChain, JournalTail};

use super::{JournalError, io_error};

/// A position in a journal, up to which every record was returned.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: Option<File>,
    offset: u64,
    chain: ChecksumChain,
}

/// Result of one poll.
#[derive(Debug, PartialEq)]
pub struct JournalUpdate {
    pub since: UpdateBase,
    pub entries: Vec<Entry>,
    /// `Torn`: a write is in progress or was cut off; the next poll will tell.
    pub tail: JournalTail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateBase {
    LastLook,
    /// The first poll, or the records returned before are void (a failed write was undone).
    TheStart,
}

impl Follower {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, offset: 0, chain: ChecksumChain::default() }
    }

    /// The records written since the last poll.
    pub fn poll(&mut self) -> Result<JournalUpdate, JournalError> {
        if !self.is_where_it_was()? {
            return self.start_over();
        }
        let (update, suspicious) = self.read_on()?;
        if suspicious { self.start_over() } else { Ok(update) }
    }

    fn start_over(&mut self) -> Result<JournalUpdate, JournalError> {
        (self.file, self.offset, self.chain) = (Some(self.open()?), 0, ChecksumChain::default());
        let (update, _) = self.read_on()?;
        Ok(JournalUpdate { since: UpdateBase::TheStart, ..update })
    }

    /// Whether the file at the path is the one that was read, and at least as long.
    fn is_where_it_was(&self) -> Result<bool, JournalError> {
        let Some(file) = &self.file else { return Ok(false) };
        let look = |source| io_error("look at", &self.path, source);
        let ours = file.metadata().map_err(look)?;
        let found = match std::fs::metadata(&self.path) {
            Err(source) if source.kind() == ErrorKind::NotFound => return Err(self.missing_error()),
            other => other.map_err(look)?,
        };
        Ok(found.ino() == ours.ino() && found.dev() == ours.dev() && found.len() >= self.offset)
    }

    /// The update, and whether it contradicts what was read before: complete lines that do not continue the chain.
    fn read_on(&mut self) -> Result<(JournalUpdate, bool), JournalError> {
        let Some(file) = &self.file else { return Err(self.missing_error()) };
        let bytes = read_from(file, self.offset).map_err(|source| io_error("read", &self.path, source))?;
        let reading = reading::read_on(self.chain.clone(), &bytes);
        let unread = bytes.get(reading.good_len..).unwrap_or_default();
        let suspicious = unread.contains(&b'\n');
        self.offset += reading.good_len as u64;
        self.chain = reading.chain;
        Ok((
            JournalUpdate { since: UpdateBase::LastLook, entries: reading.entries, tail: reading.tail },
            suspicious,
        ))
    }

    fn open(&self) -> Result<File, JournalError> {
        File::open(&self.path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => self.missing_error(),
            _ => io_error("open", &self.path, source),
        })
    }

    fn missing_error(&self) -> JournalError {
        JournalError::Gone { path: self.path.clone() }
    }
}

fn read_from(file: &File, offset: u64) -> std::io::Result<Vec<u8>> {
    let rest = file.metadata()?.len().saturating_sub(offset) as usize;
    let mut bytes = vec![0; rest];
    let mut filled = 0;
    while let Some(free) = bytes.get_mut(filled..).filter(|it| !it.is_empty()) {
        match file.read_at(free, offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
