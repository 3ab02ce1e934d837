use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use loopkeeper_core::journal::reading::JournalTail;
use loopkeeper_core::journal::{Entry, Record};
use loopkeeper_text::language::Language;
use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::moment::Moment;
use tempfile::TempDir;

use super::follow::{Follower, JournalUpdate, UpdateBase};
use super::{JournalError, JournalFile, JournalHealth, RESERVE_BYTES, options};

fn steered(text: &str) -> Record {
    Record::Steered { text: text.to_owned() }
}

fn texts(entries: &[Entry]) -> Vec<&str> {
    entries
        .iter()
        .filter_map(|it| match &it.record {
            Record::Steered { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// A folder with a journal of the given records.
fn journal(records: &[&str]) -> (TempDir, PathBuf, JournalFile) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut journal = JournalFile::create(&path).unwrap();
    for text in records {
        journal.append(Moment::default(), vec![steered(text)]).unwrap();
    }
    (dir, path, journal)
}

fn names(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn appended_records_are_read_by_the_next_keeper() {
    let (_dir, path, mut first) = journal(&["one"]);
    let entries = first.append(Moment { wall: 5, awake: 6 }, vec![steered("two"), steered("three")]).unwrap();
    assert_eq!(entries.iter().map(|it| (it.seq, it.epoch)).collect::<Vec<_>>(), [(2, 1), (3, 1)]);
    drop(first);

    let mut again = JournalFile::open(&path).unwrap();
    assert_eq!(texts(&again.entries), ["one", "two", "three"]);
    assert_eq!(again.torn, None);
    let entries = again.journal.append(Moment::default(), vec![steered("four")]).unwrap();
    assert_eq!((entries[0].seq, entries[0].epoch), (4, 2));
    assert_eq!(texts(&super::read(&path).unwrap().entries), ["one", "two", "three", "four"]);
}

#[test]
fn files_are_private_and_a_journal_is_never_made_twice() {
    let (dir, path, _journal) = journal(&[]);
    assert_eq!(names(&dir), ["journal.jsonl", "journal.reserve"]);
    for name in names(&dir) {
        assert_eq!(fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(matches!(JournalFile::create(&path), Err(JournalError::Io { action: "create", .. })));
}

#[test]
fn a_journal_that_was_never_written_has_no_entries() {
    let (_dir, path, journal) = journal(&[]);
    drop(journal);
    assert_eq!(JournalFile::open(&path).unwrap().entries, []);
}

#[test]
fn a_torn_end_is_put_aside_and_cut() {
    let (dir, path, journal) = journal(&["one"]);
    drop(journal);
    for (number, torn) in [(1, "{\"v\":1,\"se"), (2, "\0\0\0\0")] {
        options().open(&path).unwrap().write_all(torn.as_bytes()).unwrap();
        let mut again = JournalFile::open(&path).unwrap();
        let aside = dir.path().join(format!("journal.torn-{number}"));
        assert_eq!(again.torn.as_ref(), Some(&aside));
        assert_eq!(fs::read_to_string(&aside).unwrap(), torn);
        assert_eq!(fs::metadata(&aside).unwrap().permissions().mode() & 0o777, 0o600);
        again.journal.append(Moment::default(), vec![steered("on")]).unwrap();
        assert_eq!(super::read(&path).unwrap().tail, JournalTail::Clean);
    }
    assert_eq!(texts(&super::read(&path).unwrap().entries), ["one", "on", "on"]);
}

#[test]
fn a_damaged_journal_is_refused_and_left_as_it_is() {
    let (dir, path, journal) = journal(&["one", "two", "three"]);
    drop(journal);
    let before = names(&dir);
    let damaged = fs::read_to_string(&path).unwrap().replace("two", "tWo");
    fs::write(&path, &damaged).unwrap();
    let error = JournalFile::open(&path).unwrap_err();
    assert!(matches!(error, JournalError::Damaged { line: 2, .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    assert_eq!(names(&dir), before);
    assert_eq!(texts(&super::read(&path).unwrap().entries), ["one"]);
}

#[test]
fn a_missing_journal_is_detected_and_not_recreated() {
    let check = |harm: fn(&PathBuf), expect: fn(&JournalError) -> bool| {
        let (_dir, path, mut journal) = journal(&["one"]);
        harm(&path);
        let error = journal.verify_unchanged().unwrap_err();
        assert!(expect(&error), "{error}");
        let before = fs::read(&path).ok();
        let error = journal.append(Moment::default(), vec![steered("two")]).unwrap_err();
        assert!(expect(&error), "{error}");
        assert_eq!(fs::read(&path).ok(), before);
        let error = journal.recover().unwrap_err();
        assert!(matches!(error, JournalError::Gone { .. } | JournalError::Foreign { .. }), "{error}");
    };
    let gone = |it: &JournalError| matches!(it, JournalError::Gone { .. });
    let foreign = |it: &JournalError| matches!(it, JournalError::Foreign { .. });
    check(|path| fs::remove_file(path).unwrap(), gone);
    check(|path| fs::remove_dir_all(path.parent().unwrap()).unwrap(), gone);
    check(|path| fs::rename(path, path.with_extension("old")).unwrap(), gone);
    check(
        |path| {
            fs::copy(path, path.with_extension("new")).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
            options().open(path).unwrap().set_len(3).unwrap();
        },
        gone,
    );
    check(|path| options().open(path).unwrap().set_len(3).unwrap(), foreign);
    assert!(matches!(
        JournalFile::open(&PathBuf::from("/nonexistent/j.jsonl")),
        Err(JournalError::Gone { .. })
    ));
}

#[test]
fn a_pipe_in_place_of_a_journal_does_not_block_its_readers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
    assert!(matches!(super::read(&path), Err(JournalError::Io { action: "read", .. })));
    assert!(matches!(super::each_line(&path, |_| ()), Err(JournalError::Io { action: "open", .. })));
    assert!(matches!(Follower::new(&path).poll(), Err(JournalError::Io { action: "open", .. })));
    assert!(Follower::from_saved_state(&path).is_none());
}

#[test]
fn a_journal_has_one_writer_at_a_time() {
    let (_dir, path, mut journal) = journal(&["one"]);
    let refused = |path: &PathBuf| {
        let before = fs::read(path).unwrap();
        let error = JournalFile::open(path).unwrap_err();
        assert!(matches!(error, JournalError::Locked { .. }), "{error}");
        assert_eq!(fs::read(path).unwrap(), before);
    };
    // Also a torn end belongs to the writer.
    options().open(&path).unwrap().write_all(b"{\"v\":1,\"se").unwrap();
    refused(&path);
    journal.health = JournalHealth::Broken;
    // A new descriptor does not release the lock.
    for _ in 0..2 {
        journal.recover().unwrap();
        refused(&path);
    }
    drop(journal);
    assert_eq!(texts(&JournalFile::open(&path).unwrap().entries), ["one"]);
}

#[test]
fn a_replaced_journal_is_locked_again() {
    let (_dir, path, journal) = journal(&["one"]);
    fs::copy(&path, path.with_extension("copy")).unwrap();
    fs::rename(path.with_extension("copy"), &path).unwrap();
    let again = JournalFile::open(&path).unwrap();
    assert!(matches!(JournalFile::open(&path), Err(JournalError::Locked { .. })));
    drop((journal, again));
    JournalFile::open(&path).unwrap();
}

/// A writer without the lock, as of an earlier version.
#[test]
fn another_writer_stops_this_one() {
    let (_dir, path, mut journal) = journal(&["one"]);
    journal.file.unlock().unwrap();
    let mut other = JournalFile::open(&path).unwrap().journal;
    other.append(Moment::default(), vec![steered("two")]).unwrap();
    let error = journal.append(Moment::default(), vec![steered("lost")]).unwrap_err();
    assert!(matches!(error, JournalError::Foreign { .. }), "{error}");
    assert_eq!(texts(&super::read(&path).unwrap().entries), ["one", "two"]);
}

#[test]
fn after_a_failed_sync_nothing_is_appended_before_the_recovery() {
    let (_dir, path, mut journal) = journal(&["one"]);
    // The state after a failed sync: bytes in the file that were never acknowledged.
    options().open(&path).unwrap().write_all(b"{\"v\":1,\"never acknowledged").unwrap();
    journal.health = JournalHealth::Broken;
    let refused = journal.append(Moment::default(), vec![steered("two")]).unwrap_err();
    assert!(matches!(refused, JournalError::Broken { .. }));
    journal.recover().unwrap();
    journal.append(Moment::default(), vec![steered("two")]).unwrap();
    let reading = super::read(&path).unwrap();
    assert_eq!((texts(&reading.entries), reading.tail), (vec!["one", "two"], JournalTail::Clean));
}

#[test]
fn buffered_records_precede_later_ones_after_a_failed_sync() {
    let (_dir, path, mut journal) = journal(&["a"]);
    let note = |journal: &mut JournalFile, text: &str| {
        journal.append_unsynced(Moment::default(), vec![steered(text)]).unwrap();
    };
    note(&mut journal, "b");
    note(&mut journal, "c");
    assert_eq!(texts(&super::read(&path).unwrap().entries), ["a", "b", "c"]);
    journal.sync().unwrap();
    note(&mut journal, "d");
    // The kernel may have dropped what was not synced.
    for _ in 0..2 {
        journal.health = JournalHealth::Broken;
        assert!(matches!(journal.sync(), Err(JournalError::Broken { .. })));
        journal.recover().unwrap();
        assert_eq!(texts(&super::read(&path).unwrap().entries), ["a", "b", "c"]);
    }
    note(&mut journal, "e");
    journal.append(Moment::default(), vec![steered("f")]).unwrap();
    let reading = super::read(&path).unwrap();
    assert_eq!(texts(&reading.entries), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!((reading.chain, reading.tail), (journal.chain.clone(), JournalTail::Clean));
}

#[test]
fn recovery_verifies_what_was_acknowledged() {
    let (_dir, path, mut journal) = journal(&["one", "two"]);
    journal.health = JournalHealth::Broken;
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("two", "tWo")).unwrap();
    assert!(matches!(journal.recover(), Err(JournalError::Foreign { .. })));
    let refused = journal.append(Moment::default(), vec![steered("three")]).unwrap_err();
    assert!(matches!(refused, JournalError::Broken { .. }));
}

#[test]
fn the_reserve_occupies_blocks_and_can_be_refilled() {
    use std::os::unix::fs::MetadataExt;
    let (dir, _path, journal) = journal(&[]);
    let reserve = dir.path().join("journal.reserve");
    let blocks = fs::metadata(&reserve).unwrap().blocks() * 512;
    assert!(blocks >= RESERVE_BYTES as u64, "{blocks}");
    journal.spend_reserve().unwrap();
    assert!(!reserve.exists());
    journal.spend_reserve().unwrap();
    journal.refill_reserve().unwrap();
    journal.refill_reserve().unwrap();
    assert!(reserve.exists());
}

#[test]
fn a_follower_reads_every_record_once() {
    let (_dir, path, mut journal) = journal(&["one"]);
    let mut follower = Follower::new(&path);
    let poll = |follower: &mut Follower| follower.poll().unwrap();
    let first = poll(&mut follower);
    assert_eq!(
        (first.since, texts(&first.entries), first.tail),
        (UpdateBase::Start, vec!["one"], JournalTail::Clean)
    );
    journal.append(Moment::default(), vec![steered("two"), steered("three")]).unwrap();
    assert_eq!(texts(&poll(&mut follower).entries), ["two", "three"]);
    let nothing =
        JournalUpdate { since: UpdateBase::LastPoll, entries: Vec::new(), tail: JournalTail::Clean };
    assert_eq!(poll(&mut follower), nothing);
}

#[test]
fn a_follower_waits_for_the_rest_of_a_line() {
    let (_dir, path, mut journal) = journal(&["one"]);
    let mut follower = Follower::new(&path);
    follower.poll().unwrap();
    let before = fs::read(&path).unwrap().len();
    journal.append(Moment::default(), vec![steered("two")]).unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in before + 1..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let update = follower.poll().unwrap();
        assert_eq!((update.entries.len(), update.tail), (0, JournalTail::Torn { bytes: cut - before }));
    }
    fs::write(&path, &whole).unwrap();
    let update = follower.poll().unwrap();
    assert_eq!(
        (update.since, texts(&update.entries), update.tail),
        (UpdateBase::LastPoll, vec!["two"], JournalTail::Clean)
    );
}

/// The writer undoes a batch whose sync failed, though a follower may have seen it.
#[test]
fn a_follower_starts_over_when_the_past_changes() {
    let (_dir, path, mut journal) = journal(&["one"]);
    let mut follower = Follower::new(&path);
    let acknowledged = fs::read(&path).unwrap();
    journal.append(Moment::default(), vec![steered("undone")]).unwrap();
    follower.poll().unwrap();

    fs::write(&path, &acknowledged).unwrap();
    let update = follower.poll().unwrap();
    assert_eq!((update.since, texts(&update.entries)), (UpdateBase::Start, vec!["one"]));

    journal.file.unlock().unwrap();
    let mut other = JournalFile::open(&path).unwrap().journal;
    other.append(Moment::default(), vec![steered("something longer than what stood there before")]).unwrap();
    let longer = fs::read(&path).unwrap();
    fs::write(&path, &acknowledged).unwrap();
    drop(other);
    journal = JournalFile::open(&path).unwrap().journal;
    journal.append(Moment::default(), vec![steered("short")]).unwrap();
    follower.poll().unwrap();
    fs::write(&path, &longer).unwrap();
    let update = follower.poll().unwrap();
    assert_eq!(update.since, UpdateBase::Start);
    assert_eq!(texts(&update.entries), ["one", "something longer than what stood there before"]);

    fs::write(&path, String::from_utf8(longer).unwrap().replace("one", "0ne")).unwrap();
    // Old records are not read again as long as the chain continues; a new follower sees the damage.
    assert!(matches!(Follower::new(&path).poll().unwrap().tail, JournalTail::Damaged { line: 1, .. }));

    fs::remove_file(&path).unwrap();
    assert!(matches!(follower.poll(), Err(JournalError::Gone { .. })));
}

#[test]
fn an_error_is_in_the_language_of_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    fs::create_dir(&path).unwrap();
    let error = JournalFile::create(&path).unwrap_err();
    Language::SimplifiedChinese.during(|| {
        let message = error.to_message();
        let expect = format!("无法创建日志 {}：", path.display());
        assert!(message.fact().starts_with(&expect), "{message}");
        assert_eq!(message.hint(), Some("请检查磁盘和该文件夹的权限，然后继续循环。"));
    });
}
