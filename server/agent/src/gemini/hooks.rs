//! Adds our stop hook to a copy of the settings of Gemini CLI. It accepts no hooks on its command line, and a settings
//! file named by a variable only if root owns it. So it gets a separate home directory in which everything links to the
//! user's, except the settings, which are this copy.

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Value, json};

use crate::hooks::{TIMEOUT_S, add_hook};

/// The variable that names its home directory if that is not the user's.
pub const HOME: &str = "GEMINI_CLI_HOME";
/// Its folder in the home directory, and its settings file in that folder.
pub const FOLDER: &str = ".gemini";
pub const SETTINGS: &str = "settings.json";

/// Adds our stop hook to its settings; `None` if they cannot be parsed. `command`: the shell command of the hook.
/// `passed`: the variables that identify the hook. Not every environment passes them to hooks, so they are placeholders
/// that it fills in when it reads the file.
pub fn settings_with_hook(theirs: &str, command: &str, passed: &[&str]) -> Option<String> {
    let read = |text| parse_to_serde_value(text, &ParseOptions::default()).ok();
    let mut settings: Value = if theirs.trim().is_empty() { json!({}) } else { read(theirs)? };
    let variables = passed.iter().map(|it| format!("{it}=\"${it}\" ")).collect::<Vec<_>>().concat();
    let command = variables + command;
    let hook =
        json!({"name": "loopkeeper", "type": "command", "command": command, "timeout": TIMEOUT_S * 1000});
    add_hook(&mut settings, "AfterAgent", json!({"hooks": [hook]}));
    let has_hook = settings.pointer("/hooks/AfterAgent").is_some_and(Value::is_array);
    has_hook.then(|| settings.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Value, settings_with_hook};
    use crate::hooks::hook_command;

    #[test]
    fn our_hook_is_added_to_existing_ones() {
        let of = |theirs: &str| -> Value {
            let settings =
                settings_with_hook(theirs, &hook_command("/a b/k", "stop"), &["X"]).expect("settings");
            serde_json::from_str(&settings).expect("JSON")
        };
        let ours = &of("// nothing\n{}")["hooks"]["AfterAgent"][0]["hooks"][0];
        assert_eq!(
            (&ours["command"], &ours["timeout"]),
            (&"X=\"$X\" '/a b/k' hook stop".into(), &86_400_000.into())
        );
        let beside = of(r#"{"ui":{"theme":"x"},"hooks":{"AfterAgent":[{"hooks":[]}],"AfterTool":[]}}"#);
        assert_eq!(
            (&beside["ui"]["theme"], &beside["hooks"]["AfterAgent"][1]["hooks"][0]),
            (&"x".into(), ours)
        );
        assert!(of("")["hooks"]["AfterAgent"][1].is_null());
        for broken in ["[]", "{", r#"{"hooks":[]}"#, r#"{"hooks":{"AfterAgent":{}}}"#] {
            assert_eq!(settings_with_hook(broken, "/k", &[]), None, "{broken}");
        }
    }
}
