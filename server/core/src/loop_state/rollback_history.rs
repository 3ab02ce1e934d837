//! The last rollback, and the state that rollbacks restore.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::UndoableRollback;
use super::checkpoint_list::CheckpointList;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RollbackHistory {
    pub last: Option<UndoableRollback>,
    /// Numbers of the iterations that are marked as rolled back, so that a long history need not be searched.
    #[serde(rename = "taken_back")]
    pub(crate) rolled_back: BTreeSet<u32>,
    pub(crate) checkpoints: CheckpointList,
}
