//! Headless start of Gemini CLI. The prompt goes to stdin, which without a terminal needs no flag.

use crate::starting::{CommandLineParams, extend};
use crate::{PermissionMode, allow, commits};

/// A command of the list may be called with further arguments; one that the list's own grammar would split gets no
/// rule, so that the agent is denied it and loopkeeper runs it all the same.
pub fn build_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    argv_of(start, "auto_edit")
}

/// Of one of its relatives, which spells its safe mode otherwise.
pub(crate) fn argv_of(start: &CommandLineParams<'_>, safe: &str) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(&mut argv, &["-o", "stream-json", "--session-id", "{session}"]);
    match start.permissions {
        // What would have to be asked about is denied, since nobody is there.
        PermissionMode::ReadOnly => extend(&mut argv, &["--approval-mode", "default"]),
        PermissionMode::Edits | PermissionMode::Ask => {
            extend(&mut argv, &["--approval-mode", safe]);
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

/// Those that no list of tools takes apart.
pub fn plain_commands(commands: &[String]) -> impl Iterator<Item = &String> {
    commands.iter().filter(|it| !it.contains([',', '(', ')', '*', '"', '\'', '{', '}']))
}

/// Without the first it starts itself once more, as a child that no signal to the parent reaches. The work tree is
/// trusted by the time that anything is started, and asked about nowhere else.
pub const ENVIRONMENT: &[(&str, &str)] =
    &[("GEMINI_CLI_NO_RELAUNCH", "true"), ("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("NO_BROWSER", "true")];
