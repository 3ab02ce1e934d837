//! The state of the user's repository, as far as it is recorded.

use crate::journal::GitHead;
use serde::{Deserialize, Serialize};

use super::{BranchTracking, UncommittedWork};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitState {
    /// The loop's own branch is checked out, or it has none.
    pub has_branch: bool,
    pub branch: BranchTracking,
    pub uncommitted: UncommittedWork,
    /// HEAD before the present iteration.
    pub head_before: Option<GitHead>,
}
