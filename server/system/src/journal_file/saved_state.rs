//! Stores the state of a loop as of one record beside its journal: a reader of a long journal verifies the records before
//! it by their checksums and folds those after it. A cache: without it, or if anything about it does not match, the whole
//! journal is folded. Keepers write it and never read it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use loopkeeper_core::decide::{LoopState, SAVED_STATE_VERSION};
use loopkeeper_core::journal::reading::ChecksumChain;
use loopkeeper_core::journal::{Entry, line};
use serde::{Deserialize, Serialize};

const PIECE_BYTES: usize = 64 * 1024;

/// A state, and where the records after it begin.
#[derive(Debug)]
pub(super) struct SavedState {
    pub(super) state: LoopState,
    pub(super) offset: u64,
    pub(super) chain: ChecksumChain,
}

/// The last line of the file, after the line with the state.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedStateTrailer {
    version: u32,
    program: String,
    /// CRC-32C of the state.
    sum: u32,
    /// The end of the journal's records that the state contains, in bytes and as their checksum chain.
    offset: u64,
    chain: ChecksumChain,
}

/// Writes the state as of the record at which `chain` ends, `offset` bytes into the journal. Not synced: readers
/// recognise a file that was cut off.
pub(super) fn write(
    journal: &Path,
    (offset, chain): (u64, &ChecksumChain),
    state: &LoopState,
) -> io::Result<()> {
    let path = state_path(journal);
    let draft = journal.with_extension("state.new");
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let written = write_to(file, (offset, chain), state).and_then(|()| std::fs::rename(&draft, path));
    written.inspect_err(|_| {
        // On a full disk the loop needs the room.
        let _ = std::fs::remove_file(&draft);
    })
}

fn write_to(file: File, (offset, chain): (u64, &ChecksumChain), state: &LoopState) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(PIECE_BYTES, ChecksumWriter { file, sum: 0 });
    serde_json::to_writer(&mut writer, state)?;
    writer.flush()?;
    let (version, program) = (SAVED_STATE_VERSION, program_version());
    let trailer =
        SavedStateTrailer { version, program, sum: writer.get_ref().sum, offset, chain: chain.clone() };
    writeln!(writer, "\n{}", serde_json::to_string(&trailer)?)?;
    writer.flush()
}

/// The state beside a journal, if it is of this version and `file`, the journal, still begins with its records.
pub(super) fn load(journal: &Path, file: &File) -> Option<SavedState> {
    let path = state_path(journal);
    // Opening a pipe in its place would block.
    let bytes = std::fs::symlink_metadata(&path).ok()?.is_file().then(|| std::fs::read(&path).ok())??;
    let lines = bytes.strip_suffix(b"\n")?;
    let (state, trailer) = lines.split_at_checked(memchr::memrchr(b'\n', lines)?)?;
    let trailer: SavedStateTrailer = serde_json::from_slice(trailer).ok()?;
    let is_ours = (trailer.version, &trailer.program) == (SAVED_STATE_VERSION, &program_version());
    if !is_ours || crc32c::crc32c(state) != trailer.sum || !begins_with(file, &trailer).ok()? {
        return None;
    }
    let state: LoopState = serde_json::from_slice(state).ok()?;
    let SavedStateTrailer { offset, chain, .. } = trailer;
    (state.position.seq == chain.last_seq()).then_some(SavedState { state, offset, chain })
}

/// Verifies the checksums of the records that the state contains. A line that does not continue the chain may be
/// damaged or of an overtaken keeper: only reading the records can show that.
fn begins_with(file: &File, trailer: &SavedStateTrailer) -> io::Result<bool> {
    let mut reader = BufReader::with_capacity(PIECE_BYTES, file.take(trailer.offset));
    let (mut line, mut bytes, mut lines, mut sum) = (Vec::new(), 0, 0, 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        let next = line.strip_suffix(b"\n").and_then(|it| line::continued_sum(it, sum));
        let Some(next) = next else { return Ok(false) };
        (bytes, lines, sum) = (bytes + line.len() as u64, lines + 1, next);
        line.clear();
    }
    Ok(bytes == trailer.offset && trailer.chain.is_end_of(lines, sum))
}

/// The records of some types in a part of a journal that was verified before. Others are not parsed: most of a long
/// journal is the output of agents and checks. A last line that was cut off is left out.
pub(super) fn each_wanted(
    file: &File,
    bytes: Range<u64>,
    is_wanted: impl Fn(&str) -> bool,
    mut each: impl FnMut(Entry),
) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(PIECE_BYTES, file);
    reader.seek(SeekFrom::Start(bytes.start))?;
    let mut reader = reader.take(bytes.end.saturating_sub(bytes.start));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        let read = line::decode_wanted(whole, &is_wanted);
        if let Some(entry) =
            read.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why.to_string()))?
        {
            each(entry);
        }
        line.clear();
    }
    Ok(())
}

fn state_path(journal: &Path) -> PathBuf {
    journal.with_extension("state")
}

fn program_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// A file, and the checksum of what was written to it.
struct ChecksumWriter {
    file: File,
    sum: u32,
}

impl Write for ChecksumWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.sum = crc32c::crc32c_append(self.sum, bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests;
