//! The acknowledgements of a writer, and which of them are lost.

use std::path::Path;

use loopkeeper_core::journal::reading::JournalTail;
use loopkeeper_system::journal_file;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::trust::TrustStore;

use super::writer::{ROOT, item, journal_in, state_in, steered};

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Records 1 to this one.
    records: u64,
    /// Grants 1 to this one.
    yeses: u64,
    /// Errors it reported.
    pub(super) errors: usize,
    /// It finished by itself.
    pub(super) finished: bool,
}

impl Ledger {
    /// Parses one line of a writer; returns whether it is an acknowledgement. A line cut off by a kill counts as
    /// nothing.
    pub(super) fn parse_line(&mut self, line: &str) -> bool {
        let number = |text: &str| text.strip_suffix('.').and_then(|it| it.parse().ok());
        match line.split_once(' ') {
            Some(("record", text)) => number(text).is_some_and(|it| {
                self.records = it;
                true
            }),
            Some(("yes", text)) => number(text).is_some_and(|it| {
                self.yeses = it;
                true
            }),
            Some(("error", _)) => {
                self.errors += 1;
                false
            }
            _ => {
                self.finished |= line == "finished.";
                false
            }
        }
    }

    pub(super) fn add(&mut self, later: &Self) {
        self.records = self.records.max(later.records);
        self.yeses = self.yeses.max(later.yeses);
    }

    pub(super) fn count(&self) -> u64 {
        self.records
    }

    /// Faults of the contents of `folder`.
    pub(super) fn lost(&self, folder: &Path) -> Vec<String> {
        let mut lost = self.lost_records(folder);
        if self.yeses > 0 {
            lost.extend(self.lost_yeses(folder));
        }
        lost
    }

    fn lost_records(&self, folder: &Path) -> Vec<String> {
        let reading = match journal_file::read(&journal_in(folder)) {
            Ok(reading) => reading,
            Err(error) => return vec![error.to_string()],
        };
        let mut wrong = Vec::new();
        if let JournalTail::Damaged { line, why } = &reading.tail {
            wrong.push(format!("damaged in line {line}: {why}"));
        }
        // The chain guarantees the numbers: they are 1, 2, 3 ….
        let count = reading.entries.len() as u64;
        if count < self.records {
            wrong.push(format!("{} acknowledged, {count} there", self.records));
        }
        let other = reading.entries.iter().find(|it| it.record != steered(it.seq));
        wrong.extend(other.map(|it| format!("record {} is another one", it.seq)));
        let backwards = reading.entries.windows(2).find(|it| it[0].epoch > it[1].epoch);
        wrong.extend(backwards.map(|it| format!("epoch {} after {}", it[1].epoch, it[0].epoch)));
        wrong
    }

    fn lost_yeses(&self, folder: &Path) -> Vec<String> {
        let state = match StateDir::at(&state_in(folder)) {
            Ok(state) => state,
            Err(error) => return vec![error.to_string()],
        };
        let store = TrustStore::open(&state);
        let items: Vec<_> = (1..=self.yeses).map(item).collect();
        let unknown = store.untrusted_items(Path::new(ROOT), &items);
        let problem = store.load_error().map(ToString::to_string);
        problem.into_iter().chain(unknown.into_iter().map(|it| format!("{:?} is lost", it.runs))).collect()
    }
}
