//! Detects whether Claude Code skips all hooks, from the settings that apply to it. Reads them, never writes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use loopkeeper_agent::claude::settings::{all_hooks_disabled, settings_argument};
use loopkeeper_agent::kind::AgentKind;
use loopkeeper_core::journal::AgentPlan;

use crate::config_text;

/// Settings managed by the machine's administrator.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-settings.json"
} else {
    "/etc/claude-code/managed-settings.json"
};
/// Settings of the folder, highest precedence first.
const FOLDER_SETTINGS: [&str; 2] = [".claude/settings.local.json", ".claude/settings.json"];

/// The place where hooks are disabled, as text for the user. `env`: the agent's environment; the last value of a
/// variable counts.
pub fn find_source(plan: &AgentPlan, root: &Path, env: &[(OsString, OsString)]) -> Option<String> {
    let value = |name: &str| env.iter().rev().find(|it| it.0 == name).map(|it| it.1.as_os_str());
    let text = |path: PathBuf| config_text::read_text(&path).ok().flatten();
    let setting_at = |path: PathBuf| Some((path.display().to_string(), all_hooks_disabled(&text(path)?)?));
    let by_argument =
        || Some(("`--settings`".to_owned(), all_hooks_disabled(settings_argument(&plan.argv)?)?));
    let in_folder = |file: &str| Some((file.to_owned(), all_hooks_disabled(&text(root.join(file))?)?));
    if plan.kind() != AgentKind::Claude {
        return None;
    }
    let first = setting_at(MANAGED.into())
        .or_else(by_argument)
        .or_else(|| FOLDER_SETTINGS.into_iter().find_map(in_folder))
        .or_else(|| setting_at(user_settings(value("CLAUDE_CONFIG_DIR"), value("HOME"))?));
    first.filter(|(_, is_off)| *is_off).map(|(source, _)| source)
}

fn user_settings(moved: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
    let folder = match moved.filter(|it| !it.is_empty()) {
        Some(moved) => PathBuf::from(moved),
        None => Path::new(home?).join(".claude"),
    };
    Some(folder.join("settings.json"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use loopkeeper_agent::kind::Dialect;
    use loopkeeper_agent::{PermissionMode, PromptBy};
    use loopkeeper_core::journal::AgentPlan;

    use super::find_source;

    /// The precedence observed in Claude Code.
    #[test]
    fn the_settings_that_count_first_say_whether_hooks_are_off() {
        let check = |settings: [&str; 4], name: &str, expect: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            let (root, home) = (folder.path().join("tree"), folder.path().join("home"));
            let [user, project, local, line] = settings;
            for (file, setting_at) in [
                (home.join(".claude/settings.json"), user),
                (root.join(".claude/settings.json"), project),
                (root.join(".claude/settings.local.json"), local),
            ] {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                if !setting_at.is_empty() {
                    fs::write(file, format!("{{\"disableAllHooks\":{setting_at}}}")).unwrap();
                }
            }
            let words = [name.to_owned(), "--settings".into(), format!("{{\"disableAllHooks\":{line}}}")];
            let plan = AgentPlan {
                name: name.into(),
                argv: words.into_iter().take(if line.is_empty() { 1 } else { 3 }).collect(),
                prompt: PromptBy::Stdin,
                dialect: if name == "claude" { Dialect::Claude } else { Dialect::Codex },
                permissions: PermissionMode::Edits,
                env: Vec::new(),
            };
            let env: [(OsString, OsString); 2] =
                [("HOME".into(), "/elsewhere".into()), ("HOME".into(), home.clone().into())];
            let found = find_source(&plan, &root, &env).map(|it| it.replace(home.to_str().unwrap(), "~"));
            assert_eq!(found.as_deref(), expect, "{name} {settings:?}");
        };
        check(["", "", "", ""], "claude", None);
        check(["true", "", "", ""], "claude", Some("~/.claude/settings.json"));
        check(["", "true", "", ""], "claude", Some(".claude/settings.json"));
        check(["", "", "true", ""], "claude", Some(".claude/settings.local.json"));
        check(["", "", "", "true"], "claude", Some("`--settings`"));
        check(["true", "false", "", ""], "claude", None);
        check(["", "true", "false", ""], "claude", None);
        check(["true", "true", "true", "false"], "claude", None);
        check(["true", "true", "true", "true"], "codex", None);
    }
}
