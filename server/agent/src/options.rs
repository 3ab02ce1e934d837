//! Configured options of an agent's start: how iterations map to processes, where the prompt goes, and what the agent
//! may do without asking.

use serde::{Deserialize, Serialize};

/// How iterations and processes of the agent go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopMode {
    /// A process for each iteration.
    #[default]
    Loop,
    /// One session, held open by its stop hook between iterations.
    Hook,
    /// The same with the session that its user opened.
    Attach,
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
pub enum PermissionMode {
    /// Of a judge; no agent that works can have it.
    ReadOnly,
    Edits,
    /// As [`Self::Edits`], and the user is asked about the rest; by `output = "acp"` alone.
    Ask,
    SandboxedAll,
    All,
}
