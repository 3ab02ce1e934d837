//! Reads a journal in pieces, so that a long one is never in memory as a whole. The result is that of
//! [`reading::read_on`] over all pieces together.

use super::Entry;
use super::reading::{self, ChecksumChain, JournalTail};

/// A journal that was read up to the last piece.
#[derive(Debug)]
pub struct JournalScanner {
    chain: ChecksumChain,
    /// Bytes and lines up to the end of the last readable line.
    good_len: u64,
    lines: usize,
    /// What follows it: the beginning of a line, or everything from the first unreadable line on.
    unread: Vec<u8>,
    is_stuck: bool,
}

/// The verdict on everything that a scanner was given.
#[derive(Debug, Clone, PartialEq)]
pub struct ScannedJournal {
    pub chain: ChecksumChain,
    /// Bytes up to the end of the last readable line.
    pub good_len: u64,
    pub tail: JournalTail,
    /// The bytes after it.
    pub unread: Vec<u8>,
}

impl JournalScanner {
    /// For bytes that follow `chain`; lines and bytes are counted from there.
    pub fn new(chain: ChecksumChain) -> Self {
        Self { chain, good_len: 0, lines: 0, unread: Vec::new(), is_stuck: false }
    }

    /// Reads the next piece; `each` receives every record and its line, without the newline.
    pub fn feed(&mut self, piece: &[u8], mut each: impl FnMut(Entry, &[u8])) {
        self.unread.extend_from_slice(piece);
        // Without a newline there is no line to read yet: searching the rest again would take quadratic time.
        if self.is_stuck || !piece.contains(&b'\n') {
            return;
        }
        let bytes = std::mem::take(&mut self.unread);
        let mut at = 0;
        for line in bytes.split_inclusive(|it| *it == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            match self.chain.read_line(whole) {
                Ok(Some(entry)) => each(entry, whole),
                Ok(None) => {}
                Err(_) => {
                    self.is_stuck = true;
                    break;
                }
            }
            at += line.len();
            self.lines += 1;
        }
        self.good_len += at as u64;
        self.unread = bytes.get(at..).unwrap_or_default().to_vec();
    }

    /// The verdict, once there are no more pieces.
    pub fn finish(self) -> ScannedJournal {
        let Self { chain, good_len, lines, unread, .. } = self;
        let tail = match reading::read_on(chain.clone(), &unread).tail {
            JournalTail::Damaged { line, why } => JournalTail::Damaged { line: lines + line, why },
            other => other,
        };
        ScannedJournal { chain, good_len, tail, unread }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::journal::Record;
    use loopkeeper_text::moment::Moment;

    /// Three records of two keepers, as text.
    fn journal() -> Vec<u8> {
        let mut chain = ChecksumChain::default();
        let record = |(seq, epoch, text): (u64, u32, &str)| Entry {
            seq,
            epoch,
            at: Moment { wall: 1_790_000_000_000, awake: seq },
            record: Record::Steered { text: text.to_owned() },
        };
        let entries = [(1, 1, "mind the tests"), (2, 1, "µ\u{2028}"), (3, 2, "")].map(record);
        entries.iter().map(|it| chain.append(it).unwrap()).collect::<String>().into_bytes()
    }

    /// The pieces end at `cuts`.
    fn scan(bytes: &[u8], cuts: &[usize]) -> (Vec<Entry>, ScannedJournal) {
        let mut scanner = JournalScanner::new(ChecksumChain::default());
        let (mut entries, mut from) = (Vec::new(), 0);
        let mut cuts: Vec<usize> = cuts.iter().map(|it| it % (bytes.len() + 1)).collect();
        cuts.sort_unstable();
        for cut in cuts.into_iter().chain([bytes.len()]) {
            scanner.feed(&bytes[from..cut], |entry, line| {
                assert!(bytes.windows(line.len()).any(|it| it == line));
                entries.push(entry);
            });
            from = cut;
        }
        (entries, scanner.finish())
    }

    fn check(bytes: &[u8], cuts: &[usize]) {
        let (entries, scanned) = scan(bytes, cuts);
        let whole = reading::parse_journal(bytes);
        assert_eq!((entries, scanned.good_len as usize), (whole.entries, whole.good_len));
        assert_eq!((scanned.chain, scanned.tail), (whole.chain, whole.tail));
        assert_eq!(scanned.unread, &bytes[whole.good_len..]);
    }

    #[test]
    fn pieces_read_as_the_whole_does() {
        let bytes = journal();
        for cut in 0..=bytes.len() {
            check(&bytes, &[cut]);
            check(&bytes[..cut], &[cut / 2]);
        }
        check(&[&bytes[..], b"\0\0\0"].concat(), &[5]);
        check(&[], &[]);
    }

    #[test]
    fn a_long_line_in_many_pieces_takes_linear_time() {
        let mut scanner = JournalScanner::new(ChecksumChain::default());
        for _ in 0..100_000 {
            scanner.feed(&[0; 100], |entry, _| panic!("{entry:?}"));
        }
        let scanned = scanner.finish();
        assert_eq!((scanned.good_len, scanned.tail), (0, JournalTail::Torn { bytes: 10_000_000 }));
    }

    proptest! {
        #[test]
        fn damage_reads_as_in_the_whole(
            at in 0usize..400,
            byte in any::<u8>(),
            cuts in proptest::collection::vec(0usize..600, 0..4),
        ) {
            let mut bytes = journal();
            let at = at % bytes.len();
            bytes[at] = byte;
            check(&bytes, &cuts);
        }
    }
}
