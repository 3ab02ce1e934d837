//! The journal: `replay` is total on any bytes, and what is readable does not depend on what follows it.

use std::fmt::Write as _;

use loopkeeper_core::decide::replay;
use loopkeeper_core::journal::reading::{ChecksumChain, JournalTail, parse_journal};
use loopkeeper_core::journal::scanner::JournalScanner;
use loopkeeper_fuzz::Fuzzer;

const WORDS: &[&str] = &[
    "{\"v\":1,\"seq\":1,\"epoch\":1,",
    ",\"sum\":\"00000000\"}\n",
    "\"epoch\":4294967295",
    "\"iteration\":4294967295",
    "\"type\":\"recovered\"",
    "\"v\":2",
];

fn fuzzer() -> Fuzzer {
    Fuzzer::new("journal", WORDS, &["journals"])
}

/// As another writer would have written the lines: mutations get past the checksums.
fn sealed(text: &str) -> Vec<u8> {
    let (mut sealed, mut sum) = (String::new(), 0);
    for line in text.lines() {
        let body = line.rsplit_once(",\"sum\":\"").map_or(line, |it| it.0);
        sum = crc32c(sum, body.as_bytes());
        writeln!(sealed, "{body},\"sum\":\"{sum:08x}\"}}").unwrap();
    }
    sealed.into_bytes()
}

fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!before, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0x82f6_3b78 & (sum & 1).wrapping_neg()))
    })
}

fn read(bytes: &[u8]) {
    let parsed = parse_journal(bytes);
    assert!(parsed.good_len <= bytes.len());
    let again = parse_journal(&bytes[..parsed.good_len]);
    assert_eq!((again.entries.len(), again.tail), (parsed.entries.len(), JournalTail::Clean));
    assert!(parsed.entries.windows(2).all(|it| it[0].seq < it[1].seq && it[0].epoch <= it[1].epoch));
    std::hint::black_box(replay(&parsed.entries));
    let mut count = 0;
    let mut scanned = JournalScanner::new(ChecksumChain::default());
    bytes.chunks(97).for_each(|piece| scanned.feed(piece, |_, _| count += 1));
    assert_eq!((count, scanned.finish().tail), (parsed.entries.len(), parsed.tail));
}

#[test]
fn any_bytes_are_read() {
    fuzzer().run(read);
}

#[test]
fn any_records_with_checksums_are_read() {
    fuzzer().run(|input| read(&sealed(&String::from_utf8_lossy(input))));
}

#[test]
fn the_time_is_linear() {
    fuzzer().run_growing(|input| drop(parse_journal(input)));
}
