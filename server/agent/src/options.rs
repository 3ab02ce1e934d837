//! Configured options of an agent's start: how iterations map to processes, where the prompt goes, and what the agent
//! may do without asking.

use serde::{Deserialize, Serialize};

/// How iterations map to processes of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopMode {
    /// A process for each iteration.
    #[default]
    Loop,
    /// One session, held open by its stop hook between iterations.
    Hook,
    /// Like the previous mode, with a session that the user opened.
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
    /// Used for judges only, never for a working agent.
    ReadOnly,
    Edits,
    /// Like [`Self::Edits`], but the user is asked about everything else; requires `output = "acp"`.
    Ask,
    SandboxedAll,
    All,
}
