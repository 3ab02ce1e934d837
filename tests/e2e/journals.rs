//! Recorded journals: each folds to the same status and the same deadlines as when it was added, so that a change of
//! the decisions or of the format cannot alter a loop that is already on disk. `LOOPKEEPER_BLESS=1` rewrites the
//! expectations for review; the journals themselves are never rewritten.

use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_core::decide::{LoopState, SAVED_STATE_VERSION, apply, deadline, replay, state_from_first};
use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::{JournalTail, parse_journal};
use loopkeeper_text::digest::sha256;
use loopkeeper_view::{StatusFacts, status};
use serde_json::{Value, json};

fn journals() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals");
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut journals: Vec<PathBuf> =
        files.filter(|it| it.extension().is_some_and(|it| it == "jsonl")).collect();
    journals.sort();
    journals
}

fn read(journal: &Path) -> Vec<Entry> {
    let parsed = parse_journal(&fs::read(journal).unwrap());
    assert!(matches!(parsed.tail, JournalTail::Clean), "{}", journal.display());
    parsed.entries
}

/// The deadline after every record, and the status after the last one.
fn fold(entries: &[Entry]) -> Value {
    let mut state = state_from_first(&entries[0]).unwrap();
    let mut deadlines = vec![next_deadline(&state)];
    for entry in &entries[1..] {
        apply(&mut state, entry);
        deadlines.push(next_deadline(&state));
    }
    let facts = StatusFacts { now: state.time.last_at, ..StatusFacts::default() };
    json!({ "deadlines": deadlines, "status": status(&state, &facts) })
}

fn next_deadline(state: &LoopState) -> Value {
    deadline(state, &loopkeeper_core::decide::VolatileState::default())
        .map_or(Value::Null, |it| json!([it.wall, it.awake]))
}

#[test]
fn every_recorded_journal_folds_to_the_same_state() {
    let journals = journals();
    assert!(journals.len() > 20, "the corpus is gone");
    let differing: Vec<&Path> = journals.iter().filter(|it| differs(it)).map(PathBuf::as_path).collect();
    assert!(differing.is_empty(), "{differing:?} fold to another state than before");
}

fn differs(journal: &Path) -> bool {
    let expected = journal.with_extension("json");
    let found = serde_json::to_string_pretty(&fold(&read(journal))).unwrap() + "\n";
    if std::env::var_os("LOOPKEEPER_BLESS").is_some() {
        fs::write(&expected, &found).unwrap();
    }
    found != fs::read_to_string(expected).unwrap()
}

#[test]
fn a_record_that_is_left_out_changes_the_result() {
    let entries = read(&journals()[0]);
    let whole = fold(&entries);
    assert_ne!(fold(&entries[..entries.len() - 1]), whole);
}

fn stored(state: &LoopState) -> LoopState {
    serde_json::from_slice(&serde_json::to_vec(state).unwrap()).unwrap()
}

#[test]
fn a_stored_state_and_the_records_after_it_are_the_whole_at_every_cut() {
    for journal in journals() {
        let entries = read(&journal);
        let whole = replay(&entries).unwrap();
        let mut state = state_from_first(&entries[0]).unwrap();
        for cut in 1..=entries.len() {
            let mut folded = stored(&state);
            entries[cut..].iter().for_each(|it| apply(&mut folded, it));
            assert_eq!(folded, whole, "{} at {cut}", journal.display());
            entries.get(cut).inspect(|it| apply(&mut state, it));
        }
    }
}

/// A state that another version of the rules stored must not be shown: the version in the file changes with what the
/// journals of the corpus fold to.
#[test]
fn the_version_of_stored_states_changes_with_them() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals/stored-states.txt");
    let journals = journals();
    let states = journals.iter().map(|it| serde_json::to_string(&replay(&read(it)).unwrap()).unwrap());
    let digest = sha256(states.collect::<Vec<_>>().join("\n").as_bytes());
    let expected = fs::read_to_string(&place).unwrap_or_default();
    if expected == format!("{SAVED_STATE_VERSION} {digest}\n") {
        return;
    }
    let is_new = !expected.starts_with(&format!("{SAVED_STATE_VERSION} "));
    assert!(is_new, "stored states have changed: increment SAVED_STATE_VERSION");
    assert!(std::env::var_os("LOOPKEEPER_BLESS").is_some(), "LOOPKEEPER_BLESS=1 records the new version");
    fs::write(place, format!("{SAVED_STATE_VERSION} {digest}\n")).unwrap();
}
