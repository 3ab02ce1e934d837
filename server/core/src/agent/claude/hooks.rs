//! The hooks that Claude Code gets of us: by its command line alone, so that no file of the user's is touched.

use serde_json::{Value, json};

use crate::agent::hooks::{PATIENCE_S, add, command};
use crate::settings::Mode;

/// How often in a row it lets its stop hook hold it, unless its environment says otherwise.
pub const BLOCKS: u32 = 8;
/// The variable that says otherwise.
pub const CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// What we say.
pub const RAISED: u32 = 1000;

/// The keeper answers what it knows at once.
pub(super) const MOMENT_S: u64 = 15;
/// Its tool for subagents, by the name that it has for the model and the one that hooks see.
pub(super) const SUBAGENTS: &str = "Task|Agent";

const SETTINGS: &str = "--settings";
const JOINED: &str = "--settings=";

/// The command line with our hooks in its settings, where those can be read. `program`: our own, by its path.
pub fn equip(argv: Vec<String>, program: &str, mode: Mode) -> Vec<String> {
    let given = given(&argv);
    let Some(mut settings) = given.map_or(Some(json!({})), |it| object(it.text)) else { return argv };
    let hook = |event: &str, patience: u64| json!({"type": "command", "command": command(program, event), "timeout": patience});
    if mode == Mode::Hook {
        add(&mut settings, "Stop", json!({"hooks": [hook("stop", PATIENCE_S)]}));
    }
    add(&mut settings, "PreToolUse", json!({"matcher": SUBAGENTS, "hooks": [hook("pre-tool", MOMENT_S)]}));
    add(&mut settings, "SubagentStart", json!({"hooks": [hook("subagent-start", MOMENT_S)]}));
    add(&mut settings, "SubagentStop", json!({"hooks": [hook("subagent-stop", MOMENT_S)]}));
    match given.map(|it| (it.at, it.flag)) {
        Some((at, flag)) => put(argv, at, format!("{flag}{settings}")),
        None => argv.into_iter().chain([SETTINGS.to_owned(), settings.to_string()]).collect(),
    }
}

/// Whether [`equip`] can add to its settings.
pub fn fit(argv: &[String]) -> bool {
    given(argv).is_none_or(|it| object(it.text).is_some())
}

fn object(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

/// What the command line says of its settings.
#[derive(Debug, Clone, Copy)]
struct Given<'a> {
    /// The word that holds them.
    at: usize,
    /// What of it comes before them.
    flag: &'static str,
    text: &'a str,
}

/// The last one counts.
fn given(argv: &[String]) -> Option<Given<'_>> {
    let joined = |at: usize, it: &'_ String| it.starts_with(JOINED).then_some((at, JOINED));
    let found = argv
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, it)| if it == SETTINGS { Some((at + 1, "")) } else { joined(at, it) });
    let (at, flag) = found?;
    Some(Given { at, flag, text: argv.get(at)?.strip_prefix(flag)? })
}

/// The file of the user's own that the command line names for its settings.
pub fn settings_file(argv: &[String]) -> Option<&str> {
    given(argv).map(|it| it.text).filter(|it| object(it).is_none())
}

/// The command line with what stands in that file in its place; `None`: those are no settings.
pub fn inlined(argv: Vec<String>, text: &str) -> Option<Vec<String>> {
    let settings = object(text)?;
    let Some((at, flag)) = given(&argv).map(|it| (it.at, it.flag)) else { return Some(argv) };
    Some(put(argv, at, format!("{flag}{settings}")))
}

fn put(mut argv: Vec<String>, at: usize, word: String) -> Vec<String> {
    argv.splice(at..=at, [word]);
    argv
}

/// What one process of it may still cost, unless the user says how much.
pub fn within_budget(argv: Vec<String>, left_micros: u64) -> Vec<String> {
    const BUDGET: &str = "--max-budget-usd";
    if argv.iter().any(|it| it.split('=').next() == Some(BUDGET)) {
        return argv;
    }
    let usd = format!("{}.{:06}", left_micros / 1_000_000, left_micros % 1_000_000);
    argv.into_iter().chain([BUDGET.to_owned(), usd]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Mode, Value, equip, inlined, settings_file, within_budget};

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

    #[test]
    fn a_file_of_settings_is_read_in_their_place() {
        let argv = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (words, file) in [
            (&["claude", "--settings", "mine.json"][..], Some("mine.json")),
            (&["claude", "--settings", "{}", "--settings=/a/b.json", "-p"], Some("/a/b.json")),
            (&["claude", "--settings", "mine.json", "--settings", " {}"], None),
            (&["claude", "--settings"], None),
            (&["claude"], None),
        ] {
            assert_eq!(settings_file(&argv(words)), file, "{words:?}");
        }
        let theirs = argv(&["claude", "--settings=mine.json", "-p"]);
        let read = inlined(theirs.clone(), "{\"model\": \"x\"}").expect("settings");
        assert_eq!(read, argv(&["claude", "--settings={\"model\":\"x\"}", "-p"]));
        let hooked = equip(read, "/k", Mode::Hook);
        assert!(hooked[1].starts_with("--settings={") && hooked[1].contains("hook stop"), "{hooked:?}");
        assert!(hooked[1].contains("\"model\":\"x\""), "{hooked:?}");
        assert!(inlined(theirs.clone(), "[]").is_none() && inlined(theirs, "").is_none());
    }

    #[test]
    fn what_is_left_of_the_cost_is_a_limit_of_the_process() {
        let of = |argv: &[&str], left| within_budget(argv.iter().map(ToString::to_string).collect(), left);
        assert_eq!(of(&["claude"], 25_000_000), ["claude", "--max-budget-usd", "25.000000"]);
        assert_eq!(of(&["claude"], 1_050), ["claude", "--max-budget-usd", "0.001050"]);
        for own in [&["claude", "--max-budget-usd", "1"][..], &["claude", "--max-budget-usd=1"]] {
            assert_eq!(of(own, 1), own);
        }
    }
}
