//! Merges the `--settings` arguments of Claude Code. It uses only the last of several, so the user's settings and ours
//! have to be combined into one.

use serde_json::{Value, json};

const SETTINGS_FLAG: &str = "--settings";
const SETTINGS_PREFIX: &str = "--settings=";

/// Permission rules. A denied call stays denied even if another rule allows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PermissionRules {
    pub(super) allow: Vec<String>,
    pub(super) deny: Vec<String>,
}

/// The settings argument of a command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettingsArgument<'a> {
    /// The index of the argument that contains the settings.
    at: usize,
    /// The part of the argument before the settings.
    flag: &'static str,
    pub(super) text: &'a str,
}

pub(super) fn find_settings_argument(argv: &[String]) -> Option<SettingsArgument<'_>> {
    let joined = |at: usize, it: &'_ String| it.starts_with(SETTINGS_PREFIX).then_some((at, SETTINGS_PREFIX));
    let found = argv
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, it)| if it == SETTINGS_FLAG { Some((at + 1, "")) } else { joined(at, it) });
    let (at, flag) = found?;
    Some(SettingsArgument { at, flag, text: argv.get(at)?.strip_prefix(flag)? })
}

pub(super) fn parse_object(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

/// Replaces the effective settings of the command line, or appends these.
pub(super) fn put_settings(mut argv: Vec<String>, settings: &Value) -> Vec<String> {
    match find_settings_argument(&argv).map(|it| (it.at, it.flag)) {
        Some((at, flag)) => drop(argv.splice(at..=at, [format!("{flag}{settings}")])),
        None => argv.extend([SETTINGS_FLAG.to_owned(), settings.to_string()]),
    }
    argv
}

/// Moves inline settings to `file`: returns the command line that names it, and the content of the file.
pub fn move_inline_to_file(argv: Vec<String>, file: &str) -> (Vec<String>, Option<String>) {
    let Some(inline) = find_settings_argument(&argv).filter(|it| parse_object(it.text).is_some()) else {
        return (argv, None);
    };
    let (at, flag, text) = (inline.at, inline.flag, inline.text.to_owned());
    let mut argv = argv;
    drop(argv.splice(at..=at, [format!("{flag}{file}")]));
    (argv, Some(text))
}

/// Whether these settings disable all hooks, or enable them again. The first source that sets it wins, in the order
/// administrator, command line, folder, user.
pub fn all_hooks_disabled(text: &str) -> Option<bool> {
    parse_object(text)?.get("disableAllHooks")?.as_bool()
}

/// The value of the argument for the settings: inline settings, or a file.
pub fn settings_argument(argv: &[String]) -> Option<&str> {
    find_settings_argument(argv).map(|it| it.text)
}

/// The user's file that these arguments name for the settings.
pub fn settings_file(words: &[String]) -> Option<&str> {
    settings_argument(words).filter(|it| parse_object(it).is_none())
}

/// Replaces the file name in the arguments with the content of that file; `None` if the content is not valid settings.
pub fn inline_settings_file(words: Vec<String>, text: &str) -> Option<Vec<String>> {
    parse_object(text).map(|it| put_settings(words, &it))
}

/// The settings in the user's arguments merged with our rules, as one argument; `None` if there are no rules to add or
/// the settings cannot be extended.
pub(super) fn with_rules(words: &[String], rules: &PermissionRules) -> Option<String> {
    let given = find_settings_argument(words);
    let mut settings = given.map_or(Some(json!({})), |it| parse_object(it.text))?;
    if rules.allow.is_empty() && rules.deny.is_empty() {
        given?;
    } else {
        add_rules(&mut settings, "allow", &rules.allow)?;
    }
    if !rules.deny.is_empty() {
        add_rules(&mut settings, "deny", &rules.deny)?;
    }
    Some(escape_placeholders(&settings.to_string()))
}

/// The name of the first permission list that is not a list, so that no rule can be added to it.
pub fn malformed_rules(words: &[String]) -> Option<&'static str> {
    let mut settings = parse_object(find_settings_argument(words)?.text).unwrap_or(Value::Null);
    ["allow", "deny"].into_iter().find(|it| add_rules(&mut settings, it, &[]).is_none())
}

fn add_rules(settings: &mut Value, list: &str, rules: &[String]) -> Option<()> {
    let permissions = settings.as_object_mut()?.entry("permissions").or_insert_with(|| json!({}));
    let listed = permissions.as_object_mut()?.entry(list).or_insert_with(|| json!([])).as_array_mut()?;
    listed.extend(rules.iter().map(|it| json!(it)));
    Some(())
}

pub(super) fn without_settings_argument(words: &[String]) -> Vec<String> {
    let mut rest = words.iter();
    let mut kept = Vec::new();
    while let Some(word) = rest.next() {
        if word == SETTINGS_FLAG {
            rest.next();
        } else if !word.starts_with(SETTINGS_PREFIX) {
            kept.push(word.clone());
        }
    }
    kept
}

/// Escapes braces inside strings so that they cannot be taken for placeholders.
fn escape_placeholders(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let mut out = String::with_capacity(json.len());
    for it in json.chars() {
        match it {
            '{' if inside => out.push_str("\\u007b"),
            '}' if inside => out.push_str("\\u007d"),
            _ => out.push(it),
        }
        inside ^= it == '"' && !escaped;
        escaped = it == '\\' && !escaped;
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        PermissionRules, all_hooks_disabled, inline_settings_file, malformed_rules, move_inline_to_file,
        settings_file, with_rules, without_settings_argument,
    };

    fn argv(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn allowing(rules: &[&str]) -> PermissionRules {
        PermissionRules { allow: argv(rules), deny: Vec::new() }
    }

    #[test]
    fn denials_are_added_to_those_of_the_user() {
        let rules = PermissionRules { allow: argv(&["Bash(a)"]), deny: argv(&["Bash(a -n)"]) };
        let both = with_rules(&argv(&["--settings", r#"{"permissions":{"deny":["Read(c)"]}}"#]), &rules);
        let both: Value = serde_json::from_str(&both.expect("settings")).expect("JSON");
        assert_eq!(both, json!({"permissions": {"allow": ["Bash(a)"], "deny": ["Read(c)", "Bash(a -n)"]}}));
        let none = argv(&["--settings", r#"{"permissions":{"deny":"Read"}}"#]);
        assert_eq!((with_rules(&none, &rules), malformed_rules(&none)), (None, Some("deny")));
    }

    #[test]
    fn a_file_of_settings_is_read_in_their_place() {
        for (words, expect) in [
            (&["--settings", "mine.json"][..], Some("mine.json")),
            (&["--settings", "{}", "--settings=/a/b.json", "-p"], Some("/a/b.json")),
            (&["--settings", "mine.json", "--settings", " {}"], None),
            (&["--settings"], None),
            (&[], None),
        ] {
            assert_eq!(settings_file(&argv(words)), expect, "{words:?}");
        }
        let theirs = argv(&["--settings=mine.json", "-p"]);
        let read = inline_settings_file(theirs.clone(), "{\"model\": \"x\"}").expect("settings");
        assert_eq!(read, argv(&["--settings={\"model\":\"x\"}", "-p"]));
        assert!(
            inline_settings_file(theirs.clone(), "[]").is_none()
                && inline_settings_file(theirs, "").is_none()
        );
    }

    #[test]
    fn inline_settings_are_written_to_a_file() {
        for (words, expect, text) in [
            (
                &["-p", "--settings", r#"{"a":1}"#, "-x"][..],
                &["-p", "--settings", "/s", "-x"][..],
                Some(r#"{"a":1}"#),
            ),
            (&["--settings={}", "-x"], &["--settings=/s", "-x"], Some("{}")),
            (&["--settings", "theirs.json"], &["--settings", "theirs.json"], None),
            (&["--settings"], &["--settings"], None),
            (&["-p"], &["-p"], None),
        ] {
            assert_eq!(
                move_inline_to_file(argv(words), "/s"),
                (argv(expect), text.map(ToOwned::to_owned)),
                "{words:?}"
            );
        }
    }

    #[test]
    fn our_rules_extend_those_of_the_user() {
        let of = |words: &[&str], rules: &[&str]| {
            let settings = with_rules(&argv(words), &allowing(rules))?;
            Some(serde_json::from_str::<Value>(&settings).expect("JSON"))
        };
        let rules = &["Bash(a)"][..];
        assert_eq!(of(&["-x"], rules), Some(json!({"permissions": {"allow": ["Bash(a)"]}})));
        assert_eq!(of(&["-x"], &[]), None);
        assert_eq!(of(&["--settings", "{}"], &[]), Some(json!({})));
        // The last of several counts, as for Claude Code.
        let several = ["--settings", r#"{"a":1}"#, "-x", r#"--settings={"b":2}"#, "--verbose"];
        assert_eq!(of(&several, rules), Some(json!({"b": 2, "permissions": {"allow": ["Bash(a)"]}})));
        assert_eq!(without_settings_argument(&argv(&several)), ["-x", "--verbose"]);
        let theirs = r#"{"permissions":{"allow":["Bash(b)"],"deny":["Read(c)"]}}"#;
        let both = json!({"permissions": {"allow": ["Bash(b)", "Bash(a)"], "deny": ["Read(c)"]}});
        assert_eq!(of(&["--settings", theirs], rules), Some(both));
    }

    #[test]
    fn disabled_hooks_are_reported() {
        for (text, expect) in [
            (r#"{"disableAllHooks":true}"#, Some(true)),
            (r#"{"disableAllHooks":false}"#, Some(false)),
            (r#"{"disableAllHooks":"yes"}"#, None),
            ("{}", None),
            ("{\"disableAllHooks\":true", None),
        ] {
            assert_eq!(all_hooks_disabled(text), expect, "{text}");
        }
    }

    #[test]
    fn settings_without_room_for_rules_are_detected() {
        for (settings, expect) in [
            ("{}", true),
            (r#"{"permissions":{"deny":[]}}"#, true),
            (r#"{"permissions":[]}"#, false),
            (r#"{"permissions":{"allow":"Bash"}}"#, false),
            ("mine.json", false),
        ] {
            let words = argv(&["--settings", settings]);
            assert_eq!(malformed_rules(&words).is_none(), expect, "{settings}");
            assert_eq!(with_rules(&words, &allowing(&["r"])).is_some(), expect, "{settings}");
        }
        assert_eq!(malformed_rules(&[]), None);
    }

    #[test]
    fn no_brace_of_a_string_is_a_placeholder() {
        let settings = r#"{"a":{"\\":"{session}","b":"\"{prompt}"}}"#;
        let word = with_rules(&argv(&["--settings", settings]), &allowing(&["Bash(x {session})"]));
        let word = word.expect("settings");
        assert!(!word.contains("{session}") && !word.contains("{prompt}"), "{word}");
        let read: Value = serde_json::from_str(&word).expect("JSON");
        assert_eq!((&read["a"]["\\"], &read["a"]["b"]), (&"{session}".into(), &"\"{prompt}".into()));
        assert_eq!(read["permissions"]["allow"][0], "Bash(x {session})");
    }
}
