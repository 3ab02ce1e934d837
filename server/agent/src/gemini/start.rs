//! Builds the command line for a headless start of Gemini CLI. The prompt goes to stdin, which without a terminal needs
//! no flag.

use crate::command_line::{CommandLineParams, extend};
use crate::{PermissionMode, allow, commits};

/// Commands in the list may be called with further arguments. A command that the list's grammar would split gets no
/// rule, so that the agent is denied it; loopkeeper runs it anyway.
pub fn build_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    build_argv_with_safe_mode(start, "auto_edit")
}

/// Builds the argv of a derived CLI that has another name for its safe mode.
pub(crate) fn build_argv_with_safe_mode(start: &CommandLineParams<'_>, safe_mode: &str) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(&mut argv, &["-o", "stream-json", "--session-id", "{session}"]);
    match start.permissions {
        // Calls that need approval are denied, because a headless run cannot ask.
        PermissionMode::ReadOnly => extend(&mut argv, &["--approval-mode", "default"]),
        PermissionMode::Edits | PermissionMode::Ask => {
            extend(&mut argv, &["--approval-mode", safe_mode]);
            for command in plain_commands(&allow::allowed_commands(start.checks, start.runner)) {
                extend(&mut argv, &["--allowed-tools", &shell_tool_rule(command)]);
            }
            if start.commits.is_some() {
                for command in commits::ALLOWED {
                    extend(&mut argv, &["--allowed-tools", &shell_tool_rule(command)]);
                }
            }
        }
        PermissionMode::SandboxedAll | PermissionMode::All => extend(&mut argv, &["--approval-mode", "yolo"]),
    }
    if let Some(model) = start.model {
        extend(&mut argv, &["-m", model]);
    }
    argv.extend_from_slice(start.args);
    argv
}

pub(crate) fn shell_tool_rule(command: &str) -> String {
    format!("run_shell_command({command})")
}

/// Commands that no tool list would split.
pub fn plain_commands(commands: &[String]) -> impl Iterator<Item = &String> {
    commands.iter().filter(|it| !it.contains([',', '(', ')', '*', '"', '\'', '{', '}']))
}

/// Without the first variable it starts itself again as a child that does not receive signals to the parent. The work
/// tree is already trusted before anything is started, and no other place asks about it.
pub const ENVIRONMENT: &[(&str, &str)] =
    &[("GEMINI_CLI_NO_RELAUNCH", "true"), ("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("NO_BROWSER", "true")];
