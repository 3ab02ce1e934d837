//! Builds headless command lines of Qwen Code, Copilot CLI, Cursor CLI and Amp. Only Qwen Code was tested with real
//! runs; the others follow their help texts and documentation.

use crate::command_line::{CommandLineParams, extend};
use crate::{PermissionMode, allow, commits, gemini};

/// Derived from Gemini CLI, with the output of Claude Code. Its safe mode also writes outside of the work tree.
pub(super) fn qwen_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let mut argv = gemini::start::build_argv_with_safe_mode(start, "auto-edit");
    let is_safe = matches!(start.permissions, PermissionMode::Edits | PermissionMode::Ask);
    if start.commits.is_some() && is_safe {
        let ours = argv.len() - start.args.len();
        let at = argv.iter().take(ours).rposition(|it| it == "--allowed-tools").map_or(ours, |it| it + 2);
        let rule = |it: &&str| ["--exclude-tools".to_owned(), gemini::start::shell_tool_rule(it)];
        let refused = commits::REFUSED_FORMS.iter().chain(&SUBSTITUTIONS).flat_map(rule);
        argv.splice(at..at, refused.collect::<Vec<_>>());
    }
    argv
}

/// Denied forms, because a command that is allowed by its prefix may contain other commands.
const SUBSTITUTIONS: [&str; 4] = ["git *$*", "git *`*", "git *<(*", "git *>(*"];

/// Like Gemini CLI, it would start itself again.
pub(super) const QWEN_ENVIRONMENT: &[(&str, &str)] =
    &[("NO_BROWSER", "true"), ("QWEN_CODE_NO_RELAUNCH", "true")];

/// Prints text, because its JSON contains neither costs nor denials.
pub(super) fn copilot_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(
        &mut argv,
        &["-s", "--no-color", "--no-ask-user", "--no-auto-update", "--session-id", "{session}"],
    );
    match start.permissions {
        // Calls without an allow rule are denied.
        PermissionMode::ReadOnly => {}
        PermissionMode::Edits | PermissionMode::Ask => {
            extend(&mut argv, &["--allow-tool", "write"]);
            for command in gemini::start::plain_commands(&allow::allowed_commands(start.checks, start.runner))
            {
                extend(&mut argv, &["--allow-tool", &format!("shell({command})")]);
            }
            if start.commits.is_some() {
                for command in commits::ALLOWED {
                    extend(&mut argv, &["--allow-tool", &format!("shell({command})")]);
                }
            }
        }
        PermissionMode::SandboxedAll | PermissionMode::All => extend(&mut argv, &["--allow-all"]),
    }
    if let Some(model) = start.model {
        extend(&mut argv, &["--model", model]);
    }
    if let Some(effort) = start.effort {
        extend(&mut argv, &["--reasoning-effort", effort]);
    }
    argv.extend_from_slice(start.args);
    argv
}

/// Without `--force` it only proposes edits, so that no safe mode is possible.
pub(super) fn cursor_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(&mut argv, &["-p", "--output-format", "stream-json"]);
    match start.permissions {
        PermissionMode::ReadOnly | PermissionMode::Edits | PermissionMode::Ask => {}
        PermissionMode::SandboxedAll | PermissionMode::All => extend(&mut argv, &["--force"]),
    }
    if let Some(model) = start.model {
        extend(&mut argv, &["--model", model]);
    }
    argv.extend_from_slice(start.args);
    argv
}

pub(super) fn resume_cursor_argv(argv: &[String]) -> Vec<String> {
    let mut argv = argv.to_vec();
    extend(&mut argv, &["--resume", "{session}"]);
    argv
}

/// Its permissions depend on its own settings alone.
pub(super) fn amp_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(&mut argv, &["-x", "--stream-json"]);
    if let Some(mode) = start.effort {
        extend(&mut argv, &["-m", mode]);
    }
    argv.extend_from_slice(start.args);
    argv
}

pub(super) fn resume_amp_argv(argv: &[String]) -> Vec<String> {
    let subcommand = ["threads", "continue", "{session}"].map(str::to_owned);
    let at = argv.iter().position(|it| it == "-x").unwrap_or(argv.len());
    let (before, after) = argv.split_at(at);
    before.iter().cloned().chain(subcommand).chain(after.iter().cloned()).collect()
}
