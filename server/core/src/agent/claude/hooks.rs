//! The hooks that Claude Code gets of us: by its command line alone, so that no file of the user's is touched.

use serde_json::{Value, json};

use crate::settings::Mode;

/// Far longer than any round of checks; the keeper answers or dies, and either ends the wait.
pub const PATIENCE_S: u64 = 24 * 60 * 60;

/// How often in a row it lets its stop hook hold it, unless its environment says otherwise.
pub const BLOCKS: u32 = 8;
/// The variable that says otherwise.
pub const CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// What we say.
pub const RAISED: u32 = 1000;

/// The keeper answers what it knows at once.
const MOMENT_S: u64 = 15;
/// Its tool for subagents, by the name that it has for the model and the one that hooks see.
const SUBAGENTS: &str = "Task|Agent";

/// The command line with our hooks in its settings, where those can be read. `program`: our own, by its path.
pub fn equip(argv: Vec<String>, program: &str, mode: Mode) -> Vec<String> {
    let Some((at, mut settings)) = settings_of(&argv) else { return argv };
    let hook = |event: &str, patience: u64| json!({"type": "command", "command": format!("{} hook {event}", quoted(program)), "timeout": patience});
    if mode == Mode::Hook {
        add(&mut settings, "Stop", json!({"hooks": [hook("stop", PATIENCE_S)]}));
    }
    add(&mut settings, "PreToolUse", json!({"matcher": SUBAGENTS, "hooks": [hook("pre-tool", MOMENT_S)]}));
    add(&mut settings, "SubagentStart", json!({"hooks": [hook("subagent-start", MOMENT_S)]}));
    add(&mut settings, "SubagentStop", json!({"hooks": [hook("subagent-stop", MOMENT_S)]}));
    let text = settings.to_string();
    match at {
        Some(at) => {
            argv.into_iter().enumerate().map(|(i, it)| if i == at { text.clone() } else { it }).collect()
        }
        None => argv.into_iter().chain(["--settings".to_owned(), text]).collect(),
    }
}

/// Whether [`equip`] can add to its settings.
pub fn fit(argv: &[String]) -> bool {
    settings_of(argv).is_some()
}

/// What its settings are, and where they stand.
fn settings_of(argv: &[String]) -> Option<(Option<usize>, Value)> {
    let at = argv.iter().rposition(|it| it == "--settings").map(|it| it + 1);
    match at.and_then(|at| argv.get(at)).map(|it| serde_json::from_str(it)) {
        None => Some((at, json!({}))),
        Some(Ok(settings @ Value::Object(_))) => Some((at, settings)),
        // A file of the user's own, or nothing that we could add to.
        Some(_) => None,
    }
}

/// Beside the hooks that are there already.
fn add(settings: &mut Value, event: &str, entry: Value) {
    let Some(settings) = settings.as_object_mut() else { return };
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let Some(hooks) = hooks.as_object_mut() else { return };
    let entries = hooks.entry(event).or_insert_with(|| json!([]));
    if let Some(entries) = entries.as_array_mut() {
        entries.push(entry);
    }
}

/// One word to a shell, whatever is in it.
pub(super) fn quoted(program: &str) -> String {
    format!("'{}'", program.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{Mode, Value, equip};

    fn equipped(argv: &[&str]) -> Vec<String> {
        equip(argv.iter().map(ToString::to_string).collect(), "/a b/keeper's", Mode::Hook)
    }

    #[test]
    fn our_hook_stands_beside_what_is_there() {
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
        assert!(super::fit(&between) && !super::fit(&["--settings".to_owned(), "mine.json".to_owned()]));
        assert_eq!((between.len(), between[3].as_str()), (4, "-p"));
    }

    #[test]
    fn what_we_cannot_add_to_stays_as_it_is() {
        for given in ["mine.json", "[]", "{"] {
            assert_eq!(equipped(&["claude", "--settings", given]), ["claude", "--settings", given]);
        }
        assert_eq!(equipped(&["claude", "--settings"])[..2], ["claude", "--settings"]);
    }
}
