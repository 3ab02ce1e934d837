//! Decides whether this process may act for the user. Commands that need no keeper (trust, the plan, a paused loop, old
//! loops) are refused to processes that a loop started; the keeper of that loop records the attempt.

use std::fs;

use loopkeeper_core::journal::RestrictedCommand;
use loopkeeper_text::tr;
use serde_json::json;

use super::control_client;
use super::failure::{Failure, FailureKind};
use loopkeeper_system::process::origin;
use loopkeeper_system::state_dir::StateDir;

/// Succeeds only for the user.
pub fn ensure_user(store: &StateDir, command: RestrictedCommand) -> Result<(), Failure> {
    // Each keeper knows its own jobs, whatever namespaces and environments they created for themselves.
    for loop_id in store.listening_loops() {
        if let Some(refusal) = ask_keeper(store, &loop_id, command) {
            return Err(refusal);
        }
    }
    // A state folder that is younger than the warden was created inside it, so it contains no file of the user.
    let created = fs::metadata(store.root()).and_then(|it| it.created()).ok();
    if origin::is_below_warden_started_after(created) { Err(refusal(command)) } else { Ok(()) }
}

/// Like [`ensure_user`], for the user's own state folder.
pub fn ensure_user_here(command: RestrictedCommand) -> Result<(), Failure> {
    ensure_user(&StateDir::open()?, command)
}

/// The refusal by a keeper. A keeper that does not answer, or is older than this program, refuses nothing.
fn ask_keeper(store: &StateDir, loop_id: &str, command: RestrictedCommand) -> Option<Failure> {
    let question = json!({"do": "authorize", "what": command.verb()});
    control_client::ask_quickly(store, loop_id, question)
        .err()
        .filter(|failure| failure.kind == FailureKind::Forbidden)
}

fn refusal(command: RestrictedCommand) -> Failure {
    let verb = command.verb();
    Failure::new(
        FailureKind::Forbidden,
        tr!("`{verb}` came from a process that loopkeeper started, and only the user may request it", verb),
    )
    .hint(tr!("Use a terminal or an editor that no agent started."))
}

/// The name of the user of this process, or else its number.
pub fn user_name() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|it| std::env::var(it).ok().filter(|it| !it.is_empty()));
    named.unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
}
