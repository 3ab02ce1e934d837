//! Checks that passed and failed on the same files.

use std::collections::BTreeMap;

use loopkeeper_task::criterion::CriterionId;
use serde::{Deserialize, Serialize};

/// Flakiness derived from the rounds of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlakyState {
    /// How often the result of each check changed on an unchanged tree.
    pub flips: BTreeMap<CriterionId, u32>,
    /// Number of rounds in a row, on one tree, in which all required checks passed.
    pub passes: u32,
}
