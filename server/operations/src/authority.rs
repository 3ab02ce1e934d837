//! Decides whether this process may act for the user. Commands that need no keeper (trust, the plan, a paused loop, old
//! loops) are refused to processes that a loop started; the keeper of that loop records the attempt.

use std::fs;

use loopkeeper_core::journal::RestrictedCommand;
use loopkeeper_text::tr;
use serde_json::json;

use super::control_client::{self, KeeperAnswer};
use super::failure::{Failure, FailureKind};
use loopkeeper_system::process::origin;
use loopkeeper_system::state_dir::StateDir;

/// Succeeds only for the user.
pub fn ensure_user(store: &StateDir, command: RestrictedCommand) -> Result<(), Failure> {
    ensure_user_of(store, command, None)
}

/// Like [`ensure_user`], for a command that the lock of its loop `own` refuses while the loop has a keeper.
pub(crate) fn ensure_user_of(
    store: &StateDir,
    command: RestrictedCommand,
    own: Option<&str>,
) -> Result<(), Failure> {
    // Each keeper knows its own jobs, whatever namespaces and environments they created for themselves.
    for loop_id in store.listening_loops() {
        match ask_keeper(store, &loop_id, command) {
            Err(failure) if failure.kind == FailureKind::Forbidden || own != Some(&loop_id) => {
                return Err(failure);
            }
            Ok(()) | Err(_) => {}
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

/// The refusal by a keeper, or that it does not answer: one of its jobs may have stopped it. A keeper that is older than
/// this program refuses nothing.
fn ask_keeper(store: &StateDir, loop_id: &str, command: RestrictedCommand) -> Result<(), Failure> {
    let question = json!({"do": "authorize", "what": command.verb()});
    match control_client::ask_if_alive(store, loop_id, question) {
        KeeperAnswer::Refused(failure) if failure.kind == FailureKind::Forbidden => Err(failure),
        KeeperAnswer::Silent(failure) => Err(failure),
        KeeperAnswer::Accepted | KeeperAnswer::Refused(_) | KeeperAnswer::None => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;

    use loopkeeper_core::journal::RestrictedCommand;
    use loopkeeper_system::clock;
    use loopkeeper_system::state_dir::StateDir;

    use super::{ensure_user, ensure_user_of};
    use crate::failure::FailureKind;

    #[test]
    fn a_keeper_that_is_alive_and_silent_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir(&root).unwrap();
        let store = StateDir::at(&folder.path().join("state")).unwrap();
        let dir = store.workspace(&root).unwrap().new_loop(&store, clock::now()).unwrap();
        let address = store.socket(dir.id()).unwrap();
        fs::create_dir_all(address.path().parent().unwrap()).unwrap();
        let socket = UnixListener::bind(address.path()).unwrap();
        // It accepts connections and closes them.
        std::thread::spawn(move || socket.incoming().for_each(drop));
        assert_eq!(store.listening_loops(), [dir.id()]);

        let lock = store.lock_loop(&dir).unwrap();
        let refused = ensure_user(&store, RestrictedCommand::Trust).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Conflict, "{refused}");
        let fact = format!("the keeper of loop {} does not answer", dir.id());
        assert!(refused.message.fact().starts_with(&fact), "{refused}");
        ensure_user_of(&store, RestrictedCommand::Resume, Some(dir.id())).unwrap();
        drop(lock);
        // The socket of a killed keeper.
        ensure_user(&store, RestrictedCommand::Trust).unwrap();
    }
}
