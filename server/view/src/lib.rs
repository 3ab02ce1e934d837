//! The data model of everything that views and `status --json` show of a loop. Pure and without decisions. Sentences
//! shared by several views are in [`sentences`], the line per loop in [`mod@headline`], notifications in
//! [`mod@notice`], editor views in [`editor`].

mod alerts;
mod budget;
mod cells;
mod criteria;
pub mod criterion_names;
pub mod dashboard;
pub mod doctor;
pub mod editor;
mod effect;
mod headline;
pub mod hook_payload;
pub mod insight;
mod loop_details;
mod notice;
mod page;
pub mod probe;
pub mod receipt;
pub mod report;
pub mod sentences;
#[cfg(test)]
mod simplified_chinese;
mod spawns;
pub mod start_preview;
mod status;
pub mod transcript;

use serde::{Deserialize, Serialize};

pub use self::alerts::{AlertTracker, LoopAlert, RootHistory, needs_user};
pub use self::budget::budget;
pub use self::criteria::{CriteriaStatus, CriterionStatus, SourceRange, criteria, criteria_without_loop};
pub use self::effect::{DeferredCommand, effect};
pub use self::headline::headline;
pub use self::loop_details::loop_details;
pub use self::notice::{notice, warning_notice};
pub use self::spawns::{SpawnStatus, SubagentState, SubagentStatus};
pub use self::status::{StatusFacts, file_uri, status};
pub use loopkeeper_core::journal::BreakerCounts;
use loopkeeper_core::journal::{BreakerState, Outcome, PauseReason, QuestionKind, WaitReason};
use loopkeeper_core::settings::preset::PresetSelection;
use loopkeeper_text::clauses;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

/// One loop as views show it. Field names are contract; readers ignore unknown fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopStatus {
    pub id: String,
    /// Sequence number of the last record included here.
    pub seq: u64,
    pub task: TaskStatus,
    pub agent: String,
    pub state: DisplayState,
    pub phase: DisplayPhase,
    pub iteration: u32,
    pub limits: LimitsStatus,
    pub criteria: CriteriaStatus,
    /// Modules or other parts named by criteria, ordered by name.
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
    /// The open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionStatus>,
    /// Why it is paused, or will be after the running iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseStatus>,
    pub spent: UsageStatus,
    pub started_at: String,
    pub paused_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// Files changed since the checks ran, so results and outcome refer to files that no longer exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Why it is stale; absent in the status of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_reason: Option<StaleReason>,
    /// Early warnings, such as limits that are almost reached, and other problems that block the loop or may do so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The limit that would end the loop at its current rate, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<String>,
    /// Changed sources that the task does not mention; absent where the task names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The branch that the loop works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// A sentence with the current HEAD, if it is not on that branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
    /// Weakenings that are neither restored nor accepted.
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

/// The sources that the last iteration with changed sources changed, compared with the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DriftStatus {
    pub iteration: u32,
    /// Those that the task does not mention.
    pub off: u64,
    pub total: u64,
    /// The first three of `off`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Iterations in a row without a mentioned source, from three on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streak: Option<u32>,
}

/// The state shown by most views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DisplayState {
    Working,
    NeedsYou,
    Paused,
    Done,
    Idle,
}

/// The detailed state.
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

/// Why results are older than the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StaleReason {
    RolledBack,
    /// Anything else that changed files outside of an iteration.
    FilesChanged,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsStatus {
    pub iterations: u32,
    pub duration_ms: u64,
    pub cost_micros: u64,
    /// Absent if tokens are not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Limit of all loops of this user together.
    #[serde(default)]
    pub calls_per_hour: u32,
}

/// The required criteria with a check and one common `(group …)`.
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
    /// As set by `exit.groups`: all criteria pass, or most.
    Holds,
    Open,
}

impl LoopStatus {
    /// Whether its breaker is open and will admit one iteration automatically after the cooldown.
    pub fn is_cooling(&self) -> bool {
        self.phase == DisplayPhase::Waiting
            && self.wait.as_ref().is_some_and(|it| it.reason == WaitReason::Breaker)
    }

    /// `parser 2 of 3, docs holds`; `None` if there are no groups.
    pub fn groups_summary(&self) -> Option<String> {
        let one = |it: &GroupStatus| match it.state {
            GroupState::Holds => tr!("{name} holds", name = it.name),
            GroupState::Open => {
                tr!("{name} {passed} of {total}", name = it.name, passed = it.passed, total = it.total)
            }
        };
        let all: Vec<String> = self.groups.iter().map(one).collect();
        (!all.is_empty()).then(|| clauses::list(&all))
    }
}

/// The plan as ticked by the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanStatus {
    pub done: u64,
    /// Items that block completion and are not done.
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
    /// When an open breaker admits its trial iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes_at: Option<String>,
    pub trips: u32,
    /// Source of its thresholds and those of `[exit]`. Absent for loops of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetSelection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    pub id: String,
    pub started_at: String,
    pub resets: u32,
    /// Whether it is an attached session, which the user opened.
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
    /// When the default for unanswered questions takes effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseStatus {
    pub reason: PauseReason,
    pub message: Message,
}

/// A test, check or protected file that is weaker than at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WeakenedStatus {
    /// Path relative to the root. Absent if a check runs fewer tests and no file explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `tests/test_sum.py lost 2 tests`
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageStatus {
    /// Absent if the agent reports no cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Number of agent starts.
    pub calls: u32,
    /// Calls of all loops of this user in the hour before the last start of this loop.
    #[serde(default)]
    pub calls_this_hour: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeeperStatus {
    /// Absent if the keeper is not running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    pub alive: bool,
    /// Alive, but its process is stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}
