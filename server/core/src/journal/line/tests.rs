//! Lines of the journal: the format, other versions, damaged lines.

use proptest::prelude::*;

use super::{BadLine, decode_line, decode_wanted, encode_line, looks_like_record};
use crate::journal::samples::{entry, records};
use crate::journal::tagged::members_of;
use crate::journal::{Entry, Outcome, OutcomeKind, PauseReason, Record, WaitReason};
use loopkeeper_task::criterion::{Check, Compare, Expect};
use loopkeeper_text::moment::Moment;

/// A line with a right checksum around any body.
fn sealed(body: &str, previous: u32) -> Vec<u8> {
    let sum = crc32c::crc32c_append(previous, body.as_bytes());
    format!("{body},\"sum\":\"{sum:08x}\"}}").into_bytes()
}

#[test]
fn the_format_is_pinned_byte_by_byte() {
    let record = Record::Paused { reason: PauseReason::Disk, message: "full".into() };
    let moment = Moment { wall: 1_795_183_200_123, awake: 123_456 };
    let (line, sum) = encode_line(&Entry { seq: 12, epoch: 2, at: moment, record }, 0x0102_0304).unwrap();
    let body = r#"{"v":1,"seq":12,"epoch":2,"at":"2026-11-20T14:00:00.123Z","up":123456,"type":"paused","reason":"disk","message":"full""#;
    assert_eq!(line.as_bytes(), [sealed(body, 0x0102_0304), b"\n".to_vec()].concat());
    assert_eq!(sum, crc32c::crc32c_append(0x0102_0304, body.as_bytes()));
}

#[test]
fn every_record_comes_back() {
    for record in records() {
        let written = entry(1, record);
        let (line, sum) = encode_line(&written, 7).unwrap();
        assert_eq!(decode_line(line.trim_end().as_bytes(), 7), Ok((written, sum)), "{line}");
    }
}

/// The members of a record as a line has them.
fn value_of(record: &Record) -> serde_json::Value {
    serde_json::from_str(&format!("{{{}}}", members_of(record).unwrap())).unwrap()
}

#[test]
fn no_record_uses_a_name_of_the_head() {
    for record in records() {
        let value = value_of(&record);
        for reserved in ["v", "seq", "epoch", "at", "up", "sum"] {
            assert!(value.get(reserved).is_none(), "{reserved} in {value}");
        }
    }
}

/// `server/JOURNAL.md` is the contract: every type has its chapter, every member is named, the example is one.
#[test]
fn the_document_says_what_the_code_does() {
    let document = include_str!("../../../../JOURNAL.md");
    let chapter_of = |line: &'static str| line.strip_prefix("### `")?.strip_suffix('`');
    let mut chapters: Vec<_> = document.lines().filter_map(chapter_of).collect();
    chapters.sort_unstable();
    let values: Vec<_> = records().iter().map(value_of).collect();
    let mut types: Vec<_> = values.iter().map(|it| it["type"].as_str().unwrap()).collect();
    types.sort_unstable();
    assert_eq!(chapters, types);

    for value in &values {
        let chapter =
            document.split("\n### ").find(|it| it.starts_with(&code(value["type"].as_str().unwrap())));
        for (name, inner) in value.as_object().unwrap() {
            assert!(name == "type" || chapter.unwrap().contains(&code(name)), "{name} of {}", value["type"]);
            let missing = names_in(inner).into_iter().find(|it| !document.contains(&code(it)));
            assert_eq!(missing, None, "in {name} of {}", value["type"]);
        }
    }

    let example = document.split("```jsonl\n").nth(1).unwrap().split("```").next().unwrap();
    let reading = crate::journal::reading::parse_journal(example.as_bytes());
    assert_eq!((reading.entries.len(), reading.tail), (2, crate::journal::reading::JournalTail::Clean));
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Names of members at any depth; settings have a page of their own.
fn names_in(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Object(members) => {
            let inner = members.iter().filter(|it| it.0 != "settings").flat_map(|it| names_in(it.1));
            members.keys().cloned().chain(inner).collect()
        }
        serde_json::Value::Array(values) => values.iter().flat_map(names_in).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn lines_of_other_versions() {
    let head = r#"{"v":1,"seq":3,"epoch":1,"at":"2026-11-20T14:00:00.123Z","up":5"#;
    let check = |body: &str, expect: Result<Record, BadLine>| {
        let line = sealed(body, 9);
        assert_eq!(decode_line(&line, 9).map(|(entry, _)| entry.record), expect, "{body}");
    };
    check(&format!(r#"{head},"type":"resumed""#), Ok(Record::Resumed {}));
    check(&format!(r#"{head},"type":"resumed","later":{{"a":[1,null]}}"#), Ok(Record::Resumed {}));
    check(&format!(r#"{head},"later":1,"type":"stopping","now":true"#), Ok(Record::Stopping { now: true }));
    check(&format!(r#"{head},"type":"from-the-future","x":{{"type":"resumed"}}"#), Ok(Record::Unknown));
    let other = Record::Paused { reason: PauseReason::Other, message: "why".into() };
    check(&format!(r#"{head},"type":"paused","reason":"a-new-reason","message":"why""#), Ok(other));
    let other =
        Record::Waiting { reason: WaitReason::Other, until: Moment { wall: 5, awake: 6 }, met_by: None };
    check(
        &format!(r#"{head},"type":"waiting","reason":"a-new-reason","until":{{"wall":5,"awake":6}}"#),
        Ok(other),
    );
    check(r#"{"v":2,"type":"whatever""#, Err(BadLine::Version(2)));
    for body in [
        &format!(r#"{head},"type":"breaker-changed","state":"a-new-state""#),
        &format!(r#"{head},"type":"stopping""#),
        &format!(r#"{head},"x":1"#),
        r#"{"v":1,"seq":-1,"epoch":1,"at":"2026-11-20T14:00:00Z","up":5,"type":"resumed""#,
        r#"{"v":1,"seq":1,"epoch":1,"at":"yesterday","up":5,"type":"resumed""#,
        r#"{"seq":1"#,
        "[1",
        "",
    ] {
        let outcome = decode_line(&sealed(body, 9), 9);
        assert!(matches!(outcome, Err(BadLine::Shape(_))), "{body}: {outcome:?}");
    }
}

#[test]
fn nothing_is_written_that_cannot_be_read() {
    let mut late = entry(1, Record::Resumed {});
    late.at.wall = u64::MAX;
    assert!(matches!(encode_line(&late, 0), Err(BadLine::Shape(_))));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let expect = vec![Expect::Number { compare: Compare::Below, value }];
        let mut criterion = crate::journal::samples::criterion();
        criterion.check = Some(Check::Command { command: String::new(), expect });
        let seen = Record::Baseline {
            iteration: 1,
            criteria: Vec::new(),
            plan: Vec::new(),
            artefacts: Vec::new(),
            round: None,
            untracked: Vec::new(),
            seen: vec![criterion],
        };
        assert!(matches!(encode_line(&entry(1, seen), 0), Err(BadLine::Shape(_))), "{value}");
    }
}

#[test]
fn the_checksum_has_one_spelling() {
    let (line, _) = encode_line(&entry(1, Record::Resumed {}), 0).unwrap();
    let line = line.trim_end();
    let upper = format!("{}{}", &line[..line.len() - 10], line[line.len() - 10..].to_uppercase());
    assert_ne!(line, upper);
    assert_eq!(decode_line(upper.as_bytes(), 0), Err(BadLine::Form));
}

fn any_record() -> impl Strategy<Value = Record> {
    let kinds = [OutcomeKind::Completed, OutcomeKind::Stopped, OutcomeKind::Limit, OutcomeKind::Failed];
    prop_oneof![
        proptest::sample::select(records()),
        any::<String>().prop_map(|text| Record::Steered { text }),
        (any::<u32>(), any::<String>(), any::<String>()).prop_map(|(to, tree, from)| Record::RolledBack {
            to,
            tree,
            from,
            paths: Vec::new(),
            reason: None,
            restored: Vec::new(),
            after: None,
            undoes: None,
        }),
        (proptest::sample::select(kinds.to_vec()), any::<bool>(), any::<String>()).prop_map(
            |(kind, verified, sentence)| Record::Ended {
                outcome: Outcome { kind, verified, sentence: sentence.into(), cause: None }
            }
        ),
        Just(Record::Unknown),
    ]
}

fn any_entry() -> impl Strategy<Value = Entry> {
    // Up to the year 9999: what a calendar can write.
    (any::<u64>(), any::<u32>(), 0..253_000_000_000_000_u64, any::<u64>(), any_record()).prop_map(
        |(seq, epoch, wall, awake, record)| Entry { seq, epoch, at: Moment { wall, awake }, record },
    )
}

proptest! {
    #[test]
    fn round_trip(entry in any_entry(), previous in any::<u32>()) {
        let (line, sum) = encode_line(&entry, previous).unwrap();
        let inner = line.strip_suffix('\n').unwrap();
        prop_assert!(!inner.contains('\n'));
        prop_assert!(looks_like_record(inner.as_bytes()));
        prop_assert_eq!(decode_line(inner.as_bytes(), previous), Ok((entry, sum)));
    }

    #[test]
    fn numbers_of_checks_come_back_exactly(value in any::<f64>().prop_filter("finite", |it| it.is_finite())) {
        let mut pinned = crate::journal::samples::criterion();
        let expect = vec![Expect::Number { compare: Compare::Below, value }];
        pinned.check = Some(Check::Command { command: String::new(), expect });
        let text = serde_json::to_string(&pinned).unwrap();
        prop_assert_eq!(serde_json::from_str::<loopkeeper_task::criterion::Criterion>(&text).unwrap(), pinned);
    }

    #[test]
    fn any_bytes_are_judged_without_a_panic(line in any::<Vec<u8>>(), previous in any::<u32>()) {
        prop_assert!(decode_line(&line, previous).is_err());
    }

    #[test]
    fn any_sealed_text_is_judged_without_a_panic(body in "[{}\\[\\]\",:a-z0-9]{0,60}", previous in any::<u32>()) {
        let _ = decode_line(&sealed(&body, previous), previous);
    }

    #[test]
    fn another_predecessor_is_refused(entry in any_entry(), one in any::<u32>(), other in any::<u32>()) {
        prop_assume!(one != other);
        let (line, _) = encode_line(&entry, one).unwrap();
        prop_assert_eq!(decode_line(line.trim_end().as_bytes(), other), Err(BadLine::Checksum));
    }
}

#[test]
fn unwanted_records_are_skipped_by_their_type() {
    let check = |line: &str, expect: Option<bool>| {
        let found = decode_wanted(line.as_bytes(), |it| it == "stopping").map(|it| it.is_some());
        assert_eq!(found.ok(), expect, "{line}");
    };
    let head = r#"{"v":1,"seq":1,"epoch":1,"at":"2026-11-20T14:00:00.123Z","up":1,"type":"#;
    check(&format!(r#"{head}"stopping","now":true,"sum":"00000000"}}"#), Some(true));
    check(&format!(r#"{head}"steered","text":"\",\"type\":\"stopping\"","sum":"00000000"}}"#), Some(false));
    // What follows is not read at all.
    check(&format!(r#"{head}"steered",???"#), Some(false));
    check(&format!(r#"{head}"stopping",???"#), None);
    // Other forms of the same line are read whole.
    let other =
        r#"{"type":"steered","v":1,"seq":1,"epoch":1,"at":"2026-11-20T14:00:00.123Z","up":1,"text":"a"}"#;
    check(other, Some(false));
    check(&other.replace("steered", "stopping").replace(r#""text":"a""#, r#""now":false"#), Some(true));
    check(&head.replace("\"v\":1", "\"v\":2"), None);
}
