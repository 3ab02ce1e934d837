//! The last final verdict.

use std::collections::BTreeMap;

use loopkeeper_task::criterion::{Check, Criterion, CriterionId};
use serde::{Deserialize, Serialize};

/// The last final verdict in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeVerdict {
    /// The tree that was judged.
    pub tree: String,
    /// Everything passed, with the judges of the start too, or no clean room was available.
    pub holds: bool,
    /// The basis of the proof, as the end of the loop's sentence; may be empty.
    pub basis: String,
    /// The judges of the start cannot run on the tree, or something could not be judged: the outcome is claimed.
    pub unproven: bool,
    /// The iteration after which a check failed on the tree as the agent left it. It is judged again after the next one,
    /// since the check may be flaky.
    pub failed_after: Option<u32>,
    /// The criteria that passed in a clean room, with their milliseconds.
    pub passed: BTreeMap<CriterionId, u64>,
}

impl TreeVerdict {
    /// Whether the verdict failed because of this criterion. Until the next verdict, its pass in the work tree is no
    /// evidence.
    pub fn refutes(&self, criterion: &Criterion) -> bool {
        self.failed_after.is_some()
            && !self.passed.contains_key(&criterion.id)
            && runs_in_clean_room(criterion)
    }
}

/// Whether a clean room can judge the criterion: the others read the work tree, or ask an agent.
pub fn runs_in_clean_room(criterion: &Criterion) -> bool {
    matches!(criterion.check, Some(Check::Command { .. } | Check::Get { .. }))
}
