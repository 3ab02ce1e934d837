//! Injects our stop hook into the command line of Codex, and nowhere else.
//!
//! Codex silently skips hooks that have not been reviewed. Ours is marked as reviewed for this process alone, by the
//! hash that Codex's own review would have stored. All other hooks keep their state, whereas
//! `--dangerously-bypass-hook-trust` would run them all.

use serde_json::json;

use crate::hooks::TIMEOUT_S;
use loopkeeper_text::digest::sha256;

/// Codex's name of the first stop hook on its command line.
const OWN_HOOK_ID: &str = "/<session-flags>/config.toml:stop:0:0";

/// Adds our stop hook to the command line. `command`: the shell command of the hook.
pub fn inject_stop_hook(mut argv: Vec<String>, command: &str) -> Vec<String> {
    let Some(exec) = argv.iter().position(|it| it == "exec") else { return argv };
    // A JSON string is a valid TOML string.
    let command = json!(command).to_string();
    let hook = format!("hooks.Stop=[{{hooks=[{{type=\"command\",command={command},timeout={TIMEOUT_S}}}]}}]");
    let state = format!("hooks.state={{\"{OWN_HOOK_ID}\"={{trusted_hash=\"{}\"}}}}", hook_hash(&command));
    let arguments = ["-c".to_owned(), hook, "-c".to_owned(), state];
    argv.splice(exec + 1..=exec, arguments);
    argv
}

/// The hash of Codex's normal form: sorted, with all defaults filled in.
fn hook_hash(command: &str) -> String {
    let identity = format!(
        r#"{{"event_name":"stop","hooks":[{{"async":false,"command":{command},"timeout":{TIMEOUT_S},"type":"command"}}]}}"#
    );
    format!("sha256:{}", sha256(identity.as_bytes()))
}

/// A user argument that would replace our hook.
pub fn conflicting_argument(argv: &[String]) -> Option<&str> {
    const OWN_KEY_PREFIXES: [&str; 3] = ["hooks=", "hooks.Stop", "hooks.state"];
    let override_of = |it: &str| {
        let bare = it.strip_prefix("--config=").or_else(|| it.strip_prefix("-c")).unwrap_or(it);
        OWN_KEY_PREFIXES.iter().any(|key| bare.trim_start_matches('=').starts_with(key))
    };
    argv.iter().map(String::as_str).find(|it| override_of(it))
}

#[cfg(test)]
mod tests {
    use super::{conflicting_argument, inject_stop_hook};
    use crate::hooks::hook_command;

    fn argv(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn our_hook_precedes_the_users_arguments_and_is_trusted() {
        let hook = hook_command("/k'\\\"", "stop");
        let equipped = inject_stop_hook(argv(&["codex", "exec", "--json", "resume", "S", "-"]), &hook);
        assert_eq!(
            (&equipped[1..3], &equipped[6..]),
            (&argv(&["exec", "-c"])[..], &argv(&["--json", "resume", "S", "-"])[..])
        );
        let command = r#""'/k'\\''\\\"' hook stop""#;
        assert_eq!(
            equipped[3],
            format!("hooks.Stop=[{{hooks=[{{type=\"command\",command={command},timeout=86400}}]}}]")
        );
        let state = equipped[5].parse::<toml::Table>().expect("TOML");
        let ours = &state["hooks"]["state"]["/<session-flags>/config.toml:stop:0:0"]["trusted_hash"];
        assert!(ours.as_str().is_some_and(|it| it.starts_with("sha256:") && it.len() == 71), "{ours:?}");
        // Without the subcommand that precedes them the arguments cannot be inserted.
        assert_eq!(inject_stop_hook(argv(&["codex", "-"]), "/k"), argv(&["codex", "-"]));
    }

    #[test]
    fn arguments_that_override_our_hook_are_found() {
        for it in ["hooks.Stop=[]", "--config=hooks={}", "-chooks.state={}"] {
            assert_eq!(conflicting_argument(&argv(&["codex", "exec", "-c", it])), Some(it));
        }
        assert_eq!(
            conflicting_argument(&argv(&["codex", "exec", "-c", "hooks.PreToolUse=[]", "-m", "hook"])),
            None
        );
    }
}
