//! How Codex is started headless. The prompt goes to stdin, told by the last word `-`.

use crate::agent::starting::{Start, extend};
use crate::settings::Permissions;

/// Its own sandbox lets it write in the work tree (but not in `.git`) and keeps it off the network; checks need no
/// list, since any command may run in there.
pub fn argv(start: &Start<'_>) -> Vec<String> {
    let mut argv = start.command.to_vec();
    extend(&mut argv, &["exec", "--json", "--skip-git-repo-check"]);
    match start.permissions {
        Permissions::ReadOnly => extend(&mut argv, &["-s", "read-only"]),
        Permissions::Edits | Permissions::Ask => extend(&mut argv, &["-s", "workspace-write"]),
        Permissions::SandboxedAll | Permissions::All => {
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

/// Options stand before the word `resume`, which knows fewer of them.
pub fn resuming(argv: &[String]) -> Vec<String> {
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
