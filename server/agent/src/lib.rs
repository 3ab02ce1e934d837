//! Models the output and the end of any agent's process. One module per dialect converts output lines
//! to [`AgentEvent`]s; an unreadable line is an event too, never an error.

pub mod acp;
pub mod activity;
pub mod allow;
pub mod argv;
pub mod bypass;
pub mod catalog;
pub mod claims;
pub mod claude;
pub mod codex;
pub mod command_line;
pub mod commit_limitation;
pub mod commits;
pub mod errors;
mod fields;
pub mod gemini;
pub mod hooks;
pub mod kind;
pub mod login;
mod message_chunks;
pub mod opencode;
mod options;
pub mod provider;
pub mod reader;
pub mod starting;
pub mod text;
#[cfg(test)]
mod transcripts;

use serde::{Deserialize, Serialize};

use errors::FingerprintedError;
pub use options::{LoopMode, PermissionMode, PromptBy};
use provider::ProviderFailure;

/// One item of an agent's output.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// Fields that the agent does not report are empty.
    Started {
        session: String,
        model: String,
    },
    /// Text of the agent itself (not of a subagent, not of a tool).
    Text(String),
    ToolUse(ToolUse),
    /// A subagent began. Contains the call that started it if the agent reports it.
    Spawned {
        call: String,
        id: String,
        what: String,
    },
    /// The output of a tool that failed.
    ToolFailed {
        text: String,
    },
    /// A tool of the agent wrote this path (as the agent named it).
    FileChange {
        path: String,
        /// The call that started the subagent that wrote the file.
        within: Option<String>,
    },
    /// The agent itself retries its provider.
    Retry {
        attempt: u32,
        status: Option<u16>,
    },
    /// The provider announced a usage limit. `resets_at`: milliseconds of wall time.
    Limit {
        rejected: bool,
        resets_at: Option<u64>,
    },
    Denied {
        /// The tool and its arguments if the agent reports them: `Bash: git push`.
        tool: String,
        message: String,
    },
    /// A model response is complete and the turn continues, if the agent reports it.
    Step {
        /// The answer contained neither text nor tool calls.
        empty: bool,
    },
    /// A turn ended. May come more than once; the last one counts.
    Turn(TurnSummary),
    /// Longer than the line cap: skipped.
    Oversize {
        bytes: usize,
    },
    /// Not in the dialect: shown as output, never interpreted.
    Unread(String),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    pub act: ToolKind,
    /// The name that the agent uses.
    pub tool: String,
    /// The arguments in one short line.
    pub detail: String,
    /// The agent's id of this call; empty if it reports none.
    pub call: String,
    /// The call that started the calling subagent; `None` for the agent itself.
    pub within: Option<String>,
}

/// The effect of a tool, independent of the agent's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolKind {
    Edit,
    Run,
    Read,
    Search,
    /// Starts a subagent.
    Spawn,
    Other,
}

impl ToolKind {
    /// Classifies a tool by the names used in any of the agents.
    pub fn from_tool_name(tool: &str) -> Self {
        match tool {
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write" | "edit" | "patch" | "apply_patch"
            | "multiedit" | "write_file" | "replace" | "file_change" | "create_file" | "edit_file"
            | "delete" => Self::Edit,
            "Bash" | "bash" | "shell" | "exec_command" | "run_shell_command" | "command_execution" => {
                Self::Run
            }
            "Read" | "NotebookRead" | "read" | "read_file" | "read_many_files" => Self::Read,
            "Grep"
            | "Glob"
            | "LS"
            | "grep"
            | "glob"
            | "list"
            | "list_directory"
            | "search_file_content"
            | "grep_search"
            | "ls" => Self::Search,
            "Task" | "Agent" | "task" | "agent" | "spawn_agent" | "invoke_agent" | "delegate_to_agent" => {
                Self::Spawn
            }
            _ => Self::Other,
        }
    }
}

/// The end of a turn as parsed by a dialect. Costs and tokens are totals of the process so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnSummary {
    pub final_text: String,
    pub cost_micros: Option<u64>,
    pub tokens: Option<u64>,
    /// Replaces `tokens` if the agent counts over all processes of the session.
    pub session_tokens: Option<u64>,
    pub denials: u32,
    /// The denied calls, if the end of the turn reports them.
    pub denied: Vec<String>,
    pub error: Option<ProviderFailure>,
    /// Why the work ended early without an error (the agent's own turn or budget cap).
    pub note: Option<String>,
}

/// Why the provider (not the work) failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderError {
    pub class: ProviderClass,
    /// The agent's own text, sanitised, at most 300 characters.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Milliseconds of wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderClass {
    /// A usage limit with a reset, or without one announced.
    Quota,
    /// 429 without quota, 5xx, network.
    Transient,
    /// Not logged in, bad key, no access.
    Login,
    /// The account has no credit left, or was never paid for.
    Billing,
    /// The agent could not be started, or died without output.
    Crash,
    /// The agent refused the work as such (prompt too long, bad request).
    Refused,
    Unknown,
}

/// How the run of the agent ended, for the record. Provider failure and work are different things.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRun {
    pub ending: AgentEnding,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// All tokens of the session so far, if the agent counts them over all its processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's own last message, sanitised and redacted, at most [`FINAL_TEXT_BYTES`] (its end is kept).
    pub final_text: String,
    pub denials: u32,
    /// The denied calls, as `Bash: git push`; the first [`MAX_DENIED`] different ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Paths that its output reports as denied and that the sandbox hides; with the read-only ones, the first five.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_paths: Vec<String>,
    /// The same for those that the sandbox makes read-only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only_paths: Vec<String>,
    /// Hosts that the sandbox denied; the first five.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_hosts: Vec<String>,
    /// The program does not exist, so that another start would fail the same way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub program_missing: bool,
    /// The agent did not know the session that it was to resume.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub session_lost: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ProviderError>,
    /// Why the work ended early without an error, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Processes that outlived the agent and were ended, as `pid name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<String>,
    /// Processes that could not be ended. Nothing may be judged or started while they run.
    #[serde(default, rename = "left", skip_serializing_if = "Vec::is_empty")]
    pub unkillable: Vec<String>,
    /// Paths that the agent's tools reported as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Output bytes that were discarded.
    #[serde(default)]
    pub dropped: u64,
    /// The last distinct errors in the agent's messages, its tools' output and stderr.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FingerprintedError>,
    /// Bytes of the agent's own messages.
    #[serde(default)]
    pub output_bytes: u64,
    /// The tools it used, each once, at most [`MAX_TOOLS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The first [`MAX_COMMANDS`] commands it ran, at most 120 characters of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// The end of a process that its stop hook held, with the data of all its iterations that only the end reports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentExited {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The cost in addition to what its iterations reported; the same applies to `tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Processes that outlived it and were ended, as `pid name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<String>,
    /// Processes that could not even be ended.
    #[serde(default, rename = "left", skip_serializing_if = "Vec::is_empty")]
    pub unkillable: Vec<String>,
}

pub(crate) const MAX_TOOLS: usize = 50;
pub(crate) const MAX_COMMANDS: usize = 50;
/// Maximum number of denials that are reported as text.
pub(crate) const MAX_DENIED: usize = 5;
pub(crate) const FINAL_TEXT_BYTES: usize = 16 * 1024;
/// A line longer than this is one `Oversize` event.
pub const LINE_BYTES: usize = 1024 * 1024;

/// How the agent's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentEnding {
    /// It exited on its own; `exit` and `error` contain the details.
    Exited,
    /// It exceeded `limits.iteration_time`.
    TimedOut,
    /// It exceeded `limits.idle_time` without output, CPU use or file change.
    Idle,
    /// It exceeded `limits.steps`.
    Capped,
    /// The user stopped it.
    Stopped,
    /// It could not be started.
    NotStarted,
    /// Its turn is over and its process is still running because its stop hook holds it.
    Held,
}
