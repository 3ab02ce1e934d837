//! Reads a journal concurrently with its writer: each poll returns the new records. Never writes, and never takes a
//! line that is just being written for damage.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::{ChecksumChain, JournalTail};
use loopkeeper_text::tr_later;

use super::saved_state::{self, SavedState};
use super::{JournalError, io_error, open_error, open_to_read, scan};

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
    /// `Torn`: a write is in progress or was cut off; the next poll shows which.
    pub tail: JournalTail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateBase {
    LastPoll,
    /// The first poll, or the records returned before are void (a failed write was undone).
    Start,
}

/// Receives the records of a poll, one after the other.
pub trait EntrySink {
    /// All records that it received before are void.
    fn start_over(&mut self);
    fn take(&mut self, entry: Entry);
}

impl EntrySink for JournalUpdate {
    fn start_over(&mut self) {
        self.since = UpdateBase::Start;
        self.entries.clear();
    }

    fn take(&mut self, entry: Entry) {
        self.entries.push(entry);
    }
}

impl Follower {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, offset: 0, chain: ChecksumChain::default() }
    }

    /// A follower that begins after the state that the loop's keeper stored last. `None`: none is stored, or it is not a
    /// state of this journal.
    pub fn from_saved_state(path: &Path) -> Option<(Self, LoopState)> {
        let file = open_to_read(path).ok()?;
        let SavedState { state, offset, chain } = saved_state::load(path, &file)?;
        Some((Self { path: path.to_owned(), file: Some(file), offset, chain }, state))
    }

    /// The records written since the last poll.
    pub fn poll(&mut self) -> Result<JournalUpdate, JournalError> {
        let mut update =
            JournalUpdate { since: UpdateBase::LastPoll, entries: Vec::new(), tail: JournalTail::Clean };
        update.tail = self.poll_into(&mut update)?;
        Ok(update)
    }

    /// Passes on the records written since the last poll; returns what follows them.
    pub fn poll_into(&mut self, sink: &mut impl EntrySink) -> Result<JournalTail, JournalError> {
        if !self.is_where_it_was()? {
            return self.start_over(sink);
        }
        let (tail, is_suspicious) = self.read_on(sink)?;
        if is_suspicious { self.start_over(sink) } else { Ok(tail) }
    }

    fn start_over(&mut self, sink: &mut impl EntrySink) -> Result<JournalTail, JournalError> {
        (self.file, self.offset, self.chain) = (Some(open_to_read(&self.path)?), 0, ChecksumChain::default());
        sink.start_over();
        self.read_on(sink).map(|(tail, _)| tail)
    }

    /// Whether the file at the path is the one that was read, and at least as long.
    fn is_where_it_was(&self) -> Result<bool, JournalError> {
        let Some(file) = &self.file else { return Ok(false) };
        let ours = file.metadata().map_err(|source| io_error(tr_later!("look at"), &self.path, source))?;
        let found = std::fs::metadata(&self.path);
        let found = found.map_err(|source| open_error(tr_later!("look at"), &self.path, source))?;
        Ok(found.ino() == ours.ino() && found.dev() == ours.dev() && found.len() >= self.offset)
    }

    /// Reads the new records. Returns what follows them, and whether it contradicts the records before: complete lines
    /// that do not continue the chain.
    fn read_on(&mut self, sink: &mut impl EntrySink) -> Result<(JournalTail, bool), JournalError> {
        let Some(file) = &self.file else { return Err(JournalError::Gone { path: self.path.clone() }) };
        let scanned = scan::read_from(file, self.offset, self.chain.clone(), |entry, _| sink.take(entry));
        let scanned = scanned.map_err(|source| io_error(tr_later!("read"), &self.path, source))?;
        self.offset += scanned.good_len;
        self.chain = scanned.chain;
        Ok((scanned.tail, scanned.unread.contains(&b'\n')))
    }
}
