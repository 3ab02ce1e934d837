//! The facts that a rollback, and its undo, restore.

use std::collections::BTreeMap;

use super::{Checkpoint, UndoableRollback};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RollbackHistory {
    pub last: Option<UndoableRollback>,
    /// The loop after each iteration.
    pub(crate) checkpoints: BTreeMap<u32, Checkpoint>,
}
