//! Checks that cannot run since the machine lacks something.

use std::collections::{BTreeMap, BTreeSet};

use loopkeeper_task::criterion::CriterionId;
use serde::{Deserialize, Serialize};

/// What the rounds of a loop say about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnrunnableChecks {
    /// Rounds in a row that could not run a criterion's check.
    pub(crate) rounds: BTreeMap<CriterionId, u32>,
    /// The user continues without these.
    pub(crate) waived: BTreeSet<CriterionId>,
}
