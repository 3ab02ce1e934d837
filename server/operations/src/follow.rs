//! Tails a journal and folds it into a `LoopState`. Read-only.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::decide::{self, LoopState};
use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::JournalTail;

use loopkeeper_keeper::launch;
use loopkeeper_system::journal_file::JournalError;
use loopkeeper_system::journal_file::follow::{EntrySink, Follower};
use loopkeeper_text::message::{HintedError as _, Message};

/// One loop's journal, followed from its first record.
#[derive(Debug)]
pub struct LoopTailer {
    follower: Follower,
    folded: FoldedLoop,
    /// The damage of the journal, with its line.
    damage: Option<Message>,
    journal: PathBuf,
}

/// What was read of a journal so far.
#[derive(Debug, Default)]
struct FoldedLoop {
    /// Shared with readers; copied when a record arrives while one of them holds it.
    state: Option<Arc<LoopState>>,
    /// The last record that a caller received.
    last_reported: u64,
}

/// Folds the records and passes on those that are new to the caller.
struct FoldingSink<'a, F> {
    folded: &'a mut FoldedLoop,
    each: F,
}

impl<F: FnMut(Entry)> EntrySink for FoldingSink<'_, F> {
    fn start_over(&mut self) {
        self.folded.state = None;
    }

    fn take(&mut self, entry: Entry) {
        match &mut self.folded.state {
            None => self.folded.state = decide::state_from_first(&entry).map(Arc::new),
            Some(state) => decide::apply(Arc::make_mut(state), &entry),
        }
        if entry.seq > self.folded.last_reported {
            self.folded.last_reported = entry.seq;
            (self.each)(entry);
        }
    }
}

impl LoopTailer {
    pub fn new(journal: &Path) -> Self {
        let (follower, folded) = (Follower::new(journal), FoldedLoop::default());
        Self { follower, folded, damage: None, journal: journal.to_owned() }
    }

    /// Follows from the state that the keeper stored last, if there is one: the records before it are not passed on.
    pub fn from_saved_state(journal: &Path) -> Self {
        let Some((follower, state)) = Follower::from_saved_state(journal) else { return Self::new(journal) };
        let folded = FoldedLoop { last_reported: state.position.seq, state: Some(Arc::new(state)) };
        Self { follower, folded, damage: None, journal: journal.to_owned() }
    }

    /// The records since the last poll, already applied to [`LoopTailer::state`]. Of a long loop the first poll returns
    /// very many: callers that do not need them use [`LoopTailer::advance`].
    pub fn poll(&mut self) -> Result<Vec<Entry>, JournalError> {
        let mut entries = Vec::new();
        self.poll_each(|entry| entries.push(entry))?;
        Ok(entries)
    }

    /// Applies the records since the last poll; returns whether there were any.
    pub fn advance(&mut self) -> Result<bool, JournalError> {
        let mut has_news = false;
        self.poll_each(|_| has_news = true)?;
        Ok(has_news)
    }

    /// Passes on the records since the last poll, one after the other.
    pub fn poll_each(&mut self, each: impl FnMut(Entry)) -> Result<(), JournalError> {
        let tail = self.follower.poll_into(&mut FoldingSink { folded: &mut self.folded, each })?;
        // After damage every poll starts over: its line numbers are those of the file.
        self.damage = match tail {
            JournalTail::Damaged { line, why } => {
                Some(JournalError::Damaged { path: self.journal.clone(), line, why }.to_message())
            }
            JournalTail::Clean | JournalTail::Torn { .. } => None,
        };
        if self.folded.state.is_none() && self.damage.is_some() {
            let requested = self.journal.parent().and_then(launch::requested_start);
            self.folded.state = requested.as_ref().and_then(decide::state_from_first).map(Arc::new);
        }
        Ok(())
    }

    /// `None` until the first record exists. If that is damaged, the state is that of the loop as it was requested.
    pub fn state(&self) -> Option<&LoopState> {
        self.folded.state.as_deref()
    }

    /// The same, which can be kept while further records are read.
    pub fn shared_state(&self) -> Option<Arc<LoopState>> {
        self.folded.state.clone()
    }

    /// The same, if no further records are read.
    pub fn into_state(self) -> Option<LoopState> {
        self.folded.state.map(Arc::unwrap_or_clone)
    }

    /// The damage, with its remedy.
    pub fn damage(&self) -> Option<&Message> {
        self.damage.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use loopkeeper_core::decide;
    use loopkeeper_system::journal_file::JournalFile;

    use super::LoopTailer;

    const JOURNAL: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/journals/stopped-and-rolled-back.jsonl");

    fn check(path: &Path, expect_passed: usize) {
        let (mut whole, mut quick) = (LoopTailer::new(path), LoopTailer::from_saved_state(path));
        whole.advance().unwrap();
        assert_eq!(quick.poll().unwrap().len(), expect_passed);
        assert_eq!((quick.state(), quick.damage()), (whole.state(), whole.damage()));
    }

    #[test]
    fn a_loop_followed_from_its_saved_state_reads_as_from_the_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let text = fs::read_to_string(JOURNAL).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        fs::write(&path, lines[..12].concat()).unwrap();
        let opened = JournalFile::open(&path).unwrap();
        opened.journal.save_state(&decide::replay(&opened.entries).unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
        check(&path, lines.len() - 12);
        // Damage before and after the saved state is found, and none of what follows it is read.
        for line in [5, 15] {
            fs::write(&path, text.replacen(lines[line], &lines[line].replacen("\"up\":", "\"up\":1", 1), 1))
                .unwrap();
            let passed = if line < 12 { line } else { line - 12 };
            check(&path, passed);
        }
    }
}
