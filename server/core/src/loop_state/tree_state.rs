//! The recorded state of the files: their snapshots, and the snapshot that was judged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::SnapshotList;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TreeState {
    /// Paths that the baseline round wrote: they do not count as work of the agent.
    pub artefacts: BTreeSet<String>,
    pub untracked: Vec<String>,
    pub snapshots: SnapshotList,
    /// The tree of the last round.
    pub judged: String,
    /// Files were restored or changed since, so the results do not describe the current tree.
    pub is_unjudged: bool,
    /// The last round ran while the agent was still alive, so it cannot complete the loop.
    pub judged_beside_agent: bool,
    /// The tree as it was last seen: by a snapshot, a round of checks, or after a rollback.
    pub last: String,
}

impl TreeState {
    /// A round is on record: its results are those of the files as it left them.
    pub(crate) fn record_round(&mut self, after: &str) {
        after.clone_into(&mut self.judged);
        after.clone_into(&mut self.last);
        self.is_unjudged = false;
    }
}
