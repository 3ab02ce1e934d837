//! Reads the records of a file piece by piece, so that a long journal is never in memory as a whole.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::ChecksumChain;
use loopkeeper_core::journal::scanner::{JournalScanner, ScannedJournal};

const PIECE_BYTES: usize = 64 * 1024;

/// Reads from `offset`, where `chain` ends, to the end of the file as it is now. `each` receives the records with their
/// lines.
pub(super) fn read_from(
    file: &File,
    offset: u64,
    chain: ChecksumChain,
    each: impl FnMut(Entry, &[u8]),
) -> io::Result<ScannedJournal> {
    read_range(file, offset..file.metadata()?.len(), chain, each)
}

/// Reads these bytes of the file, or as many as there are.
pub(super) fn read_range(
    file: &File,
    bytes: Range<u64>,
    chain: ChecksumChain,
    mut each: impl FnMut(Entry, &[u8]),
) -> io::Result<ScannedJournal> {
    let mut scanner = JournalScanner::new(chain);
    let mut piece = vec![0; PIECE_BYTES];
    let mut at = bytes.start;
    while at < bytes.end {
        let wanted = piece.len().min((bytes.end - at) as usize);
        let count = match file.read_at(piece.get_mut(..wanted).unwrap_or_default(), at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if count == 0 {
            break;
        }
        scanner.feed(piece.get(..count).unwrap_or_default(), &mut each);
        at += count as u64;
    }
    Ok(scanner.finish())
}
