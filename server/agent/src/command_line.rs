//! Describes a command line that starts an agent, and what determines it: settings, and data of the task.

use super::commits::GitDirs;
use crate::{PermissionMode, PromptBy};

/// The parameters of a command line.
#[derive(Debug, Clone, Copy)]
pub struct CommandLineParams<'a> {
    /// The program as found, followed by the arguments that the user puts before all others.
    pub command: &'a [String],
    pub permissions: PermissionMode,
    pub model: Option<&'a str>,
    pub effort: Option<&'a str>,
    /// The user's own arguments.
    pub args: &'a [String],
    /// The commands of the task's checks.
    pub checks: &'a [String],
    /// The detected test runner ([`super::allow::test_runner`]).
    pub runner: Option<&'a str>,
    /// Set if commits are left to the agent and there is a repository.
    pub commits: Option<&'a GitDirs>,
    /// How a user-defined command receives its prompt.
    pub prompt: PromptBy,
}

/// The command to start, with `{session}`, `{prompt}` and `{prompt_file}` as placeholders for values of the iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommandLine {
    pub argv: Vec<String>,
    /// Permissions that the command line has no flags for.
    pub env: Vec<(String, String)>,
    pub prompt: PromptBy,
}

/// Appends arguments to a command line.
pub(crate) fn extend(argv: &mut Vec<String>, arguments: &[&str]) {
    argv.extend(arguments.iter().map(ToString::to_string));
}
