//! Checks that cannot run because the machine lacks something.

use std::collections::{BTreeMap, BTreeSet};

use loopkeeper_task::criterion::CriterionId;
use serde::{Deserialize, Serialize};

/// Unrunnable checks derived from the rounds of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnrunnableChecks {
    /// Number of rounds in a row that could not run the check of a criterion.
    pub(crate) rounds: BTreeMap<CriterionId, u32>,
    /// Criteria without which the user continues.
    pub(crate) waived: BTreeSet<CriterionId>,
}
