//! The breaker in records: its states, why it changed, and the evidence for an opening.

use serde::{Deserialize, Serialize};

use super::ChangeStats;
use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_task::criterion::CriterionId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakerState {
    #[default]
    Closed,
    Open,
    HalfOpen,
}

/// Why the breaker changed: one of its counts, or the reason for a trial or a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakerCause {
    NoProgress,
    SameError,
    OutputDecline,
    PermissionDenials,
    Oscillation,
    FastFailures,
    /// The trial iteration made no progress.
    TrialFailed,
    /// The trial iteration made progress.
    TrialPassed,
    /// The cooldown is over.
    Cooldown,
    User,
}

/// How far each cause is from opening the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BreakerCounts {
    pub no_progress: u32,
    pub same_error: u32,
    pub output_decline: u32,
    pub permission_denials: u32,
    pub oscillation: u32,
    pub fast_failures: u32,
}

/// The evidence for an opening of the breaker.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TripEvidence {
    pub counts: BreakerCounts,
    /// The last distinct errors in the iterations that count for its cause, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorOccurrence>,
    /// The required criteria that did not pass, and how they failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<FailingCriterion>,
    /// What the last of these iterations changed, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<IterationChanges>,
    /// Trees that occurred again, and the iterations that produced them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<RecurringTree>,
    /// Whether the agent's session was discarded too.
    pub session_reset: bool,
}

/// An error and the last iteration that it was seen in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorOccurrence {
    pub iteration: u32,
    pub fingerprint: Fingerprint,
    pub text: String,
}

/// A criterion that did not pass. `fingerprint`: stays equal as long as it fails in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailingCriterion {
    pub criterion: CriterionId,
    pub name: String,
    pub fingerprint: Fingerprint,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fact: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IterationChanges {
    pub iteration: u32,
    pub changes: ChangeStats,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecurringTree {
    pub tree: String,
    pub iterations: Vec<u32>,
}
