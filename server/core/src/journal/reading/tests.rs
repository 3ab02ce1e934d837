//! Whole, torn and damaged journals.

use proptest::prelude::*;

use super::{BadLine, ChecksumChain, JournalTail, ParsedJournal, parse_journal};
use crate::journal::samples::{entry, journal};
use crate::journal::{Entry, Record};

fn steered(seq: u64, epoch: u32, text: &str) -> Entry {
    Entry { epoch, ..entry(seq, Record::Steered { text: text.to_owned() }) }
}

/// The lines of a journal of `count` records.
fn lines(count: u64) -> Vec<String> {
    let mut chain = ChecksumChain::default();
    (1..=count).map(|seq| chain.append(&steered(seq, 1, &format!("text {seq} \"x\""))).unwrap()).collect()
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|it| *it == b'\n').count() - 1
}

fn record_count(bytes: &[u8]) -> usize {
    parse_journal(bytes).entries.len()
}

#[test]
fn a_whole_journal() {
    let text = journal();
    let reading = parse_journal(text.as_bytes());
    assert_eq!(reading.tail, JournalTail::Clean);
    assert_eq!(reading.good_len, text.len());
    assert_eq!(reading.entries.len(), text.lines().count());
    assert_eq!((reading.chain.last_seq(), reading.chain.last_epoch()), (reading.entries.len() as u64, 1));
}

#[test]
fn an_empty_file_has_no_records_and_no_damage() {
    let reading = parse_journal(b"");
    assert_eq!((reading.entries.len(), reading.good_len, reading.tail), (0, 0, JournalTail::Clean));
}

#[test]
fn a_cut_loses_at_most_one_record() {
    let text = journal().into_bytes();
    let whole = parse_journal(&text).entries;
    for cut in 0..=text.len() {
        let reading = parse_journal(&text[..cut]);
        let complete = newlines(&text[..cut]);
        assert_eq!(reading.entries, whole[..complete], "cut at {cut}");
        let torn = cut - reading.good_len;
        let expect = if torn == 0 { JournalTail::Clean } else { JournalTail::Torn { bytes: torn } };
        assert_eq!(reading.tail, expect, "cut at {cut}");
    }
}

/// In the last line, a flip that leaves no record cannot be distinguished from an interrupted write; otherwise it is
/// damage. No record is ever accepted that was not written.
fn check_flip(text: &[u8], at: usize, bit: usize) {
    let last = text.len() - text.rsplit(|it| *it == b'\n').nth(1).unwrap().len() - 1;
    let mut bytes = text.to_vec();
    bytes[at] ^= 1 << bit;
    let reading = parse_journal(&bytes);
    let line = newlines(&text[..at]);
    assert_eq!(reading.entries.len(), line, "byte {at} bit {bit}");
    match reading.tail {
        JournalTail::Damaged { line: found, .. } => {
            assert!(found == line + 1, "byte {at} bit {bit}");
        }
        JournalTail::Torn { .. } => assert!(at >= last, "byte {at} bit {bit}"),
        JournalTail::Clean => panic!("byte {at} bit {bit} went unnoticed"),
    }
}

#[test]
fn every_flipped_bit_of_a_short_journal_is_found() {
    let text = lines(4).concat().into_bytes();
    for at in 0..text.len() {
        (0..8).for_each(|bit| check_flip(&text, at, bit));
    }
}

#[test]
fn a_flip_in_any_byte_of_a_long_journal_is_found() {
    let text = lines(50).concat().into_bytes();
    (0..text.len()).for_each(|at| check_flip(&text, at, at % 8));
}

#[test]
fn unreadable_ends_are_torn_or_damaged() {
    let check = |name: &str, bytes: Vec<u8>, entries: usize, expect: fn(&JournalTail) -> bool| {
        let ParsedJournal { entries: found, tail, .. } = parse_journal(&bytes);
        assert!(found.len() == entries && expect(&tail), "{name}: {} records, {tail:?}", found.len());
    };
    let torn = |it: &JournalTail| matches!(it, JournalTail::Torn { .. });
    let damaged = |it: &JournalTail| matches!(it, JournalTail::Damaged { .. });
    let all = lines(5);
    let join = |parts: &[&str]| parts.concat().into_bytes();
    let whole = all.concat();

    check("zeros at the end", [whole.as_bytes(), &[0; 4096]].concat(), 5, torn);
    check("half a record", join(&[&whole, r#"{"v":1,"seq":6,"ep"#]), 5, torn);
    check("a line of text", join(&[&whole, "hello\n"]), 5, torn);
    check("many lines of text", join(&[&whole, "hello\n\n\u{0}\nx\n"]), 5, torn);
    check("an empty line at the end", join(&[&whole, "\n"]), 5, torn);
    check("the last line twice", join(&[&whole, &all[4]]), 5, damaged);
    let edited = all[4].replacen("\"up\":", "\"up\":1", 1);
    assert_ne!(edited, all[4]);
    check("only the last line edited", join(&[&all[..4].concat(), &edited]), 4, damaged);
    let forged = r#"{"v":1,"seq":6,"epoch":1,"at":"2026-11-20T14:00:00.123Z","up":1,"type":"resumed","sum":"00000000"}"#;
    check("a record that was added", join(&[&whole, forged, "\n"]), 5, damaged);
    check("a record whose newline is not written", join(&[&whole, &forged[..90]]), 5, torn);
    check("an empty line between", join(&[&all[0], "\n", &all[1]]), 1, damaged);
    check("a line is missing", join(&[&all[0], &all[1], &all[3], &all[4]]), 2, damaged);
    check("the first line is missing", join(&[&all[1], &all[2]]), 0, damaged);
    check("two lines swapped", join(&[&all[0], &all[2], &all[1], &all[3]]), 1, damaged);
    check("a block twice", join(&[&whole, &all[3], &all[4]]), 5, damaged);
    check("zeros between", join(&[&all[0], &"\0".repeat(512), &all[1], &all[2]]), 1, damaged);
    check("a newline lost", join(&[&all[0], all[1].trim_end(), &all[2]]), 1, damaged);
    check("cut off and written on", join(&[&all[0], &all[1][..20], &all[2]]), 1, damaged);
    check("not a journal", b"\x7fELF\0\0\0\n\n\n".to_vec(), 0, torn);
    let endless = format!("{whole}{},\"sum\":\"00000000\"}}\n", r#"{"v":1,"a":"#.repeat(100_000));
    check("beginnings without end", endless.into_bytes(), 5, damaged);
}

/// A line that was written completely is never cut off as torn, even if it is the last one.
#[test]
fn records_of_a_later_version_are_kept() {
    let sealed = |body: &str| format!("{body},\"sum\":\"{:08x}\"}}\n", crc32c::crc32c(body.as_bytes()));
    for (body, expect) in [
        (r#"{"v":2,"seq":1"#, BadLine::Version(2)),
        (
            r#"{"v":1,"seq":7,"epoch":1,"at":"2026-11-20T14:00:00.123Z","up":1,"type":"resumed""#,
            BadLine::Sequence { expected: 1, found: 7 },
        ),
    ] {
        assert_eq!(
            parse_journal(sealed(body).as_bytes()).tail,
            JournalTail::Damaged { line: 1, why: expect }
        );
    }
    let shape =
        r#"{"v":1,"seq":1,"epoch":1,"at":"2026-11-20T14:00:00.123Z","up":1,"type":"stopping","now":"soon""#;
    let tail = parse_journal(sealed(shape).as_bytes()).tail;
    assert!(matches!(tail, JournalTail::Damaged { line: 1, why: BadLine::Shape(_) }), "{tail:?}");
}

/// A keeper that lost its lock without noticing may still write: its records are ignored, and the keeper that took
/// over continues.
#[test]
fn records_of_an_overtaken_keeper_are_ignored() {
    let mut old = ChecksumChain::default();
    let mut text = old.append(&steered(1, 1, "one")).unwrap();
    let mut new = old.clone();
    text += &new.append(&steered(2, 2, "new two")).unwrap();
    text += &old.append(&steered(2, 1, "old two")).unwrap();
    text += &old.append(&steered(3, 1, "old three")).unwrap();
    text += &new.append(&steered(3, 2, "new three")).unwrap();
    let mut newest = parse_journal(text.as_bytes()).chain;
    text += &newest.append(&steered(4, 3, "newest four")).unwrap();
    text += &old.append(&steered(4, 1, "old four")).unwrap();
    text += &new.append(&steered(4, 2, "new four")).unwrap();
    let reading = parse_journal(text.as_bytes());
    let texts: Vec<_> = reading
        .entries
        .iter()
        .map(|it| match &it.record {
            Record::Steered { text } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["one", "new two", "new three", "newest four"]);
    assert_eq!((reading.tail, reading.good_len), (JournalTail::Clean, text.len()));
}

#[test]
fn only_the_next_record_can_be_appended() {
    let mut chain = ChecksumChain::default();
    chain.append(&steered(1, 2, "")).unwrap();
    let skipped = chain.append(&steered(3, 2, ""));
    assert_eq!(skipped, Err(BadLine::Sequence { expected: 2, found: 3 }));
    assert!(matches!(chain.append(&steered(2, 1, "")), Err(BadLine::Shape(_))));
    chain.append(&steered(2, 2, "")).unwrap();
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in any::<Vec<u8>>()) {
        let reading = parse_journal(&bytes);
        prop_assert!(reading.entries.is_empty());
        prop_assert_eq!(reading.tail == JournalTail::Clean, bytes.is_empty());
    }

    /// For any damage to a journal, the records that are read are a prefix of those that were written.
    #[test]
    fn nothing_is_read_that_was_not_written(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..6),
    ) {
        let text = lines(8).concat();
        let whole = parse_journal(text.as_bytes()).entries;
        let mut bytes = text.into_bytes();
        for (index, byte, edit) in edits {
            let at = index.index(bytes.len());
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let reading = parse_journal(&bytes);
        prop_assert!(whole.starts_with(&reading.entries));
        prop_assert!(reading.good_len <= bytes.len());
        prop_assert_eq!(record_count(&bytes[..reading.good_len]), reading.entries.len());
    }
}
