//! Tails a journal and folds it into a `LoopState`. Read-only.

use std::path::{Path, PathBuf};

use loopkeeper_core::decide::{self, LoopState};
use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::JournalTail;

use loopkeeper_system::journal_file::JournalError;
use loopkeeper_system::journal_file::follow::{Follower, UpdateBase};

/// One loop's journal, followed from its first record.
#[derive(Debug)]
pub struct LoopTailer {
    follower: Follower,
    state: Option<LoopState>,
    told: u64,
    /// The damage of the journal, with its line.
    damage: Option<String>,
    journal: PathBuf,
}

impl LoopTailer {
    pub fn new(journal: &Path) -> Self {
        let follower = Follower::new(journal);
        Self { follower, state: None, told: 0, damage: None, journal: journal.to_owned() }
    }

    /// The records since the last poll, already applied to [`LoopTailer::state`].
    pub fn poll(&mut self) -> Result<Vec<Entry>, JournalError> {
        let news = self.follower.poll()?;
        if news.since == UpdateBase::TheStart {
            self.state = None;
        }
        // After damage every poll starts over: its line numbers are those of the file.
        self.damage = match news.tail {
            JournalTail::Damaged { line, why } => {
                Some(JournalError::Damaged { path: self.journal.clone(), line, why }.to_string())
            }
            JournalTail::Clean | JournalTail::Torn { .. } => None,
        };
        for entry in &news.entries {
            match &mut self.state {
                None => self.state = decide::state_from_first(entry),
                Some(state) => decide::apply(state, entry),
            }
        }
        let fresh: Vec<_> = news.entries.into_iter().filter(|it| it.seq > self.told).collect();
        self.told = fresh.last().map_or(self.told, |it| it.seq);
        Ok(fresh)
    }

    /// `None` until the first record exists.
    pub fn state(&self) -> Option<&LoopState> {
        self.state.as_ref()
    }

    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }
}
