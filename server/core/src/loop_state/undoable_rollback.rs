//! The last rollback, with what its undo needs.

use serde::{Deserialize, Serialize};

use super::checkpoint::LoopMemory;

/// The last rollback on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoableRollback {
    /// The number of its record, or of the snapshot before it if the rollback was interrupted.
    pub seq: u64,
    /// The snapshot taken right before it.
    pub from: String,
    /// The tree that it left; `None`: it was cut off, some files may have changed.
    pub after: Option<String>,
    /// Only these; empty: everything.
    pub paths: Vec<String>,
    /// It was an undo itself: undoing it is a redo.
    pub is_undo: bool,
    /// The files stood as after this iteration before it …
    pub position_before: u32,
    /// … and after it.
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
