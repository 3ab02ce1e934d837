use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use loopkeeper_core::decide::{LoopState, SAVED_STATE_VERSION, apply, replay};
use loopkeeper_core::journal::{Entry, Record, line};
use tempfile::TempDir;

use crate::journal_file::follow::Follower;
use crate::journal_file::{self, JournalFile};

const JOURNALS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/journals");

fn recorded(name: &str) -> Vec<u8> {
    fs::read(format!("{JOURNALS}/{name}.jsonl")).unwrap()
}

/// The journal `demo`, with the state as of its record `cut` beside it.
fn saved_at(cut: usize) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let whole = recorded("demo");
    let lines: Vec<&[u8]> = whole.split_inclusive(|it| *it == b'\n').collect();
    fs::write(&path, lines[..cut].concat()).unwrap();
    let opened = JournalFile::open(&path).unwrap();
    opened.journal.save_state(&replay(&opened.entries).unwrap()).unwrap();
    fs::write(&path, whole).unwrap();
    (dir, path)
}

fn records() -> usize {
    recorded("demo").split_inclusive(|it| *it == b'\n').count()
}

/// The state, and how many records were folded after the saved one.
fn read_on((mut follower, mut state): (Follower, LoopState)) -> (LoopState, usize) {
    let update = follower.poll().unwrap();
    update.entries.iter().for_each(|it| apply(&mut state, it));
    (state, update.entries.len())
}

#[test]
fn a_saved_state_and_the_later_records_give_the_state_of_the_whole_journal() {
    let whole = replay(&journal_file::read(&saved_at(1).1).unwrap().entries).unwrap();
    for cut in 1..=records() {
        let (_dir, path) = saved_at(cut);
        let (state, folded) = read_on(Follower::from_saved_state(&path).unwrap());
        assert_eq!((&state, folded), (&whole, records() - cut));
    }
}

#[test]
fn a_state_that_does_not_match_is_ignored() {
    let check = |harm: fn(&PathBuf), expect: bool| {
        let (_dir, path) = saved_at(9);
        harm(&path);
        assert_eq!(Follower::from_saved_state(&path).is_some(), expect);
    };
    let replace = |path: &PathBuf, from: &str, to: &str| {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    // The control.
    check(|_| (), true);
    check(|path| fs::remove_file(path.with_extension("state")).unwrap(), false);
    check(|path| fs::write(path.with_extension("state"), "").unwrap(), false);
    check(
        |path| {
            let saved = path.with_extension("state");
            fs::remove_file(&saved).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, &saved, rustix::fs::Mode::RUSR).unwrap();
        },
        false,
    );
    // Cut off, changed, of another version or program.
    check(
        |path| {
            let saved = path.with_extension("state");
            let bytes = fs::read(&saved).unwrap();
            fs::write(&saved, &bytes[..bytes.len() / 2]).unwrap();
        },
        false,
    );
    let state = |path: &PathBuf| path.with_extension("state");
    let version = format!("\"version\":{SAVED_STATE_VERSION},\"program\"");
    let harms: [(&str, &str); 3] = [
        ("\"calls\":", "\"calls\": "),
        (&version, "\"version\":0,\"program\""),
        ("\"program\":\"", "\"program\":\"0"),
    ];
    for (from, to) in harms {
        let (_dir, path) = saved_at(9);
        replace(&state(&path), from, to);
        assert!(Follower::from_saved_state(&path).is_none(), "{from}");
    }
    // The journal is another one, shorter, or was changed in a record that the state contains.
    check(|path| fs::write(path, recorded("ticked-boxes")).unwrap(), false);
    check(|path| fs::write(path, &recorded("demo")[..2000]).unwrap(), false);
    let (_dir, path) = saved_at(9);
    replace(&path, "\"epoch\":1,", "\"epoch\":2,");
    assert!(Follower::from_saved_state(&path).is_none());
}

/// The lines of a journal with these records.
fn encoded(entries: &[Entry]) -> String {
    let mut sum = 0;
    let lines = entries.iter().map(|it| {
        let (line, next) = line::encode_line(it, sum).unwrap();
        sum = next;
        line
    });
    lines.collect()
}

#[test]
fn a_state_of_other_records_in_as_many_bytes_is_ignored() {
    let (_dir, path) = saved_at(9);
    let mut entries = journal_file::read(&path).unwrap().entries;
    let before = encoded(&entries);
    fs::write(&path, &before).unwrap();
    let opened = JournalFile::open(&path).unwrap();
    opened.journal.save_state(&replay(&opened.entries).unwrap()).unwrap();
    assert!(Follower::from_saved_state(&path).is_some());
    // Another last digit.
    entries[1].at.awake ^= 1;
    let after = encoded(&entries);
    assert_eq!(after.len(), before.len());
    fs::write(&path, after).unwrap();
    assert!(Follower::from_saved_state(&path).is_none());
}

#[test]
fn wanted_records_are_those_of_the_whole_journal() {
    let (_dir, path) = saved_at(20);
    let entries = journal_file::read(&path).unwrap().entries;
    let wanted = |path: &Path| {
        let mut found = Vec::new();
        journal_file::each_wanted(path, |it| it == "snapshot-taken", |it| found.push(it)).unwrap();
        found
    };
    let is_wanted = |it: &&Entry| matches!(it.record, Record::SnapshotTaken { .. });
    let expect: Vec<Entry> = entries.iter().filter(is_wanted).cloned().collect();
    assert!(!expect.is_empty() && expect.len() < entries.len());
    assert_eq!(wanted(&path), expect);
    // A write that was cut off is no record.
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(bytes.split(|it| *it == b'\n').nth(1).unwrap().to_vec().as_slice());
    fs::write(&path, bytes).unwrap();
    assert_eq!(wanted(&path), expect);
}

#[test]
fn damage_after_the_saved_state_leads_to_the_whole_journal() {
    let (_dir, path) = saved_at(9);
    let text = fs::read_to_string(&path).unwrap();
    let line = text.lines().nth(11).unwrap();
    fs::write(&path, text.replace(line, &line.replacen("\"up\":", "\"up\":1", 1))).unwrap();
    let (mut follower, _) = Follower::from_saved_state(&path).unwrap();
    assert_eq!(follower.poll().unwrap(), Follower::new(&path).poll().unwrap());
}

#[test]
fn the_file_is_private_and_leaves_no_draft() {
    let (dir, path) = saved_at(9);
    let mode = fs::metadata(path.with_extension("state")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!fs::read_dir(&dir).unwrap().any(|it| it.unwrap().file_name() == "journal.state.new"));
}
