//! Everything that is not the Language Server Protocol: custom messages and the arguments and answers of commands.
//! `PROTOCOL.md`, `protocol.ts` and `protocol.lua` say the same; a test compares them.

use loopkeeper_core::foreign::Foreign;
use loopkeeper_core::view::{CriteriaStatus, LoopStatus, State};
use lsp_types::Command;
use lsp_types::notification::Notification;
use serde::{Deserialize, Serialize};

/// Of this protocol.
pub(crate) const VERSION: u32 = 1;

pub(crate) enum StatusChanged {}

impl Notification for StatusChanged {
    type Params = StatusParams;
    const METHOD: &'static str = "loopkeeper/status";
}

/// Whole; replaces the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusParams {
    pub(crate) version: u32,
    pub(crate) seq: u64,
    pub(crate) health: Health,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    pub(crate) trusted: bool,
    pub(crate) loops: Vec<LoopStatus>,
    pub(crate) tasks: Vec<TaskEntry>,
    /// Loops of another tool in the opened folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) foreign: Vec<ForeignLoop>,
}

/// A loop that Claude Code's plugin holds open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForeignLoop {
    /// Of its state file; names it.
    pub(crate) uri: String,
    pub(crate) root: String,
    #[serde(flatten)]
    pub(crate) state: Foreign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Health {
    Ok,
    Warning,
    Error,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskEntry {
    pub(crate) id: String,
    pub(crate) uri: String,
    pub(crate) root: String,
    pub(crate) title: String,
    pub(crate) state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) loop_id: Option<String>,
    pub(crate) checking: bool,
    pub(crate) unknown_commands: usize,
    pub(crate) criteria: CriteriaStatus,
}

pub(crate) enum OutputCame {}

impl Notification for OutputCame {
    type Params = OutputParams;
    const METHOD: &'static str = "loopkeeper/output";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputParams {
    pub(crate) loop_id: String,
    pub(crate) iteration: u32,
    pub(crate) text: String,
}

pub(crate) enum Alert {}

impl Notification for Alert {
    type Params = AlertParams;
    const METHOD: &'static str = "loopkeeper/alert";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlertParams {
    pub(crate) loop_id: String,
    pub(crate) kind: AlertKind,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) actions: Vec<Command>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AlertKind {
    Ended,
    NeedsYou,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Severity {
    Info,
    Warning,
    Error,
}

pub(crate) const LOOPS: &str = "loopkeeper/loops";
pub(crate) const SUBSCRIBE: &str = "loopkeeper/subscribe";
pub(crate) const ITERATIONS: &str = "loopkeeper/iterations";
pub(crate) const TRUST_PAGE: &str = "loopkeeper/trustPage";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoopsParams {
    #[serde(default)]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoopsResult {
    pub(crate) loops: Vec<LoopStatus>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscribeParams {
    pub(crate) loop_id: String,
    pub(crate) on: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscribeResult {
    pub(crate) subscribed: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IterationsParams {
    pub(crate) loop_id: String,
    #[serde(default)]
    pub(crate) last: Option<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IterationsResult {
    pub(crate) loop_id: String,
    pub(crate) criteria: Vec<CriterionRow>,
    pub(crate) iterations: Vec<IterationEntry>,
}

/// One mark an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CriterionRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) row: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IterationEntry {
    pub(crate) iteration: u32,
    pub(crate) started_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) changed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) removed: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) milestones: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) taken_back: bool,
    pub(crate) passed: u64,
    pub(crate) total: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustPageParams {
    pub(crate) task: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustPageResult {
    pub(crate) hash: String,
    pub(crate) trusted: bool,
    pub(crate) commands: Vec<TrustCommand>,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustCommand {
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) trusted: bool,
}

/// Why a command was not done: `data.code` of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RefusalCode {
    Untrusted,
    Unsaved,
    TreeBusy,
    NoTask,
    AgentMissing,
    Conflict,
    Unsupported,
    BadArgument,
}

/// `data` of the error of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefusalData {
    pub(crate) code: RefusalCode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<usize>,
    /// The server asks the user itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<String>,
}

impl RefusalData {
    pub(crate) fn of(code: RefusalCode) -> Self {
        Self { code, task: None, hash: None, count: None, asked: None, uri: None, holder: None }
    }
}

pub(crate) const START: &str = "loopkeeper.server.start";
pub(crate) const STOP: &str = "loopkeeper.server.stop";
pub(crate) const PAUSE: &str = "loopkeeper.server.pause";
pub(crate) const RESUME: &str = "loopkeeper.server.resume";
pub(crate) const CHECK: &str = "loopkeeper.server.check";
pub(crate) const OUTPUT: &str = "loopkeeper.server.output";
pub(crate) const RESET_BREAKER: &str = "loopkeeper.server.resetBreaker";
pub(crate) const RESET_SESSION: &str = "loopkeeper.server.resetSession";
pub(crate) const ACCEPT_WEAKENING: &str = "loopkeeper.server.acceptWeakening";
pub(crate) const STEER: &str = "loopkeeper.server.steer";
pub(crate) const ANSWER: &str = "loopkeeper.server.answer";
pub(crate) const ROLLBACK: &str = "loopkeeper.server.rollback";
pub(crate) const DIFF: &str = "loopkeeper.server.diff";
pub(crate) const SKIP: &str = "loopkeeper.server.skip";
pub(crate) const PRIORITIZE: &str = "loopkeeper.server.prioritize";
pub(crate) const EXPORT: &str = "loopkeeper.server.export";
pub(crate) const TRUST: &str = "loopkeeper.server.trust";
pub(crate) const UNTRUST: &str = "loopkeeper.server.untrust";
pub(crate) const IMPORT: &str = "loopkeeper.server.import";

/// Every command, as announced.
pub(crate) const COMMANDS: [&str; 19] = [
    START,
    STOP,
    PAUSE,
    RESUME,
    CHECK,
    OUTPUT,
    RESET_BREAKER,
    ACCEPT_WEAKENING,
    RESET_SESSION,
    STEER,
    ANSWER,
    ROLLBACK,
    DIFF,
    SKIP,
    PRIORITIZE,
    EXPORT,
    TRUST,
    UNTRUST,
    IMPORT,
];

/// The state file of another tool's loop.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportArgs {
    pub(crate) file: String,
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
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartLimits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) iterations: Option<u32>,
    /// As in `45m` or `8h`.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckArgs {
    pub(crate) task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) criterion: Option<String>,
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
    /// Absent where a client without an input box offers it: then it is told how to answer.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// The question that was shown: another one is not answered by it.
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
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffArgs {
    pub(crate) loop_id: String,
    pub(crate) iteration: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkipArgs {
    pub(crate) task: String,
    /// Its id.
    pub(crate) item: String,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrioritizeArgs {
    pub(crate) task: String,
    pub(crate) item: String,
    /// Places earlier among the open items; negative: later.
    pub(crate) by: i32,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustArgs {
    pub(crate) task: String,
    /// Of the page that was shown. Absent: show it and ask.
    #[serde(default)]
    pub(crate) hash: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
#[serde(rename_all = "camelCase")]
pub(crate) struct UntrustArgs {
    pub(crate) task: String,
}

/// What every command answers; each fills in what it has to say.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) patch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Vec<ChangedFile>>,
    /// False: the change is in the editor, and its document is still to be saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) saved: Option<bool>,
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
    pub(crate) kind: ChangeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ChangeKind {
    Added,
    Changed,
    Removed,
}

#[cfg(test)]
mod tests;
