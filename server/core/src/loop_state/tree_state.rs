//! The recorded state of the files: their snapshots, and the snapshot that was judged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::SnapshotList;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TreeState {
    /// Paths that the baseline round wrote: no work of the agent's.
    pub artefacts: BTreeSet<String>,
    pub untracked: Vec<String>,
    pub snapshots: SnapshotList,
    /// The tree of the last round.
    pub judged: String,
    /// Files were put back or changed since: the results are of files that no longer exist.
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
