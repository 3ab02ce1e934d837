//! Tails a journal and folds it into a `LoopState`. Read-only.

use std::path::{Path, PathBuf};

use loopkeeper_core::decide::{self, LoopState};
use loopkeeper_core::journal::Entry;
use loopkeeper_core::journal::reading::JournalTail;

use loopkeeper_keeper::launch;
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
        let update = self.follower.poll()?;
        if update.since == UpdateBase::TheStart {
            self.state = None;
        }
        // After damage every poll starts over: its line numbers are those of the file.
        self.damage = match update.tail {
            JournalTail::Damaged { line, why } => {
                Some(JournalError::Damaged { path: self.journal.clone(), line, why }.to_string())
            }
            JournalTail::Clean | JournalTail::Torn { .. } => None,
        };
        for entry in &update.entries {
            match &mut self.state {
                None => self.state = decide::state_from_first(entry),
                Some(state) => decide::apply(state, entry),
            }
        }
        if self.state.is_none() && self.damage.is_some() {
            let ordered = self.journal.parent().and_then(launch::ordered_start);
            self.state = ordered.as_ref().and_then(decide::state_from_first);
        }
        let fresh: Vec<_> = update.entries.into_iter().filter(|it| it.seq > self.told).collect();
        self.told = fresh.last().map_or(self.told, |it| it.seq);
        Ok(fresh)
    }

    /// `None` until the first record exists. If that is damaged, the state is that of the loop as it was ordered.
    pub fn state(&self) -> Option<&LoopState> {
        self.state.as_ref()
    }

    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }
}
