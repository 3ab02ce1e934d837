//! Installs our hooks in a workspace's `.claude/settings.local.json` and removes them again, for sessions that the
//! user starts. All other bytes of the file are preserved.

mod json_position;
#[cfg(test)]
mod tests;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::json;

use self::json_position::{JsonStyle, insert_last, removal_range};
use loopkeeper_text::tr;

use super::hooks::{PROMPT_HOOK_TIMEOUT_S, SUBAGENT_EVENTS, hook_entry};
use crate::hooks::{self, PROMPT_TIMEOUT_S, TIMEOUT_S};

/// Relative to the root. By the rules of Claude Code the file belongs to this user and this workspace only.
pub const FILE: &str = ".claude/settings.local.json";

/// Claude Code's name of each event, the argument of our program, and its timeout.
fn events() -> impl Iterator<Item = (&'static str, &'static str, u64)> {
    let of_turns = [
        ("Stop", "stop", TIMEOUT_S),
        ("UserPromptSubmit", "prompt", PROMPT_TIMEOUT_S),
        ("SessionEnd", "end", END_TIMEOUT_S),
    ];
    of_turns.into_iter().chain(SUBAGENT_EVENTS.map(|(event, word)| (event, word, PROMPT_HOOK_TIMEOUT_S)))
}

/// The timeout of the end event, which is only reported.
const END_TIMEOUT_S: u64 = 5;
/// The arguments between the program and the event. They identify our hooks because no other hook is written like this.
const HOOK_ARGUMENTS: &str = "' hook session ";

/// Why the file is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaudeSettingsError {
    #[error("{}", tr!("it is not JSON: {fault}", fault = _0))]
    Syntax(String),
    #[error("{}", tr!("`{key}` is not what Claude Code reads there", key = _0))]
    Shape(String),
    #[error("{}", tr!("a name is written twice in it"))]
    Twice,
}

/// Adds our hooks to the file. `text`: its content if it exists. `program`: the path of our own program.
pub fn install_hooks(text: Option<&str>, program: &str) -> Result<String, ClaudeSettingsError> {
    let text = text.filter(|it| !it.trim().is_empty()).unwrap_or("{\n}\n");
    let before = parse_settings(text)?;
    let wanted: Vec<_> =
        events().map(|(event, word, _)| (event.to_owned(), session_command(program, word))).collect();
    if holds_all(&installed_hooks(text), &wanted) {
        return Ok(text.to_owned());
    }
    let mut after = remove_hooks(text)?;
    for (event, word, timeout) in events() {
        after = append_entry(&after, event, &hook_entry(event, &session_command(program, word), timeout))?;
    }
    verify_edit(&before, after)
}

/// Removes our hooks from the file, including lists and objects that contained nothing else.
pub fn remove_hooks(text: &str) -> Result<String, ClaudeSettingsError> {
    let before = parse_settings(text)?;
    let mut after = text.to_owned();
    while let Some(range) = with_root(&after, first_hook_range).flatten() {
        after.replace_range(range, "");
    }
    verify_edit(&before, after)
}

/// Whether the file contains any of our hooks.
pub fn is_installed(text: &str) -> bool {
    !installed_hooks(text).is_empty()
}

/// Whether the file contains all of our hooks; earlier versions had fewer.
pub fn is_complete(text: &str) -> bool {
    let ours = installed_hooks(text);
    let is_there =
        |event: &str, word: &str| ours.iter().any(|(of, it)| of == event && word_of(it) == Some(word));
    events().all(|(event, word, _)| is_there(event, word))
}

/// Whether each wanted hook is present exactly once, in any order.
fn holds_all(ours: &[(String, String)], wanted: &[(String, String)]) -> bool {
    ours.len() == wanted.len() && wanted.iter().all(|it| ours.contains(it))
}

/// Whether the file has no content left.
pub fn is_empty(text: &str) -> bool {
    with_root(text, |root| root.properties.is_empty()).unwrap_or_default()
}

fn shape_error(subject: &str) -> ClaudeSettingsError {
    ClaudeSettingsError::Shape(subject.to_owned())
}

/// Parses the settings as Claude Code does.
fn parse_settings(text: &str) -> Result<serde_json::Value, ClaudeSettingsError> {
    let json = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: serde_json::Value =
        serde_json::from_str(json).map_err(|error| ClaudeSettingsError::Syntax(error.to_string()))?;
    if value.is_object() { Ok(value) } else { Err(shape_error("{ … }")) }
}

/// Parses the result again to verify that only our hooks differ.
fn verify_edit(before: &serde_json::Value, after: String) -> Result<String, ClaudeSettingsError> {
    if without_ours(before.clone()) == without_ours(parse_settings(&after)?) {
        Ok(after)
    } else {
        Err(ClaudeSettingsError::Twice)
    }
}

fn without_ours(mut settings: serde_json::Value) -> serde_json::Value {
    let Some(hooks) = settings.get_mut("hooks").and_then(|it| it.as_object_mut()) else { return settings };
    for groups in hooks.values_mut().filter_map(|it| it.as_array_mut()) {
        groups.retain_mut(|group| {
            let Some(hooks) = group.get_mut("hooks").and_then(|it| it.as_array_mut()) else { return true };
            let count = hooks.len();
            hooks.retain(|it| !it.get("command").and_then(|it| it.as_str()).is_some_and(is_ours));
            hooks.len() == count || !hooks.is_empty()
        });
    }
    hooks.retain(|_, groups| groups.as_array().is_none_or(|it| !it.is_empty()));
    let is_bare = hooks.is_empty();
    if let Some(settings) = settings.as_object_mut().filter(|_| is_bare) {
        settings.remove("hooks");
    }
    settings
}

fn session_command(program: &str, word: &str) -> String {
    hooks::hook_command(program, &format!("session {word}"))
}

fn is_ours(command: &str) -> bool {
    word_of(command).is_some_and(|word| events().any(|(_, known, _)| known == word))
}

fn word_of(command: &str) -> Option<&str> {
    command.split_once(HOOK_ARGUMENTS).map(|(_, word)| word.trim())
}

/// The event and command of each of our hooks.
fn installed_hooks(text: &str) -> Vec<(String, String)> {
    let list = |root: &Object<'_>| {
        let hooks = property(root, "hooks").and_then(|it| it.value.as_object())?;
        let of = |event: &ObjectProp<'_>| {
            let groups = event.value.as_array().map_or(&[][..], |it| &it.elements);
            let commands: Vec<_> = groups.iter().flat_map(commands_of).filter(|it| is_ours(it)).collect();
            commands.into_iter().map(|it| (event.name.as_str().to_owned(), it)).collect::<Vec<_>>()
        };
        Some(hooks.properties.iter().flat_map(of).collect())
    };
    with_root(text, list).flatten().unwrap_or_default()
}

fn commands_of(group: &Value<'_>) -> Vec<String> {
    hooks_of(group).iter().filter_map(command_of).map(str::to_owned).collect()
}

fn hooks_of<'a>(group: &'a Value<'a>) -> &'a [Value<'a>] {
    let hooks = group.as_object().and_then(|it| property(it, "hooks")?.value.as_array());
    hooks.map_or(&[][..], |it| &it.elements)
}

fn command_of<'a>(hook: &'a Value<'a>) -> Option<&'a str> {
    Some(property(hook.as_object()?, "command")?.value.as_string_lit()?.value.as_ref())
}

fn property<'a>(object: &'a Object<'a>, name: &str) -> Option<&'a ObjectProp<'a>> {
    object.properties.iter().rev().find(|it| it.name.as_str() == name)
}

/// The range of our first hook, including the containers that contain nothing else.
fn first_hook_range(root: &Object<'_>) -> Option<std::ops::Range<usize>> {
    let is_our_hook = |it: &Value<'_>| command_of(it).is_some_and(is_ours);
    let hooks = property(root, "hooks")?;
    let events = hooks.value.as_object()?;
    for event in &events.properties {
        let Some(groups) = event.value.as_array() else { continue };
        for group in &groups.elements {
            let Some(hook) = hooks_of(group).iter().position(is_our_hook) else { continue };
            let inner = group.as_object().and_then(|it| property(it, "hooks"))?.value.as_array()?;
            if inner.elements.len() > 1 {
                return Some(removal_range(inner, &inner.elements, hook));
            }
            if groups.elements.len() > 1 {
                let at = groups.elements.iter().position(|it| it.range() == group.range())?;
                return Some(removal_range(groups, &groups.elements, at));
            }
            if events.properties.len() > 1 {
                let at = events.properties.iter().position(|it| it.range == event.range)?;
                return Some(removal_range(events, &events.properties, at));
            }
            let at = root.properties.iter().position(|it| it.range == hooks.range)?;
            return Some(removal_range(root, &root.properties, at));
        }
    }
    None
}

/// Appends an entry to an event's list.
fn append_entry(text: &str, event: &str, entry: &serde_json::Value) -> Result<String, ClaudeSettingsError> {
    let splice = |root: &Object<'_>| {
        let style = JsonStyle::detect(text, root);
        let Some(hooks) = property(root, "hooks") else {
            let value = json!({event: [entry]});
            return Ok(insert_last(&style, (root, &root.properties), 1, (Some("hooks"), &value)));
        };
        let hooks = hooks.value.as_object().ok_or_else(|| shape_error("hooks"))?;
        let Some(groups) = property(hooks, event) else {
            return Ok(insert_last(&style, (hooks, &hooks.properties), 2, (Some(event), &json!([entry]))));
        };
        let groups = groups.value.as_array().ok_or_else(|| shape_error(&format!("hooks.{event}")))?;
        Ok(insert_last(&style, (groups, &groups.elements), 3, (None, entry)))
    };
    let (range, new) = with_root(text, splice).ok_or_else(|| shape_error("{ … }"))??;
    let mut after = text.to_owned();
    after.replace_range(range, &new);
    Ok(after)
}

/// Calls `read` on the outermost object. Its ranges refer to `text`, which was parsed as JSON before.
fn with_root<T>(text: &str, read: impl FnOnce(&Object<'_>) -> T) -> Option<T> {
    // A byte order mark would shift all ranges; blanks of the same length do not.
    let blank = text.replacen('\u{feff}', "   ", usize::from(text.starts_with('\u{feff}')));
    let parsed = parse_to_ast(&blank, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    parsed.value.as_ref().and_then(Value::as_object).map(read)
}
