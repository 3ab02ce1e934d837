//! Compacts the record of check rounds without a loop: keeps only rounds that hold the latest result of some
//! criterion. Runs under the tree lock.

use loopkeeper_text::tr_later;
use std::collections::BTreeSet;
use std::path::Path;

use loopkeeper_core::journal::{Entry, Record};

use crate::KeeperError;
use loopkeeper_system::durable;
use loopkeeper_system::journal_file::JournalFile;

const MAX_BYTES: u64 = 1 << 20;
/// Criteria that no longer exist keep at most this many rounds.
const MAX_ROUNDS: usize = 200;

/// After a crash the old record is still complete.
pub(super) fn compact(path: &Path) -> Result<(), KeeperError> {
    if std::fs::metadata(path).map_or(0, |it| it.len()) <= MAX_BYTES {
        return Ok(());
    }
    let entries = JournalFile::open(path)?.entries;
    let draft = path.with_extension("draft");
    let _ = std::fs::remove_file(&draft);
    let mut short = JournalFile::create(&draft)?;
    for entry in latest_rounds(&entries) {
        short.append(entry.at, vec![entry.record.clone()])?;
    }
    std::fs::rename(&draft, path).map_err(KeeperError::io(tr_later!("shorten"), path))?;
    durable::sync_folder(path).map_err(KeeperError::io(tr_later!("shorten"), path))
}

/// The rounds to keep, in their order.
fn latest_rounds(entries: &[Entry]) -> Vec<&Entry> {
    let mut known = BTreeSet::new();
    let mut kept: Vec<&Entry> = Vec::new();
    for entry in entries.iter().rev() {
        let Record::ChecksDone { round, .. } = &entry.record else { continue };
        let before = known.len();
        known.extend(round.results.iter().map(|it| &it.criterion));
        if known.len() > before && kept.len() < MAX_ROUNDS {
            kept.push(entry);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use loopkeeper_core::journal::Record;
    use loopkeeper_task::criterion::CriterionId;
    use loopkeeper_text::moment::Moment;
    use serde_json::json;

    use super::{MAX_BYTES, compact};
    use loopkeeper_system::journal_file::JournalFile;

    /// A round with one result.
    fn round(criterion: &str, fact: &str) -> Record {
        let result = json!({"criterion": criterion, "status": "fail", "fact": fact, "durationMs": 1});
        let round = json!({"treeBefore": "a", "treeAfter": "a", "results": [result]});
        serde_json::from_value(json!({"checks-done": {"round": round}})).unwrap()
    }

    fn facts(path: &std::path::Path) -> Vec<(u64, String, String)> {
        let entries = JournalFile::open(path).unwrap().entries;
        let fact = |it: &loopkeeper_core::journal::Entry| {
            let Record::ChecksDone { round, .. } = &it.record else { panic!("{it:?}") };
            let CriterionId(id) = round.results[0].criterion.clone();
            (it.at.wall, id, round.results[0].fact.clone())
        };
        entries.iter().map(fact).collect()
    }

    #[test]
    fn a_large_record_keeps_the_latest_result_of_every_criterion_and_when_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("PROMPT.md.jsonl");
        let mut journal = JournalFile::create(&path).unwrap();
        let large = "x".repeat(MAX_BYTES as usize / 8);
        for wall in 1..=9 {
            let at = Moment { wall, awake: wall };
            journal.append(at, vec![round("one", &format!("{wall} {large}"))]).unwrap();
            if wall == 3 {
                journal.append(at, vec![round("other", "kept")]).unwrap();
            }
        }
        drop(journal);
        compact(&path).unwrap();
        let kept = facts(&path);
        assert_eq!((kept.len(), &kept[0]), (2, &(3, "other".to_owned(), "kept".to_owned())));
        assert_eq!((kept[1].0, kept[1].1.as_str()), (9, "one"));
        assert!(kept[1].2.starts_with("9 "));
        // New rounds are appended to the compacted file, and small files are not compacted.
        let mut journal = JournalFile::open(&path).unwrap().journal;
        journal.append(Moment { wall: 10, awake: 10 }, vec![round("one", "10")]).unwrap();
        drop(journal);
        compact(&path).unwrap();
        assert_eq!(facts(&path).len(), 3);
    }
}
