//! Defines everything outside the Language Server Protocol: custom messages, and the arguments and results of commands.
//! `PROTOCOL.md`, `protocol.ts` and `protocol.lua` declare the same; a test compares them.

mod commands;
mod hint_commands;
#[cfg(test)]
mod tests;

use loopkeeper_core::plugin_loop::PluginLoop;
use loopkeeper_operations::transcript::TranscriptCursor;
use loopkeeper_view::{CriteriaStatus, DisplayState, LoopStatus};
use lsp_types::Command;
use lsp_types::ShowMessageParams;
use lsp_types::notification::{Notification, ShowMessage};
use serde::{Deserialize, Serialize};

pub(crate) use commands::{
    ACCEPT_WEAKENING, ANSWER, AnswerArgs, CANCEL_CHECKS, CHECK, COMMANDS, CancelChecksArgs, ChangedFile,
    CheckArgs, CommandResult, DIFF, DiffArgs, EXPORT, FEEDBACK, FeedbackArgs, FileChangeKind, IMPORT,
    ImportArgs, LoopArgs, NEW_TASK, NewTaskArgs, OUTPUT, OutputArgs, PAUSE, PRIORITIZE, PrioritizeArgs,
    RECEIPT, REPORT, RESET_BREAKER, RESET_SESSION, RESUME, ROLLBACK, RefusedPath, ResumeArgs, RollbackArgs,
    SKIP, START, STEER, STOP, SkipArgs, StartArgs, StartLimits, SteerArgs, StopArgs, TRUST, TrustArgs,
    UNDO_ROLLBACK, UNTRUST, UndoRollbackArgs, UntrustArgs,
};

#[cfg(test)]
pub(crate) use hint_commands::HintCommandName;
pub(crate) use hint_commands::{HintCommand, hint_commands};

/// Version of this protocol.
pub(crate) const VERSION: u32 = 1;

pub(crate) enum StatusChanged {}

impl Notification for StatusChanged {
    type Params = StatusParams;
    const METHOD: &'static str = "loopkeeper/status";
}

/// The complete status; replaces the previous one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusParams {
    pub(crate) version: u32,
    pub(crate) seq: u64,
    pub(crate) health: ServerHealth,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    pub(crate) trusted: bool,
    pub(crate) loops: Vec<LoopStatus>,
    pub(crate) tasks: Vec<TaskEntry>,
    /// Loops of another tool in the opened folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) foreign: Vec<ForeignLoop>,
    /// Open alerts that need the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) alerts: Vec<AlertParams>,
}

/// A loop that Claude Code's plugin runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForeignLoop {
    /// URI of its state file; identifies the loop.
    pub(crate) uri: String,
    pub(crate) root: String,
    #[serde(flatten)]
    pub(crate) state: PluginLoop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ServerHealth {
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
    pub(crate) state: DisplayState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) loop_id: Option<String>,
    pub(crate) checking: bool,
    /// Without it a client cannot tell a repeated round with equal results from none.
    #[serde(default, skip_serializing_if = "is_no_round")]
    pub(crate) rounds: u64,
    pub(crate) unknown_commands: usize,
    pub(crate) criteria: CriteriaStatus,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_no_round(round: &u64) -> bool {
    *round == 0
}

pub(crate) enum OutputPrinted {}

impl Notification for OutputPrinted {
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
    pub(crate) severity: AlertSeverity,
    pub(crate) message: String,
    pub(crate) actions: Vec<Command>,
    /// A question that is asked after the user chose one of the actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) follow_up: Option<AlertQuestion>,
    /// The commands that the hint of the message names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<HintCommand>,
}

/// `window/showMessage` to a client that announced itself.
pub(crate) enum ShowHintedMessage {}

impl Notification for ShowHintedMessage {
    type Params = HintedMessageParams;
    const METHOD: &'static str = ShowMessage::METHOD;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HintedMessageParams {
    #[serde(flatten)]
    pub(crate) shown: ShowMessageParams,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<HintCommand>,
}

/// A question whose answers are commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AlertQuestion {
    pub(crate) message: String,
    pub(crate) actions: Vec<Command>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AlertKind {
    Ended,
    NeedsYou,
    Warning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AlertSeverity {
    Info,
    Warning,
    Error,
}

pub(crate) const LOOPS: &str = "loopkeeper/loops";
pub(crate) const SUBSCRIBE: &str = "loopkeeper/subscribe";
pub(crate) const ITERATIONS: &str = "loopkeeper/iterations";
pub(crate) const TRUST_PAGE: &str = "loopkeeper/trustPage";
pub(crate) const TRANSCRIPT: &str = "loopkeeper/transcript";
pub(crate) const START_PREVIEW: &str = "loopkeeper/startPreview";

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

/// One mark per iteration.
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
    #[serde(rename = "takenBack", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) rolled_back: bool,
    pub(crate) passed: u64,
    pub(crate) total: u64,
    /// The counts as text, identical in every view.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) summary: String,
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

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TranscriptParams {
    pub(crate) loop_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<TranscriptCursor>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TranscriptResult {
    pub(crate) loop_id: String,
    pub(crate) text: String,
    pub(crate) cursor: TranscriptCursor,
    pub(crate) ended: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartPreviewParams {
    pub(crate) task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) limits: StartLimits,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartPreviewResult {
    pub(crate) agent: String,
    pub(crate) agents: Vec<String>,
    pub(crate) iterations: u32,
    pub(crate) duration_ms: u64,
    pub(crate) cost_micros: u64,
    pub(crate) upper_bound: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grade: Option<String>,
    /// Why the agent cannot be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

/// Why a command was rejected: `data.code` of the error.
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

/// `data` of a command's error.
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
    /// Whether the server asks the user itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<String>,
    /// The line of `uri` to correct, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    /// The commands that the hint of the message names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<HintCommand>,
}

impl RefusalData {
    pub(crate) fn of(code: RefusalCode) -> Self {
        Self {
            code,
            task: None,
            hash: None,
            count: None,
            asked: None,
            uri: None,
            holder: None,
            line: None,
            commands: Vec::new(),
        }
    }
}
