//! What is shown of a loop, as plain data that every view and `status --json` share. Pure; sentences that
//! several views share are in [`sentences`], one line per loop in [`mod@headline`], a notification in [`mod@notice`], what editors show in [`editor`]. Nothing here decides.

mod budget;
mod criteria;
pub mod doctor;
pub mod editor;
mod effect;
mod headline;
pub mod hook_payload;
mod notice;
pub mod probe;
pub mod sentences;
mod spawns;
mod status;

use serde::{Deserialize, Serialize};

pub use self::budget::budget;
pub use self::criteria::{CriteriaStatus, CriterionStatus, SourceRange, criteria, criteria_without_loop};
pub use self::effect::{LateOrder, effect};
pub use self::headline::headline;
pub use self::notice::notice;
pub use self::spawns::{SpawnStatus, SubagentState, SubagentStatus};
pub use self::status::{StatusFacts, file_uri, status};
pub use loopkeeper_core::journal::BreakerCounts;
use loopkeeper_core::journal::{BreakerState, Outcome, PauseReason, QuestionKind, WaitReason};
use loopkeeper_core::settings::preset::PresetSelection;

/// One loop as views see it. Field names are contract; readers ignore what they do not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopStatus {
    pub id: String,
    /// Of the last record that is part of this.
    pub seq: u64,
    pub task: TaskStatus,
    pub agent: String,
    pub state: DisplayState,
    pub phase: DisplayPhase,
    pub iteration: u32,
    pub limits: LimitsStatus,
    pub criteria: CriteriaStatus,
    /// Modules or other parts that criteria name, in the order of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupStatus>,
    pub plan: PlanStatus,
    pub breaker: BreakerStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionStatus>,
    /// Subagents.
    #[serde(default)]
    pub spawns: SpawnStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<WaitStatus>,
    /// What it wants to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionStatus>,
    /// Why it rests, or will after the running iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseStatus>,
    pub spent: UsageStatus,
    pub started_at: String,
    pub paused_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// Files were rolled back since the checks ran: results and outcome are of files that are gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Limits of which little is left, and what else holds it up or may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Which limit would end it at its present pace, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The branch that it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Where HEAD is instead, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
    /// What the agent made easier and nobody put back or accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<WeakenedStatus>,
    pub keeper: KeeperStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// A file URI, or the id of a task without a file.
    pub uri: String,
    pub title: String,
}

/// What most views show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DisplayState {
    Working,
    NeedsYou,
    Paused,
    Done,
    Idle,
}

/// What lies behind the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DisplayPhase {
    Baseline,
    Iterating,
    Checking,
    Waiting,
    Stopping,
    Untrusted,
    NeedsAnswer,
    Interrupted,
    Damaged,
    Paused,
    Ended,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsStatus {
    pub iterations: u32,
    pub duration_ms: u64,
    pub cost_micros: u64,
    /// Absent where tokens end nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Of all loops of this user.
    #[serde(default)]
    pub calls_per_hour: u32,
}

/// The required criteria with a check that carry one `(group …)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupStatus {
    pub name: String,
    pub state: GroupState,
    pub passed: u64,
    pub total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GroupState {
    /// By `exit.groups`: all of it, or most.
    Holds,
    Open,
}

impl LoopStatus {
    /// Its breaker is open, and lets one iteration through by itself at the end of its wait.
    pub fn is_cooling(&self) -> bool {
        self.phase == DisplayPhase::Waiting
            && self.wait.as_ref().is_some_and(|it| it.reason == WaitReason::Breaker)
    }

    /// `parser 2 of 3, docs holds`; `None` where there is no group.
    pub fn groups_said(&self) -> Option<String> {
        let one = |it: &GroupStatus| match it.state {
            GroupState::Holds => format!("{} holds", it.name),
            GroupState::Open => format!("{} {} of {}", it.name, it.passed, it.total),
        };
        let all: Vec<String> = self.groups.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// The agent's own account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanStatus {
    pub done: u64,
    /// Blocking and not done.
    pub open: u64,
    pub total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakerStatus {
    pub state: BreakerState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub counts: BreakerCounts,
    /// Of an open one that tries again by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes_at: Option<String>,
    pub trips: u32,
    /// Where its numbers and those of `[exit]` come from. Absent for loops of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetSelection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    pub id: String,
    pub started_at: String,
    pub resets: u32,
    /// Its user opened it, and lends it to the loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitStatus {
    pub reason: WaitReason,
    pub resumes_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionStatus {
    pub id: String,
    pub kind: QuestionKind,
    pub text: String,
    /// What happens when nobody answers happens then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseStatus {
    pub reason: PauseReason,
    pub message: String,
}

/// One thing that is easier than it was at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WeakenedStatus {
    /// Relative to the root. Absent where a check runs fewer tests and no file says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `tests/test_sum.py lost 2 tests`
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageStatus {
    /// Absent where the agent reports no cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Starts of the agent.
    pub calls: u32,
    /// Of all loops of this user, in the hour up to the last start of this one.
    #[serde(default)]
    pub calls_this_hour: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeeperStatus {
    /// Absent when it is not alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    pub alive: bool,
}
