//! Writes and reads a journal as a file: the records that [`JournalFile::append`] returns are on disk. The caller holds
//! the loop's lock. The journal itself is locked too ([`exclusive`]), because the file of the loop's lock can be
//! deleted while its holder runs. Reading concurrently with a writer is in [`follow`].

mod exclusive;
pub mod follow;
mod recent_lines;
mod saved_state;
mod scan;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::line::BadLine;
use loopkeeper_core::journal::reading::{self, ChecksumChain, JournalTail, ParsedJournal};
use loopkeeper_core::journal::scanner::ScannedJournal;
use loopkeeper_core::journal::{Entry, Record};
use loopkeeper_text::language::translate;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::{tr, tr_later};

use super::{durable, regular_file, resource_limits};

/// Released when the disk is full, so that the record that reports it still fits.
pub const RESERVE_BYTES: usize = 64 * 1024;

/// Why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Call [`JournalFile::recover`], then [`JournalFile::spend_reserve`]; then one more record fits.
    #[error("{}", tr!("the disk is full: the journal {path} cannot grow", path = path.display()))]
    Full { path: PathBuf, source: io::Error },
    #[error("{}", tr!("cannot {action} the journal {path}: {source}", action = translate(action), path = path.display(), source))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// The kernel may have dropped written bytes: only [`JournalFile::recover`] helps.
    #[error("{}", tr!("the journal {path} did not reach the disk: {source}", path = path.display(), source))]
    Sync { path: PathBuf, source: io::Error },
    #[error("{}", tr!("an earlier write of the journal {path} failed and was not repaired", path = path.display()))]
    Broken { path: PathBuf },
    #[error("{}", tr!("the journal {path} was deleted or replaced", path = path.display()))]
    Gone { path: PathBuf },
    #[error("{}", tr!("another process writes the journal {path}", path = path.display()))]
    Locked { path: PathBuf },
    #[error("{}", tr!("the journal {path} was changed by something else", path = path.display()))]
    Foreign { path: PathBuf },
    #[error("{}", tr!("the journal {path} is damaged in line {line}: {why}", path = path.display(), line, why))]
    Damaged { path: PathBuf, line: usize, why: BadLine },
    #[error("{}", tr!("a record does not fit the journal {path}: {why}", path = path.display(), why))]
    Unwritable { path: PathBuf, why: BadLine },
}

impl HintedError for JournalError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Full { .. } => tr!("Make room on that disk, then resume the loop."),
            Self::Io { source, .. } | Self::Sync { source, .. }
                if resource_limits::hint(source).is_some() =>
            {
                return resource_limits::hint(source).map(str::to_owned);
            }
            Self::Io { .. } | Self::Sync { .. } | Self::Broken { .. } => {
                tr!("Check the disk and the permissions of that folder, then resume the loop.")
            }
            Self::Gone { .. } => {
                tr!("Nothing was recreated. Start a new loop if this one's record is not needed.")
            }
            Self::Locked { .. } => {
                tr!(
                    "Nothing was changed. A keeper whose lock file was deleted ends automatically: resume the loop after that."
                )
            }
            Self::Foreign { .. } => {
                tr!("Only loopkeeper writes there. Find out which other program did before you resume.")
            }
            Self::Damaged { why: BadLine::Version(_) | BadLine::Shape(_), .. } => {
                tr!(
                    "Nothing was changed. It may come from a later version of loopkeeper: use that one to continue."
                )
            }
            Self::Damaged { .. } => {
                tr!("Nothing was changed. Restore the file from a backup, or start a new loop.")
            }
            Self::Unwritable { .. } => tr!("This is an error in loopkeeper: please report it."),
        };
        Some(hint.to_owned())
    }
}

/// A journal open for appending.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    /// The descriptor that holds the lock, if it is no longer `file`.
    lock_holder: Option<File>,
    /// Length of the file after this writer's last write.
    len: u64,
    chain: ChecksumChain,
    /// The end of the file: records that count but are not known to be on disk.
    unsynced: Vec<u8>,
    /// The checksum chain up to the last synced record.
    synced: ChecksumChain,
    /// Records that count and were cut off to repair a failed write: the next write begins with them.
    to_rewrite: Vec<u8>,
    /// Epoch of the records that this writer appends.
    epoch: u32,
    health: JournalHealth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JournalHealth {
    Sound,
    /// The bytes behind `len` are unknown.
    Broken,
}

/// An existing journal, opened to be continued.
#[derive(Debug)]
pub struct ReopenedJournal {
    pub journal: JournalFile,
    /// Empty if the keeper that created the file never wrote: nothing was ever started.
    pub entries: Vec<Entry>,
    /// The file to which the bytes of a torn write were saved.
    pub torn: Option<PathBuf>,
}

impl JournalFile {
    /// Creates a journal; fails if one exists.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let failed = |source| io_error(tr_later!("create"), path, source);
        let file = options().create_new(true).open(path).map_err(failed)?;
        if !exclusive::lock(&file, path)? {
            return Err(JournalError::Gone { path: path.to_owned() });
        }
        let journal = Self::from_parts(path, file, ChecksumChain::default(), 0);
        journal.refill_reserve()?;
        journal.file.sync_all().map_err(failed)?;
        sync_folder(path)?;
        Ok(journal)
    }

    /// Opens an existing journal in a new epoch, with all of its records.
    pub fn open(path: &Path) -> Result<ReopenedJournal, JournalError> {
        let mut entries = Vec::new();
        let (journal, torn) = Self::open_with(path, |entry| entries.push(entry))?;
        Ok(ReopenedJournal { journal, entries, torn })
    }

    /// Opens an existing journal in a new epoch and passes its records to `each`; if it fails, those are void. Also
    /// returns the file to which a torn end was copied before it was cut. A damaged journal is left as it is and
    /// refused.
    pub fn open_with(
        path: &Path,
        mut each: impl FnMut(Entry),
    ) -> Result<(Self, Option<PathBuf>), JournalError> {
        let file = exclusive::open(path)?;
        let scanned = scan::read_from(&file, 0, ChecksumChain::default(), |entry, _| each(entry));
        let ScannedJournal { chain, good_len, tail, unread } =
            scanned.map_err(|source| io_error(tr_later!("read"), path, source))?;
        let torn = match tail {
            JournalTail::Clean => None,
            JournalTail::Damaged { line, why } => {
                return Err(JournalError::Damaged { path: path.to_owned(), line, why });
            }
            JournalTail::Torn { .. } => Some(put_aside(path, &unread)?),
        };
        file.set_len(good_len).map_err(|source| io_error(tr_later!("cut"), path, source))?;
        // Records that a killed keeper wrote but did not sync are read as written, so they must become durable.
        file.sync_all().map_err(|source| io_error(tr_later!("sync"), path, source))?;
        sync_folder(path)?;
        let journal = Self::from_parts(path, file, chain, good_len);
        // Without room for a reserve the loop still continues; the next append reports the disk.
        let _ = journal.refill_reserve();
        Ok((journal, torn))
    }

    fn from_parts(path: &Path, file: File, chain: ChecksumChain, len: u64) -> Self {
        let epoch = chain.last_epoch() + 1;
        let (unsynced, to_rewrite, synced) = (Vec::new(), Vec::new(), chain.clone());
        let health = JournalHealth::Sound;
        Self {
            path: path.to_owned(),
            file,
            lock_holder: None,
            len,
            chain,
            unsynced,
            synced,
            to_rewrite,
            epoch,
            health,
        }
    }

    /// Appends the records as one write. When this returns they are on disk, with all earlier unsynced records; if it
    /// fails none of them counts.
    pub fn append(&mut self, at: Moment, records: Vec<Record>) -> Result<Vec<Entry>, JournalError> {
        let (chain, bytes, entries) = self.chain_records(at, records)?;
        self.write(&bytes)?;
        self.sync_file()?;
        self.advance_chain(chain, &bytes);
        self.mark_synced();
        Ok(entries)
    }

    /// Appends the records as one write. They count when this returns, and are on disk after the next
    /// [`Self::append`] or [`Self::sync`].
    pub fn append_unsynced(&mut self, at: Moment, records: Vec<Record>) -> Result<Vec<Entry>, JournalError> {
        let (chain, bytes, entries) = self.chain_records(at, records)?;
        self.write(&bytes)?;
        self.advance_chain(chain, &bytes);
        Ok(entries)
    }

    /// When this returns, all records written so far are on disk.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        if self.unsynced.is_empty() && self.to_rewrite.is_empty() {
            return Ok(());
        }
        self.append(Moment::default(), Vec::new()).map(drop)
    }

    fn chain_records(
        &self,
        at: Moment,
        records: Vec<Record>,
    ) -> Result<(ChecksumChain, Vec<u8>, Vec<Entry>), JournalError> {
        let mut chain = self.chain.clone();
        let mut text = String::new();
        let mut entries = Vec::with_capacity(records.len());
        for record in records {
            let entry = Entry { seq: chain.last_seq() + 1, epoch: self.epoch, at, record };
            let unwritable = |why| JournalError::Unwritable { path: self.path.clone(), why };
            text += &chain.append(&entry).map_err(unwritable)?;
            entries.push(entry);
        }
        Ok((chain, [self.to_rewrite.as_slice(), text.as_bytes()].concat(), entries))
    }

    fn advance_chain(&mut self, chain: ChecksumChain, written: &[u8]) {
        self.chain = chain;
        self.len += written.len() as u64;
        self.unsynced.extend_from_slice(written);
        self.to_rewrite.clear();
    }

    fn mark_synced(&mut self) {
        self.synced.clone_from(&self.chain);
        self.unsynced.clear();
    }

    /// Stores the state as of the last record, for readers. Nothing depends on it.
    pub fn save_state(&self, state: &LoopState) -> io::Result<()> {
        saved_state::write(&self.path, (self.len, &self.chain), state)
    }

    /// Whether the file at the path is still the same file, unchanged since this writer's last write.
    pub fn verify_unchanged(&self) -> Result<(), JournalError> {
        let path = || self.path.clone();
        let ours =
            self.file.metadata().map_err(|source| io_error(tr_later!("look at"), &self.path, source))?;
        match std::fs::metadata(&self.path) {
            Ok(found) if found.ino() == ours.ino() && found.dev() == ours.dev() => {}
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(io_error(tr_later!("look at"), &self.path, source));
            }
            Ok(_) | Err(_) => return Err(JournalError::Gone { path: path() }),
        }
        if ours.len() == self.len { Ok(()) } else { Err(JournalError::Foreign { path: path() }) }
    }

    /// Makes a journal usable again after a failed write: opens a new descriptor, verifies everything that is known to
    /// be on disk and cuts the rest. Unsynced records are written again before the next record.
    pub fn recover(&mut self) -> Result<(), JournalError> {
        let file = open(&self.path)?;
        // The lock belongs to the first descriptor, so the new one must be of the same file.
        if !exclusive::is_same_file(&file, &self.file, &self.path)? {
            return Err(JournalError::Gone { path: self.path.clone() });
        }
        let len = self.len.saturating_sub(self.unsynced.len() as u64);
        let synced = scan::read_range(&file, 0..len, ChecksumChain::default(), |_, _| ())
            .map_err(|source| io_error(tr_later!("read"), &self.path, source))?;
        let is_known = synced.chain == self.synced && synced.tail == JournalTail::Clean;
        if !is_known || synced.good_len != len {
            return Err(JournalError::Foreign { path: self.path.clone() });
        }
        file.set_len(len).map_err(|source| io_error(tr_later!("cut"), &self.path, source))?;
        self.len = len;
        self.to_rewrite.splice(..0, self.unsynced.drain(..));
        file.sync_all().map_err(|source| JournalError::Sync { path: self.path.clone(), source })?;
        let before = std::mem::replace(&mut self.file, file);
        self.lock_holder.get_or_insert(before);
        self.health = JournalHealth::Sound;
        self.verify_unchanged()
    }

    /// Releases the reserve: room for one record on a full disk.
    pub fn spend_reserve(&self) -> Result<(), JournalError> {
        match std::fs::remove_file(reserve_path(&self.path)) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(io_error(tr_later!("give up the reserve of"), &self.path, source))
            }
            _ => Ok(()),
        }
    }

    /// Restores a released reserve. Fails while there is no room.
    pub fn refill_reserve(&self) -> Result<(), JournalError> {
        let path = reserve_path(&self.path);
        if std::fs::metadata(&path).is_ok_and(|it| it.len() == RESERVE_BYTES as u64) {
            return Ok(());
        }
        // Written, not just sized: a sparse file reserves nothing.
        let filled =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).and_then(
                |mut file| {
                    file.write_all(&vec![0; RESERVE_BYTES])?;
                    file.sync_all()
                },
            );
        filled.map_err(|source| {
            let _ = std::fs::remove_file(&path);
            io_error(tr_later!("make the reserve of"), &self.path, source)
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        if self.health == JournalHealth::Broken {
            return Err(JournalError::Broken { path: self.path.clone() });
        }
        self.verify_unchanged()?;
        // A full disk may accept a part without an error; the next write returns the reason.
        if let Err(source) = self.file.write_all(bytes) {
            if self.file.set_len(self.len).is_err() {
                self.health = JournalHealth::Broken;
            }
            return Err(io_error(tr_later!("append to"), &self.path, source));
        }
        Ok(())
    }

    fn sync_file(&mut self) -> Result<(), JournalError> {
        if let Err(source) = self.file.sync_data() {
            self.health = JournalHealth::Broken;
            // Some file systems report a full disk only now.
            return Err(match io_error(tr_later!("sync"), &self.path, source) {
                JournalError::Io { path, source, .. } => JournalError::Sync { path, source },
                full => full,
            });
        }
        Ok(())
    }
}

/// Reads a journal without changing it.
pub fn read(path: &Path) -> Result<ParsedJournal, JournalError> {
    let file = regular_file::open(path).map_err(|source| open_error(tr_later!("read"), path, source));
    let (mut file, mut bytes) = (file?, Vec::new());
    file.read_to_end(&mut bytes).map_err(|source| io_error(tr_later!("read"), path, source))?;
    Ok(reading::parse_journal(&bytes))
}

/// The lines of a journal that hold records, exactly as they were written, each without its newline.
pub fn each_line(path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), JournalError> {
    each_record(path, |_, line| each(line))
}

/// The records of a journal, each with its line.
pub fn each_record(path: &Path, each: impl FnMut(Entry, &[u8])) -> Result<(), JournalError> {
    let file = open_to_read(path)?;
    let scanned = scan::read_from(&file, 0, ChecksumChain::default(), each);
    scanned.map(drop).map_err(|source| io_error(tr_later!("read"), path, source))
}

fn open_to_read(path: &Path) -> Result<File, JournalError> {
    regular_file::open(path).map_err(|source| match source.kind() {
        ErrorKind::IsADirectory => io_error(tr_later!("read"), path, source),
        _ => open_error(tr_later!("open"), path, source),
    })
}

/// The records of the wanted types of a journal that was found undamaged.
pub fn each_wanted(
    path: &Path,
    is_wanted: impl Fn(&str) -> bool,
    each: impl FnMut(Entry),
) -> Result<(), JournalError> {
    let file = open_to_read(path)?;
    let read = saved_state::each_wanted(&file, 0..u64::MAX, is_wanted, each);
    read.map_err(|source| io_error(tr_later!("read"), path, source))
}

/// The last `count` records of a journal that was found undamaged, and before them those of the types that are wanted.
/// `each` also receives whether a record is one of the last; returns how many others there are.
pub fn each_recent(
    path: &Path,
    count: u64,
    is_wanted: impl Fn(&str) -> bool,
    mut each: impl FnMut(Entry, bool),
) -> Result<u64, JournalError> {
    let file = open_to_read(path)?;
    let failed = |source| io_error(tr_later!("read"), path, source);
    let (recent, earlier) = recent_lines::find(&file, count).map_err(failed)?;
    let is_any = |_: &str| true;
    saved_state::each_wanted(&file, 0..recent.start, is_wanted, |it| each(it, false)).map_err(failed)?;
    saved_state::each_wanted(&file, recent, is_any, |it| each(it, true)).map_err(failed)?;
    Ok(earlier)
}

fn open(path: &Path) -> Result<File, JournalError> {
    options().open(path).map_err(|source| open_error(tr_later!("open"), path, source))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(0o600);
    options
}

/// Copies a torn end to the first free `<journal>.torn-<n>`, durably, before it is cut.
fn put_aside(path: &Path, bytes: &[u8]) -> Result<PathBuf, JournalError> {
    let failed = |source| io_error(tr_later!("put aside the torn end of"), path, source);
    for number in 1_u32.. {
        let aside = path.with_extension(format!("torn-{number}"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside);
        match file.and_then(|mut it| it.write_all(bytes).and_then(|()| it.sync_all())) {
            Ok(()) => return sync_folder(path).map(|()| aside),
            Err(source) if source.kind() == ErrorKind::AlreadyExists => {}
            Err(source) => return Err(failed(source)),
        }
    }
    Err(failed(ErrorKind::AlreadyExists.into()))
}

fn sync_folder(path: &Path) -> Result<(), JournalError> {
    durable::sync_folder(path).map_err(|source| io_error(tr_later!("sync the folder of"), path, source))
}

fn reserve_path(path: &Path) -> PathBuf {
    path.with_extension("reserve")
}

fn open_error(action: &'static str, path: &Path, source: io::Error) -> JournalError {
    match source.kind() {
        ErrorKind::NotFound => JournalError::Gone { path: path.to_owned() },
        _ => io_error(action, path, source),
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> JournalError {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::WriteZero => {
            JournalError::Full { path, source }
        }
        _ => JournalError::Io { action, path, source },
    }
}

#[cfg(test)]
mod tests;
