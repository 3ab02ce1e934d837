//! State that only the running keeper has: requested work without an answer yet, and observations of the agent. Lost
//! with the keeper, and never read by a decision that ends, charges or trips.

use std::collections::BTreeMap;

use crate::journal::PinnedCriterion;
use crate::jury::JudgeUsage;
use loopkeeper_agent::AgentEnding;
use loopkeeper_text::moment::Moment;

use super::{SnapshotFacts, TaskDocuments};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct VolatileState {
    pub agent: AgentWatch,
    pub after_agent: AgentResult,
    pub work: BoundaryWork,
    pub discarded: DiscardedRounds,
    /// Documents that the user saved since the last iteration ended, with the checksums of their saved texts.
    pub saved: BTreeMap<String, String>,
    /// The tree had changed since the last round, and was judged again for the coming iteration.
    pub judged_again: bool,
    /// Number of final verdicts and runs of mutants since the last iteration during which files changed.
    pub disturbances: u32,
    pub regression: RegressionReview,
}

/// Observations of the agent, and requests to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentWatch {
    /// When a check last found output, CPU use or a file change.
    pub last_activity: Moment,
    /// When activity was last checked, or that was requested.
    pub last_activity_check: Moment,
    /// Why it was asked to exit.
    pub ending: Option<AgentEnding>,
    /// It is held, and was asked to exit.
    pub release_requested: bool,
}

/// The result of the present iteration, before it is judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentResult {
    /// Its changes, artefacts included.
    pub snapshot: SnapshotFacts,
    pub documents: Option<Box<TaskDocuments>>,
}

/// Rounds of the present check phase that were discarded, since files changed during them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiscardedRounds {
    pub count: u32,
    /// The usage of judges in them.
    pub judging: JudgeUsage,
}

/// The work between two iterations. Its parts are independent: the user can start checks or a rollback of a paused
/// loop whose preparation or commit is still under way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundaryWork {
    pub preparation: Preparation,
    pub tree: TreeWork,
    /// The commit of the last iteration is being made. It leaves the files as they are.
    pub is_committing: bool,
}

/// The step of the next iteration's preparation that is under way.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Preparation {
    #[default]
    Idle,
    /// The snapshot before the iteration is being taken.
    Snapshot,
    /// Criteria that the user changed are judged for the first time, or those of a changed plan.
    Pinning(Box<ChangedTask>),
    /// The call slot is being requested; the documents are those of the iteration.
    CallSlot(Box<TaskDocuments>),
}

/// The criteria of a task that the user changed, and the documents that contain the change.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedTask {
    pub pinned: Vec<PinnedCriterion>,
    pub documents: TaskDocuments,
}

/// Work that needs the files to itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TreeWork {
    #[default]
    Idle,
    /// Checks, a final verdict or mutants; their answer continues the loop.
    Checks,
    /// Files are being restored: nothing is decided until they are.
    Rollback(RollbackCause),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollbackCause {
    /// The user ordered it.
    Order,
    /// The user ordered to undo the rollback of this `seq`.
    Undo { seq: u64 },
    /// The last iteration broke what held.
    Regression { reason: String },
}

/// The decision about a regression, with the number of its iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegressionReview {
    #[default]
    None,
    /// It is judged once more: a check that fails only sometimes is no reason to roll back work.
    JudgedTwice(u32),
    /// It is not rolled back, since the user changed files after it.
    Kept(u32),
}

impl RollbackCause {
    pub(crate) fn undone_seq(&self) -> Option<u64> {
        match self {
            Self::Undo { seq } => Some(*seq),
            Self::Order | Self::Regression { .. } => None,
        }
    }
}

impl BoundaryWork {
    pub fn is_checking(&self) -> bool {
        self.tree == TreeWork::Checks
    }

    pub fn rollback(&self) -> Option<&RollbackCause> {
        match &self.tree {
            TreeWork::Rollback(cause) => Some(cause),
            TreeWork::Idle | TreeWork::Checks => None,
        }
    }

    /// Checks read the files, for the loop as it is or for criteria that the user changed.
    pub(crate) fn is_judging(&self) -> bool {
        self.is_checking() || self.is_pinning()
    }

    pub(crate) fn is_pinning(&self) -> bool {
        matches!(self.preparation, Preparation::Pinning(_))
    }

    pub(crate) fn is_asking(&self) -> bool {
        matches!(self.preparation, Preparation::CallSlot(_))
    }

    /// Returns whether they were running.
    pub(crate) fn end_checks(&mut self) -> bool {
        let was_checking = self.is_checking();
        if was_checking {
            self.tree = TreeWork::Idle;
        }
        was_checking
    }

    pub(crate) fn end_rollback(&mut self) -> Option<RollbackCause> {
        match std::mem::take(&mut self.tree) {
            TreeWork::Rollback(cause) => Some(cause),
            other => {
                self.tree = other;
                None
            }
        }
    }

    pub(crate) fn end_snapshot(&mut self) {
        if self.preparation == Preparation::Snapshot {
            self.preparation = Preparation::Idle;
        }
    }

    /// All criteria of the round that judges the user's changes for the first time.
    pub(crate) fn pinning(&self) -> Option<&[PinnedCriterion]> {
        match &self.preparation {
            Preparation::Pinning(changed) => Some(&changed.pinned),
            Preparation::Idle | Preparation::Snapshot | Preparation::CallSlot(_) => None,
        }
    }

    pub(crate) fn end_pinning(&mut self) -> Option<Box<ChangedTask>> {
        match std::mem::take(&mut self.preparation) {
            Preparation::Pinning(changed) => Some(changed),
            other => {
                self.preparation = other;
                None
            }
        }
    }

    pub(crate) fn end_asking(&mut self) -> Option<Box<TaskDocuments>> {
        match std::mem::take(&mut self.preparation) {
            Preparation::CallSlot(documents) => Some(documents),
            other => {
                self.preparation = other;
                None
            }
        }
    }

    /// Whether a request is pending whose answer continues the loop.
    pub(crate) fn is_pending(&self) -> bool {
        self.is_checking() || self.preparation != Preparation::Idle || self.is_committing
    }
}
