//! The commands: their names, arguments and results.

use loopkeeper_core::journal::StopVerdict;
use loopkeeper_task::work_product::WorkProduct;
use serde::{Deserialize, Serialize};

use super::StatusParams;

pub(crate) const START: &str = "loopkeeper.server.start";
pub(crate) const STOP: &str = "loopkeeper.server.stop";
pub(crate) const PAUSE: &str = "loopkeeper.server.pause";
pub(crate) const RESUME: &str = "loopkeeper.server.resume";
pub(crate) const CHECK: &str = "loopkeeper.server.check";
pub(crate) const CANCEL_CHECKS: &str = "loopkeeper.server.cancelChecks";
pub(crate) const OUTPUT: &str = "loopkeeper.server.output";
pub(crate) const RESET_BREAKER: &str = "loopkeeper.server.resetBreaker";
pub(crate) const RESET_SESSION: &str = "loopkeeper.server.resetSession";
pub(crate) const ACCEPT_WEAKENING: &str = "loopkeeper.server.acceptWeakening";
pub(crate) const STEER: &str = "loopkeeper.server.steer";
pub(crate) const ANSWER: &str = "loopkeeper.server.answer";
pub(crate) const ROLLBACK: &str = "loopkeeper.server.rollback";
pub(crate) const UNDO_ROLLBACK: &str = "loopkeeper.server.undoRollback";
pub(crate) const DIFF: &str = "loopkeeper.server.diff";
pub(crate) const REPORT: &str = "loopkeeper.server.report";
pub(crate) const RECEIPT: &str = "loopkeeper.server.receipt";
pub(crate) const FEEDBACK: &str = "loopkeeper.server.feedback";
pub(crate) const SKIP: &str = "loopkeeper.server.skip";
pub(crate) const PRIORITIZE: &str = "loopkeeper.server.prioritize";
pub(crate) const EXPORT: &str = "loopkeeper.server.export";
pub(crate) const TRUST: &str = "loopkeeper.server.trust";
pub(crate) const UNTRUST: &str = "loopkeeper.server.untrust";
pub(crate) const IMPORT: &str = "loopkeeper.server.import";
pub(crate) const NEW_TASK: &str = "loopkeeper.server.newTask";

/// Every command, as announced.
pub(crate) const COMMANDS: [&str; 25] = [
    START,
    STOP,
    PAUSE,
    RESUME,
    CHECK,
    CANCEL_CHECKS,
    OUTPUT,
    RESET_BREAKER,
    ACCEPT_WEAKENING,
    RESET_SESSION,
    STEER,
    ANSWER,
    ROLLBACK,
    UNDO_ROLLBACK,
    DIFF,
    RECEIPT,
    REPORT,
    FEEDBACK,
    SKIP,
    PRIORITIZE,
    EXPORT,
    TRUST,
    UNTRUST,
    IMPORT,
    NEW_TASK,
];

/// The state file of another tool's loop, or a text.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportArgs {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The opened folder that the task is for; the first one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewTaskArgs {
    /// The opened folder that the task is for, or one below it.
    pub(crate) folder: String,
    pub(crate) sentence: String,
    /// If absent, the words of the sentence determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<WorkProduct>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartArgs {
    pub(crate) task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) limits: StartLimits,
    #[serde(default)]
    pub(crate) anyway: bool,
    /// An ended loop on this task, whose agent, checks and limits apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) continues: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartLimits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) iterations: Option<u32>,
    /// A duration such as `45m` or `8h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost_usd: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct StopArgs {
    pub(crate) loop_id: String,
    #[serde(default)]
    pub(crate) now: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoopArgs {
    pub(crate) loop_id: String,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResumeArgs {
    pub(crate) loop_id: String,
    /// Whether to leave out the checks that cannot run.
    #[serde(default)]
    pub(crate) anyway: bool,
    /// For an ended loop: the iterations of a new one that continues its task.
    #[serde(default)]
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) more: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct FeedbackArgs {
    pub(crate) loop_id: String,
    pub(crate) verdict: StopVerdict,
    #[serde(default)]
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckArgs {
    pub(crate) task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) criterion: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
pub(crate) struct CancelChecksArgs {
    pub(crate) task: String,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputArgs {
    pub(crate) task: String,
    #[serde(default)]
    pub(crate) criterion: Option<String>,
    #[serde(default)]
    pub(crate) iteration: Option<u32>,
    /// Absent means yes.
    #[serde(default)]
    pub(crate) show: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct SteerArgs {
    pub(crate) loop_id: String,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnswerArgs {
    pub(crate) loop_id: String,
    /// Absent if a client without an input box offers the command; the result then explains how to answer.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// The question that was shown; the answer applies to no other.
    #[serde(default)]
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) question: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct RollbackArgs {
    pub(crate) loop_id: String,
    pub(crate) iteration: u32,
    #[serde(default)]
    pub(crate) paths: Vec<String>,
    /// Only return what would change.
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) preview: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct UndoRollbackArgs {
    pub(crate) loop_id: String,
    /// Only return what would change.
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) preview: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffArgs {
    pub(crate) loop_id: String,
    /// Absent: the whole loop.
    #[serde(default)]
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) iteration: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkipArgs {
    pub(crate) task: String,
    /// Id of the plan item.
    pub(crate) item: String,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrioritizeArgs {
    pub(crate) task: String,
    pub(crate) item: String,
    /// Number of positions to move earlier among the open items; negative: later.
    pub(crate) by: i32,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustArgs {
    pub(crate) task: String,
    /// Hash of the page that was shown. Absent: show the page and ask.
    #[serde(default)]
    pub(crate) hash: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct UntrustArgs {
    pub(crate) task: String,
}

/// The result of every command; each sets the fields that apply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommandResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<StatusParams>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) loop_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) written: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) removed: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<Vec<RefusedPath>>,
    /// Paths that would be written or removed although they changed since the loop's last snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edited: Option<Vec<String>>,
    /// When a command to a loop takes effect, as one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) patch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Vec<ChangedFile>>,
    /// `false` if the change was made in the editor, and the document still has to be saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) saved: Option<bool>,
    /// A task that the client shows, and the user saves at `uri`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefusedPath {
    pub(crate) path: String,
    pub(crate) why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangedFile {
    pub(crate) path: String,
    pub(crate) kind: FileChangeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FileChangeKind {
    Added,
    Changed,
    Removed,
}
