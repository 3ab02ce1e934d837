//! Builds the arguments for a headless start of opencode, and the permissions in its environment. The prompt goes to
//! stdin.

use serde_json::json;

use crate::command_line::{CommandLineParams, extend};
use crate::{PermissionMode, allow, commits};

pub fn build_argv(start: &CommandLineParams<'_>) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(&mut argv, &["run", "--format", "json"]);
    match start.permissions {
        PermissionMode::ReadOnly | PermissionMode::Edits | PermissionMode::Ask => {}
        PermissionMode::SandboxedAll | PermissionMode::All => extend(&mut argv, &["--auto"]),
    }
    if let Some(model) = start.model {
        extend(&mut argv, &["-m", model]);
    }
    if let Some(effort) = start.effort {
        extend(&mut argv, &["--variant", effort]);
    }
    argv.extend_from_slice(start.args);
    argv
}

/// Edits inside the work tree are allowed without asking; of commands only the checks and the test runner. The last
/// matching rule counts, so the order is kept. A command with a wildcard gets no rule.
pub fn build_env(start: &CommandLineParams<'_>) -> Vec<(String, String)> {
    let rest = r#""external_directory":"deny","webfetch":"deny","websearch":"deny""#;
    let permissions = |tools: String| vec![("OPENCODE_PERMISSION".to_owned(), format!("{{{tools},{rest}}}"))];
    match start.permissions {
        PermissionMode::ReadOnly => return permissions(r#""edit":"deny","bash":"deny""#.to_owned()),
        PermissionMode::Edits | PermissionMode::Ask => {}
        PermissionMode::SandboxedAll | PermissionMode::All => return Vec::new(),
    }
    let commands = allow::allowed_commands(start.checks, start.runner);
    let mut allowed: Vec<String> = commands.into_iter().filter(|it| !it.contains(['*', '?'])).collect();
    allowed.extend(start.runner.map(|it| format!("{it} *")));
    let mut refused = Vec::new();
    if start.commits.is_some() {
        allowed.extend(commits::ALLOWED.iter().flat_map(|it| [(*it).to_owned(), format!("{it} *")]));
        refused.extend(commits::REFUSED_FORMS);
    }
    let allowed = allowed.iter().map(|it| format!(",{}:\"allow\"", json!(it)));
    let refused = refused.iter().map(|it| format!(",{}:\"deny\"", json!(it)));
    let rules = allowed.chain(refused).collect::<Vec<_>>().concat();
    permissions(format!(r#""bash":{{"*":"deny"{rules}}}"#))
}

pub fn resume_argv(argv: &[String]) -> Vec<String> {
    let mut argv = argv.to_vec();
    extend(&mut argv, &["--session", "{session}"]);
    argv
}

/// Prevents downloads and updates during a loop.
pub const ENVIRONMENT: &[(&str, &str)] =
    &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")];
