//! Parses a journal's bytes into records, and classifies unreadable bytes as an interrupted write or as damage. Total
//! on any bytes; unreadable is never treated as empty.

use serde::{Deserialize, Serialize};

use super::Entry;
use super::line::{self, BadLine};
use loopkeeper_text::tr;

/// The result of parsing a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedJournal {
    /// The readable records, those of an overtaken keeper left out.
    pub entries: Vec<Entry>,
    /// Bytes up to the end of the last readable line.
    pub good_len: usize,
    /// The state that the next line is checked against.
    pub chain: ChecksumChain,
    pub tail: JournalTail,
}

/// What follows the last readable line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalTail {
    Clean,
    /// The last write was cut off: it was never reported as done.
    Torn {
        bytes: usize,
    },
    /// Something was written whole and is unreadable now, or not for this version. Nothing may be appended.
    Damaged {
        line: usize,
        why: BadLine,
    },
}

/// Reads a whole journal.
pub fn parse_journal(bytes: &[u8]) -> ParsedJournal {
    read_on(ChecksumChain::default(), bytes)
}

/// Parses the bytes that follow `chain`; lines are counted from there.
pub fn read_on(chain: ChecksumChain, bytes: &[u8]) -> ParsedJournal {
    let mut reading = ParsedJournal { entries: Vec::new(), good_len: 0, chain, tail: JournalTail::Clean };
    for (index, line) in bytes.split_inclusive(|it| *it == b'\n').enumerate() {
        let outcome = match line.strip_suffix(b"\n") {
            Some(whole) => reading.chain.read_line(whole),
            None => Err(BadLine::Form),
        };
        match outcome {
            Ok(entry) => {
                reading.entries.extend(entry);
                reading.good_len += line.len();
            }
            Err(why) => {
                let rest = bytes.get(reading.good_len..).unwrap_or_default();
                // A write that was cut off leaves no whole record: this one was edited.
                let is_edited =
                    why == BadLine::Checksum && line.strip_suffix(b"\n").is_some_and(line::looks_like_record);
                reading.tail = if why.is_whole() || is_edited || holds_later_record(rest) {
                    JournalTail::Damaged { line: index + 1, why }
                } else {
                    JournalTail::Torn { bytes: rest.len() }
                };
                break;
            }
        }
    }
    reading
}

/// The end of a journal: what the next line is checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksumChain {
    sum: u32,
    seq: u64,
    epoch: u32,
    /// The ends of the chains of overtaken keepers: one of them may have written before it noticed.
    overtaken: Vec<(u32, u32)>,
}

impl ChecksumChain {
    /// The number of the last record; 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.seq
    }

    /// The epoch of the last record; 0 before the first.
    pub fn last_epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether this is the end of so many lines with this last checksum, none of them of an overtaken keeper.
    pub fn is_end_of(&self, lines: u64, sum: u32) -> bool {
        (self.seq, self.sum) == (lines, sum)
    }

    /// Encodes the next record as a line, newline included.
    pub fn append(&mut self, entry: &Entry) -> Result<String, BadLine> {
        self.expect_next(entry)?;
        let (line, sum) = line::encode_line(entry, self.sum)?;
        self.advance(entry, sum);
        Ok(line)
    }

    /// Reads the next line (without its newline). `None`: a record of an overtaken keeper, to be ignored.
    pub fn read_line(&mut self, line: &[u8]) -> Result<Option<Entry>, BadLine> {
        match line::decode_line(line, self.sum) {
            Ok((entry, sum)) => {
                self.expect_next(&entry)?;
                self.advance(&entry, sum);
                Ok(Some(entry))
            }
            Err(BadLine::Checksum) if self.is_overtaken(line) => Ok(None),
            Err(why) => Err(why),
        }
    }

    fn expect_next(&self, entry: &Entry) -> Result<(), BadLine> {
        let expected = self.seq + 1;
        if entry.seq != expected {
            return Err(BadLine::Sequence { expected, found: entry.seq });
        }
        if entry.epoch < self.epoch {
            return Err(BadLine::Shape(tr!(
                "epoch {found} after epoch {before}",
                found = entry.epoch,
                before = self.epoch
            )));
        }
        Ok(())
    }

    fn advance(&mut self, entry: &Entry, sum: u32) {
        if entry.epoch > self.epoch {
            self.overtaken.push((self.epoch, self.sum));
        }
        (self.sum, self.seq, self.epoch) = (sum, entry.seq, entry.epoch);
    }

    /// Whether the line continues the chain of an earlier keeper.
    fn is_overtaken(&mut self, line: &[u8]) -> bool {
        for (epoch, head) in &mut self.overtaken {
            if let Ok((entry, sum)) = line::decode_line(line, *head)
                && entry.epoch == *epoch
            {
                *head = sum;
                return true;
            }
        }
        false
    }
}

/// Whether `rest` contains a record after its start. A newline may be among the damaged bytes, so a record counts
/// wherever it begins; its checksum may depend on the damaged line, so its form suffices.
fn holds_later_record(rest: &[u8]) -> bool {
    let mut lines = rest.split_inclusive(|it| *it == b'\n').filter_map(|it| it.strip_suffix(b"\n"));
    // The first line is known to be bad as a whole: only what begins inside it counts.
    lines.next().is_some_and(|line| holds_record(line.get(1..).unwrap_or_default()))
        || lines.any(holds_record)
}

fn holds_record(line: &[u8]) -> bool {
    const RECORD_START: &[u8] = b"{\"v\":";
    /// Records are never nested: a line with this many beginnings is not a torn write, and is not searched further.
    const MAX_STARTS: usize = 64;
    let begins =
        line.windows(RECORD_START.len()).enumerate().filter(|(_, it)| *it == RECORD_START).map(|(at, _)| at);
    begins
        .enumerate()
        .any(|(count, at)| count >= MAX_STARTS || line.get(at..).is_some_and(line::looks_like_record))
}

#[cfg(test)]
mod tests;
