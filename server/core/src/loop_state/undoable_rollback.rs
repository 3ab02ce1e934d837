//! The last rollback, with the data for its undo.

use serde::{Deserialize, Serialize};

use super::checkpoint::LoopMemory;

/// The last rollback on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoableRollback {
    /// The number of its record, or of the snapshot before it if the rollback was interrupted.
    pub seq: u64,
    /// The snapshot taken right before it.
    pub from: String,
    /// The tree after it; `None`: it was interrupted, and some files may have changed.
    pub after: Option<String>,
    /// The restored paths; empty: all files.
    pub paths: Vec<String>,
    /// It was an undo itself: undoing it is a redo.
    pub is_undo: bool,
    /// The iteration whose end the files matched before it.
    pub position_before: u32,
    /// The iteration whose end they match after it.
    pub(crate) position: u32,
    /// The last iteration that was started.
    pub(crate) iteration: u32,
    pub(crate) memory: LoopMemory,
}

impl UndoableRollback {
    /// No iteration was started since.
    pub(crate) fn is_after(&self, iteration: u32) -> bool {
        self.iteration == iteration
    }
}
