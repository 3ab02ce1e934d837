//! Problems outside the work itself, each reported to the user once.

use std::collections::{BTreeMap, BTreeSet};

use crate::journal::LimitName;
use crate::settings::LoopEvent;
use serde::{Deserialize, Serialize};

use super::CommandAttempts;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReportedProblems {
    /// Limits that an iteration reported as nearly reached.
    pub limits: BTreeSet<LimitName>,
    /// Why the calls of other loops were not counted at the last start.
    pub calls_note: Option<String>,
    /// Commands of `[on]` that failed since the user last resumed the loop, and how.
    pub hooks_failed: BTreeMap<LoopEvent, String>,
    /// Commands from processes that do not belong to the user.
    pub attempts: CommandAttempts,
}
