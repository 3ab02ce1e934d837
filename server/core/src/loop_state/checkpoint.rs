//! The counters and plan items that a rollback, and its undo, restore.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The state at the end of one iteration; of iteration 0 the state at the start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    pub(crate) claims: u32,
    pub(crate) turned: bool,
    /// Plan items done.
    pub(crate) done: BTreeSet<String>,
}

/// State that a rollback discards, kept for an undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoopMemory {
    pub(crate) mark: Checkpoint,
    pub(crate) rollbacks: u32,
    #[serde(rename = "taken_back")]
    pub(crate) rolled_back: BTreeSet<u32>,
    /// The criteria that the last iteration broke, in words, if the loop rolled it back.
    pub(crate) broke: Option<String>,
    pub(crate) is_unjudged: bool,
}
