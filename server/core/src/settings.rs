//! Resolved settings. The table that reads, documents and checks them is below this module.

use serde::{Deserialize, Serialize};

/// How a loop behaves, every value resolved. Durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// A name of `[agents]`, or `auto`.
    pub agent: String,
    pub task_files: Vec<String>,
    pub task_exclude: Vec<String>,
    pub limits: Limits,
    /// Globs the agent must not weaken.
    pub protected: Vec<String>,
    pub check_timeout_ms: u64,
    pub promise: String,
    pub done_signals: u32,
    pub no_progress: u32,
    pub sandbox: Sandbox,
    pub keep_loops: u32,
    pub keep_days: u32,
    pub keep_bytes: u64,
    pub env_pass: Vec<String>,
    pub env_set: Vec<(String, String)>,
    pub agents: Vec<AgentSettings>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub iterations: u32,
    pub duration_ms: u64,
    pub cost_micros: u64,
    pub iteration_ms: u64,
    pub idle_ms: u64,
    pub between_ms: u64,
    pub grace_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// A PID namespace where bubblewrap works, else none and said so.
    Auto,
    Required,
    Off,
}

/// One `[agents.NAME]`, or a built-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSettings {
    pub name: String,
    /// Empty for the built-ins that find their own program.
    pub command: Vec<String>,
    pub prompt: PromptBy,
    pub output: Dialect,
    pub permissions: Permissions,
    pub model: Option<String>,
    pub args: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptBy {
    Stdin,
    Argument,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    Text,
    Claude,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permissions {
    Edits,
    SandboxedAll,
    All,
}
