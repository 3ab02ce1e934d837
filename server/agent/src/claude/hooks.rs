//! Our hooks for Claude Code, passed on its command line only, so that no user file is changed.

use serde_json::{Value, json};

use super::settings::{find_settings_argument, parse_object, put_settings};
use crate::LoopMode;
use crate::hooks::{TIMEOUT_S, add_hook, hook_command};

/// How often in a row Claude Code accepts a block by its stop hook, unless its environment sets another cap.
pub const DEFAULT_BLOCK_CAP: u32 = 8;
/// The variable that sets another cap.
pub const BLOCK_CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// The cap that we set.
pub const RAISED_BLOCK_CAP: u32 = 1000;

/// The timeout of hooks that the keeper answers immediately.
pub(super) const PROMPT_HOOK_TIMEOUT_S: u64 = 15;
/// The event with a tool filter: only tools that start subagents, by the name that the model uses and the one that
/// hooks receive.
const SUBAGENT_TOOLS: (&str, &str) = ("PreToolUse", "Task|Agent");
/// Events of subagents: Claude Code's name, and the argument of our program.
pub(super) const SUBAGENT_EVENTS: [(&str, &str); 3] =
    [(SUBAGENT_TOOLS.0, "pre-tool"), ("SubagentStart", "subagent-start"), ("SubagentStop", "subagent-stop")];

/// The settings entry for one event.
pub(super) fn hook_entry(event: &str, command: &str, timeout: u64) -> Value {
    let hooks = json!([{"type": "command", "command": command, "timeout": timeout}]);
    if event == SUBAGENT_TOOLS.0 {
        json!({"matcher": SUBAGENT_TOOLS.1, "hooks": hooks})
    } else {
        json!({"hooks": hooks})
    }
}

/// Adds our hooks to the settings in the command line if those can be parsed. `program`: the path of our own program.
pub fn inject_hooks(argv: Vec<String>, program: &str, mode: LoopMode) -> Vec<String> {
    let argv = match mode {
        LoopMode::Hook => with_stop(argv, &hook_command(program, "stop")),
        LoopMode::Loop | LoopMode::Attach => argv,
    };
    let Some(mut settings) = settings_of(&argv) else { return argv };
    for (event, word) in SUBAGENT_EVENTS {
        add_hook(
            &mut settings,
            event,
            hook_entry(event, &hook_command(program, word), PROMPT_HOOK_TIMEOUT_S),
        );
    }
    put_settings(argv, &settings)
}

/// Adds this command as the stop hook to the command line.
pub fn with_stop(argv: Vec<String>, command: &str) -> Vec<String> {
    let Some(mut settings) = settings_of(&argv) else { return argv };
    add_hook(&mut settings, "Stop", hook_entry("Stop", command, TIMEOUT_S));
    put_settings(argv, &settings)
}

fn settings_of(argv: &[String]) -> Option<Value> {
    find_settings_argument(argv).map_or(Some(json!({})), |it| parse_object(it.text))
}

/// Whether [`inject_hooks`] can add to its settings.
pub fn can_inject_hooks(argv: &[String]) -> bool {
    settings_of(argv).is_some()
}

/// Limits the cost of one process unless the user's arguments set a limit.
pub fn within_budget(argv: Vec<String>, left_micros: u64) -> Vec<String> {
    const BUDGET_FLAG: &str = "--max-budget-usd";
    if argv.iter().any(|it| it.split('=').next() == Some(BUDGET_FLAG)) {
        return argv;
    }
    let usd = format!("{}.{:06}", left_micros / 1_000_000, left_micros % 1_000_000);
    argv.into_iter().chain([BUDGET_FLAG.to_owned(), usd]).collect()
}

#[cfg(test)]
mod tests {
    use super::{LoopMode, Value, inject_hooks, within_budget};

    fn equipped(argv: &[&str]) -> Vec<String> {
        inject_hooks(argv.iter().map(ToString::to_string).collect(), "/a b/keeper's", LoopMode::Hook)
    }

    #[test]
    fn our_hook_is_added_to_existing_ones() {
        let command = "'/a b/keeper'\\''s' hook stop";
        let of = |argv: &[&str]| -> Value {
            serde_json::from_str(equipped(argv).last().expect("a last word")).expect("JSON")
        };
        let alone = of(&["claude", "-p"]);
        assert_eq!(alone["hooks"]["Stop"][0]["hooks"][0]["command"], command);
        let beside =
            of(&["claude", "--settings", r#"{"permissions":{"allow":["Bash(ls)"]},"hooks":{"Stop":[{}]}}"#]);
        assert_eq!(beside["permissions"]["allow"][0], "Bash(ls)");
        assert_eq!(beside["hooks"]["Stop"][1]["hooks"][0]["command"], command);
        assert_eq!(beside["hooks"]["PreToolUse"][0]["matcher"], "Task|Agent");
        let between = equipped(&["claude", "--settings", "{}", "-p"]);
        assert!(
            super::can_inject_hooks(&between)
                && !super::can_inject_hooks(&["--settings".to_owned(), "mine.json".to_owned()])
        );
        assert_eq!((between.len(), between[3].as_str()), (4, "-p"));
    }

    #[test]
    fn a_setting_of_another_shape_is_not_changed() {
        for given in ["mine.json", "[]", "{"] {
            assert_eq!(equipped(&["claude", "--settings", given]), ["claude", "--settings", given]);
        }
        assert_eq!(equipped(&["claude", "--settings"])[..2], ["claude", "--settings"]);
    }

    #[test]
    fn the_remaining_budget_limits_the_process() {
        let of = |argv: &[&str], left| within_budget(argv.iter().map(ToString::to_string).collect(), left);
        assert_eq!(of(&["claude"], 25_000_000), ["claude", "--max-budget-usd", "25.000000"]);
        assert_eq!(of(&["claude"], 1_050), ["claude", "--max-budget-usd", "0.001050"]);
        for own in [&["claude", "--max-budget-usd", "1"][..], &["claude", "--max-budget-usd=1"]] {
            assert_eq!(of(own, 1), own);
        }
    }
}
