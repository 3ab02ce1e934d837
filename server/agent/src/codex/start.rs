//! Builds the command line for a headless start of Codex. The prompt goes to stdin, as requested by the last argument
//! `-`.

use crate::PermissionMode;
use crate::command_line::{CommandLineParams, extend};
use crate::commits::GitDirs;

/// Selects the permissions that allow it to commit.
pub const PROFILE: &str = "default_permissions=\"loopkeeper\"";

/// Its own sandbox limits writes to the work tree and blocks the network. Checks need no list because any command may
/// run in the sandbox. `.git` is read-only unless commits are left to the agent.
pub fn build_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(&mut argv, &["exec", "--json", "--skip-git-repo-check"]);
    match start.permissions {
        PermissionMode::ReadOnly => extend(&mut argv, &["-s", "read-only"]),
        PermissionMode::Edits | PermissionMode::Ask => match start.commits {
            Some(repository) => argv.extend(with_commits(repository)),
            None => extend(&mut argv, &["-s", "workspace-write"]),
        },
        PermissionMode::SandboxedAll | PermissionMode::All => {
            extend(&mut argv, &["--dangerously-bypass-approvals-and-sandbox"]);
        }
    }
    if let Some(model) = start.model {
        extend(&mut argv, &["-m", model]);
    }
    if let Some(effort) = start.effort {
        extend(&mut argv, &["-c", &format!("model_reasoning_effort=\"{effort}\"")]);
    }
    argv.extend_from_slice(start.args);
    argv.push("-".to_owned());
    argv
}

/// Its safe mode plus the repository, except hooks and configuration, which would run outside of the sandbox. `-s`
/// would override these permissions; versions that do not support them use `sandbox_mode`.
fn with_commits(repository: &GitDirs) -> impl Iterator<Item = String> {
    let GitDirs { git_dir, common_dir } = repository;
    let of_work_tree = Some((git_dir.clone(), "write")).filter(|_| git_dir != common_dir);
    let shared = [
        (common_dir.clone(), "write"),
        (format!("{common_dir}/hooks"), "read"),
        (format!("{common_dir}/config"), "read"),
    ];
    // A JSON string is a valid TOML string.
    let entry = |(path, access): (String, &str)| format!("{}=\"{access}\"", serde_json::json!(path));
    let entries: Vec<String> = shared.into_iter().chain(of_work_tree).map(entry).collect();
    let settings = [
        "sandbox_mode=\"workspace-write\"".to_owned(),
        PROFILE.to_owned(),
        "permissions.loopkeeper.extends=\":workspace\"".to_owned(),
        format!("permissions.loopkeeper.filesystem={{{}}}", entries.join(",")),
    ];
    settings.into_iter().flat_map(|it| ["-c".to_owned(), it])
}

/// Whether the user's arguments configure the sandbox; our permissions would replace theirs.
pub fn sets_sandbox(arguments: &[String]) -> bool {
    const FLAGS: [&str; 5] = ["--sandbox", "-p", "--profile", "--add-dir", "--full-auto"];
    const KEYS: [&str; 4] =
        ["sandbox_mode", "sandbox_workspace_write", "default_permissions", "permissions."];
    let has_key = |it: &str| {
        let setting = it.strip_prefix("--config=").or_else(|| it.strip_prefix("-c")).unwrap_or(it);
        let setting = setting.trim_start_matches('=');
        // Additions to our profile do not conflict with it.
        KEYS.iter().any(|key| setting.starts_with(key)) && !setting.starts_with("permissions.loopkeeper.")
    };
    let is_joined = |it: &str| it.starts_with("-s") && !it.starts_with("--");
    let is_flag =
        |it: &str| is_joined(it) || FLAGS.contains(&it.split_once('=').map_or(it, |(name, _)| name));
    arguments.iter().any(|it| is_flag(it) || has_key(it))
}

/// Whether its configuration contains settings of the safe mode's sandbox.
pub fn configures_sandbox(config: &str) -> bool {
    let table = config.parse::<toml::Table>().unwrap_or_default();
    table.contains_key("sandbox_workspace_write")
}

/// Options precede the subcommand `resume`, which supports fewer of them.
pub fn resume_argv(argv: &[String]) -> Vec<String> {
    match argv.split_last() {
        Some((last, before)) if last == "-" => {
            let mut argv = before.to_vec();
            extend(&mut argv, &["resume", "{session}", "-"]);
            argv
        }
        _ => argv.to_vec(),
    }
}

pub const ENVIRONMENT: &[(&str, &str)] = &[];
