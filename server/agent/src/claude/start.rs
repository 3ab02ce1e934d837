//! Builds the arguments and the environment for a headless start of Claude Code. The prompt goes to stdin.

use super::settings::{self, PermissionRules};
use crate::command_line::{CommandLineParams, extend};
use crate::{PermissionMode, allow, commits};

/// Arguments for a read-only run: no tool that writes or executes, no MCP tools, no questions, no stored session.
const READ_ONLY: [&str; 6] = [
    "--tools",
    "Read,Grep,Glob",
    "--strict-mcp-config",
    "--permission-mode",
    "dontAsk",
    "--no-session-persistence",
];

/// Builds the whole argv; `{session}` is the placeholder of the iteration's session id.
///
/// The rules are passed in `--settings` and not in `--allowedTools` because that flag splits its values at commas,
/// spaces and parentheses, which would break many commands. They are merged with the user's settings because Claude
/// Code uses only the last of several such arguments.
pub fn build_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let fixed = ["-p", "--output-format", "stream-json", "--verbose", "--session-id", "{session}"];
    let rules = match start.permissions {
        PermissionMode::Edits | PermissionMode::Ask => permission_rules(start),
        PermissionMode::ReadOnly | PermissionMode::SandboxedAll | PermissionMode::All => {
            PermissionRules::default()
        }
    };
    let settings = settings::with_rules(&[start.command, start.args].concat(), &rules);
    let user_arguments = |of: &[String]| {
        if settings.is_some() { settings::without_settings_argument(of) } else { of.to_vec() }
    };
    let mut argv = user_arguments(start.command);
    extend(&mut argv, &fixed);
    match start.permissions {
        PermissionMode::ReadOnly => extend(&mut argv, &READ_ONLY),
        PermissionMode::Edits | PermissionMode::Ask => {
            extend(&mut argv, &["--permission-mode", "acceptEdits"]);
        }
        PermissionMode::SandboxedAll | PermissionMode::All => {
            extend(&mut argv, &["--dangerously-skip-permissions"]);
        }
    }
    if let Some(settings) = &settings {
        extend(&mut argv, &["--settings", settings]);
    }
    if let Some(model) = start.model {
        extend(&mut argv, &["--model", model]);
    }
    if let Some(effort) = start.effort {
        extend(&mut argv, &["--effort", effort]);
    }
    argv.extend(user_arguments(start.args));
    argv
}

fn permission_rules(start: &CommandLineParams<'_>) -> PermissionRules {
    let mut rules =
        PermissionRules { allow: allow::claude_allow_rules(start.checks, start.runner), deny: Vec::new() };
    if start.commits.is_some() {
        rules
            .allow
            .extend(commits::ALLOWED.iter().flat_map(|it| [format!("Bash({it})"), format!("Bash({it} *)")]));
        rules.deny.extend(commits::REFUSED_FORMS.map(|it| format!("Bash({it})")));
    }
    rules
}

/// Variables added to the agent's environment; the user's values take precedence.
///
/// Background tasks would outlive their turn and yield a second `result`. The CLI's own retries are limited because
/// loopkeeper retries as well and records it, whereas the default of ten would hide a bad key for minutes.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// An additional variable for [`PermissionMode::SandboxedAll`] inside a PID namespace, because root is refused
/// otherwise.
pub const SANDBOXED: (&str, &str) = ("IS_SANDBOX", "1");

#[cfg(test)]
mod tests {
    use super::build_argv;
    use crate::command_line::CommandLineParams;
    use crate::{PermissionMode, PromptBy};

    #[test]
    fn the_rules_survive_their_encoding() {
        let commands = vec!["awk '{print \"}\"}' a\tb 'é\"\\'".to_owned()];
        let start = CommandLineParams {
            command: &["claude".to_owned()],
            permissions: PermissionMode::Edits,
            model: None,
            effort: None,
            args: &[],
            checks: &commands,
            runner: Some("cargo test"),
            commits: None,
            prompt: PromptBy::Stdin,
        };
        let argv = build_argv(&start);
        let settings: serde_json::Value = serde_json::from_str(argv.last().unwrap()).unwrap();
        let expect = crate::allow::claude_allow_rules(&commands, Some("cargo test"));
        assert_eq!(settings["permissions"]["allow"], serde_json::json!(expect));
    }
}
