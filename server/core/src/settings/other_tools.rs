//! Reads YAML and TOML configurations of other tools: keys with a counterpart become settings, all others are reported
//! once.

mod entries;

use std::collections::HashSet;

use loopkeeper_text::closest::is_within;
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::tr;

use self::entries::{FileFault, FileSetting, read_entries};
use super::assignment::ParsedLayer;
use super::finding::{SettingCode, SettingFinding, SettingOrigin};
use super::layer::{Layer, LayerKind};
use super::ralphrc::{
    IgnoredLines, RalphrcForm, agent_of_driver, assignment, misspelling_finding, misspelt_driver,
};

/// Keys of `ralph.yml`, in its nested and its older flat form, and of `.ralph-tui/config.toml`.
const MAPPED: &[(&str, &str, RalphrcForm)] = &[
    ("event_loop.max_iterations", "limits.iterations", RalphrcForm::Plain),
    ("event_loop.max_runtime_seconds", "limits.duration", RalphrcForm::Seconds),
    ("event_loop.max_cost_usd", "limits.cost_usd", RalphrcForm::Plain),
    ("event_loop.cooldown_delay_seconds", "limits.between", RalphrcForm::Seconds),
    ("event_loop.completion_promise", "exit.promise", RalphrcForm::Plain),
    ("cli.backend", "agent", RalphrcForm::Driver),
    ("event_loop.prompt_file", "tasks.files", RalphrcForm::List),
    ("prompt_file", "tasks.files", RalphrcForm::List),
    ("max_iterations", "limits.iterations", RalphrcForm::Plain),
    ("max_runtime", "limits.duration", RalphrcForm::Seconds),
    ("max_cost", "limits.cost_usd", RalphrcForm::Plain),
    ("completion_promise", "exit.promise", RalphrcForm::Plain),
    ("agent", "agent", RalphrcForm::Driver),
    ("agent.command", "agent", RalphrcForm::Driver),
    ("agent.ralph", "tasks.files", RalphrcForm::List),
    ("agent.prompt", "tasks.files", RalphrcForm::List),
    ("defaultAgent", "agent", RalphrcForm::Driver),
    ("platform", "agent", RalphrcForm::Driver),
    ("maxIterations", "limits.iterations", RalphrcForm::Plain),
    ("trackerOptions.path", "tasks.files", RalphrcForm::List),
    ("max-iterations", "limits.iterations", RalphrcForm::Plain),
    ("build.max_iterations", "limits.iterations", RalphrcForm::Plain),
    ("build.prompt_file", "tasks.files", RalphrcForm::List),
    ("session_timeout", "limits.iteration_time", RalphrcForm::Plain),
    ("idle_timeout", "limits.idle_time", RalphrcForm::Plain),
];
/// Which keys a file has: those of a table by its name and a dot.
const BY_FILE: [(&str, &[&str]); 5] = [
    (
        "ralph.yml",
        &[
            "event_loop.",
            "cli.",
            "agent",
            "prompt_file",
            "max_iterations",
            "max_runtime",
            "max_cost",
            "completion_promise",
        ],
    ),
    ("ralph.toml", &["agent.", "build.", "max-iterations"]),
    (".ralph-tui/config.toml", &["defaultAgent", "maxIterations", "trackerOptions."]),
    ("bmalph/config.json", &["platform"]),
    (".ralphex/config", &["max_iterations", "session_timeout", "idle_timeout"]),
];

/// Keys that belong to the task, by file: the prompt, its gates, the folder of plans.
const TASK_KEYS: [(&str, &str); 3] = [
    ("ralph.yml", "event_loop.prompt"),
    ("ralph.yml", "backpressure.gates."),
    (".ralphex/config", "plans_dir"),
];
/// The prompt documents that are found without being named.
const PROMPT_FILES: [&str; 2] = ["PROMPT.md", "RALPH.md"];
/// Keys without a meaning for a loop, which are not reported.
const DESCRIPTIVE_KEYS: [&str; 5] = ["name", "description", "createdAt", "configVersion", "updatedAt"];
/// Limits for which some tools write 0 to mean none.
const UNLIMITED_BY_ZERO: [&str; 3] = ["limits.iterations", "limits.duration", "limits.cost_usd"];

/// Whether the task that a value names is found anyway. A name without an extension is a folder of
/// `.ralphify/ralphs`, whose `RALPH.md` is found.
fn is_found_by_name(value: &str) -> bool {
    PROMPT_FILES.contains(&value)
        || !value.contains('.')
        || value.rsplit('/').next().is_some_and(|it| it == "prd.json")
}

fn has_counterpart((_, path, form): (&str, &str, RalphrcForm), value: &str) -> bool {
    match form {
        RalphrcForm::Driver => agent_of_driver(value).is_some(),
        _ => !(UNLIMITED_BY_ZERO.contains(&path) && value.parse::<f64>().is_ok_and(|it| it <= 0.0)),
    }
}

pub(super) fn parse_layer(layer: &Layer) -> ParsedLayer {
    let (file, text) = (layer.file.as_str(), layer.text.as_str());
    let index = LineIndex::of(text);
    let mut out = ParsedLayer::default();
    let mut ignored = IgnoredLines::default();
    let mut reported = HashSet::new();
    let entries = match read_entries(file, text) {
        Ok(entries) => entries,
        Err(FileFault { message, range }) => {
            let hint = tr!("correct the line; nothing runs until the file can be read");
            let origin = SettingOrigin::in_text(file, (text, &index), range);
            let code = SettingCode::Syntax;
            out.findings.push(SettingFinding { code, origin, message, hint: hint.to_owned(), fix: None });
            return out;
        }
    };
    let is_unset = |it: &FileSetting| ["", "~", "null", "Null", "NULL"].contains(&it.value.as_str());
    for FileSetting { path, value, range } in entries.into_iter().filter(|it| !is_unset(it)) {
        let mapped = MAPPED.iter().find(|(known, ..)| *known == path);
        let is_read = task_keys(file).any(|it| path == it || it.ends_with('.') && path.starts_with(it))
            || mapped.is_some_and(|it| it.2 == RalphrcForm::List && is_found_by_name(&value))
            || DESCRIPTIVE_KEYS.contains(&path.as_str());
        match mapped {
            _ if is_read => {}
            None if let Some(form) = wrong_form(file, &path) => {
                if reported.insert(form.key.to_owned()) {
                    let origin = SettingOrigin::in_text(file, (text, &index), range);
                    out.findings.push(form.finding(origin));
                }
            }
            Some(&mapped) if has_counterpart(mapped, &value) => {
                let origin = SettingOrigin::in_text(file, (text, &index), range);
                match assignment(mapped, &value, (LayerKind::OtherTool, origin)) {
                    Ok(assignment) => out.assignments.extend(assignment),
                    Err(finding) => out.findings.push(*finding),
                }
            }
            Some((_, _, RalphrcForm::Driver))
                if let Some(it) = misspelt_driver((&path, &value), (file, text, &index), range.clone()) =>
            {
                out.findings.push(it);
            }
            None if let Some(near) = near_key(file, &path) => {
                let line = text.get(..range.start).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1);
                out.findings.push(misspelling_finding(&path, near, (file, text, &index), line..range.end));
            }
            _ => {
                // `hats.builder.instructions` is reported as `hats.builder`.
                let name = path.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
                if reported.insert(name.clone()) {
                    ignored.unknown.push((name, range));
                }
            }
        }
    }
    out.findings.extend(ignored.findings(file, (text, &index)));
    out
}

/// A known key with a value of another form than it takes.
#[derive(Debug, PartialEq, Eq)]
struct WrongForm {
    key: &'static str,
    is_table: bool,
}

impl WrongForm {
    fn finding(&self, origin: SettingOrigin) -> SettingFinding {
        let name = self.key;
        let (message, hint) = if self.is_table {
            (tr!("`{name}` takes keys below it, found a value", name), tr!("write its keys below it"))
        } else {
            (tr!("`{name}` takes one value, found several", name), tr!("write one value"))
        };
        SettingFinding { code: SettingCode::BadValue, origin, message, hint: hint.to_owned(), fix: None }
    }
}

/// A value where the file has a table, or a list or a table where it has a value.
fn wrong_form(file: &str, path: &str) -> Option<WrongForm> {
    let is_below = |below: &str, key: &str| below.strip_prefix(key).is_some_and(|it| it.starts_with('.'));
    let known = || keys_of(file).map(|it| it.0);
    if let Some(table) = known().find(|it| is_below(it, path)) {
        return Some(WrongForm { key: table.get(..path.len())?, is_table: true });
    }
    // `agent` is a value in one tool and a table in another.
    let key = known().find(|key| is_below(path, key) && known().all(|it| !is_below(it, key)))?;
    Some(WrongForm { key, is_table: false })
}

/// The keys of the file with this name in its root.
pub(super) fn keys_of(
    file: &str,
) -> impl Iterator<Item = &'static (&'static str, &'static str, RalphrcForm)> {
    let beginnings = BY_FILE.iter().find(|it| it.0 == file).map_or(&[][..], |it| it.1);
    let is_of = |key: &str, it: &str| key == it || it.ends_with('.') && key.starts_with(it);
    MAPPED.iter().filter(move |it| beginnings.iter().any(|beginning| is_of(it.0, beginning)))
}

/// The keys of this file that belong to the task.
pub(super) fn keys_of_task(file: &str) -> impl Iterator<Item = &'static str> {
    task_keys(file).filter(|it| !it.ends_with('.'))
}

fn task_keys(file: &str) -> impl Iterator<Item = &'static str> {
    TASK_KEYS.iter().filter(move |it| it.0 == file).map(|it| it.1)
}

/// The key of this file that is probably meant.
fn near_key(file: &str, path: &str) -> Option<&'static str> {
    // A key at the top is never meant as one in a table: `tracker`, `trackerOptions.path`.
    let depth = |it: &str| it.matches('.').count();
    let mut known = keys_of(file).map(|it| it.0).chain(keys_of_task(file));
    known.find(|it| depth(it) == depth(path) && is_within(2, path, it))
}

#[cfg(test)]
mod tests {
    use super::parse_layer;
    use crate::settings::{Layer, LayerKind, SettingOrigin};

    fn shown(file: &str, text: &str) -> (Vec<String>, Vec<String>) {
        let layer = Layer { kind: LayerKind::OtherTool, file: file.to_owned(), text: text.to_owned() };
        let parsed = parse_layer(&layer);
        let set = parsed.assignments.iter().map(|it| format!("{} = {}", it.key.path, it.written())).collect();
        (set, parsed.findings.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn keys_with_a_counterpart_are_settings() {
        let text = "event_loop:\n  prompt_file: PROMPT.md\n  completion_promise: LOOP_COMPLETE\n  max_iterations: 40\n  max_runtime_seconds: 3600\n  max_cost_usd: 5.0\ncli:\n  backend: codex\ncore:\n  guardrails:\n    - one\n    - two\nhats:\n  builder:\n    name: B\n    triggers: [a]\n";
        let (set, notes) = shown("ralph.yml", text);
        assert_eq!(
            set,
            [
                "exit.promise = \"LOOP_COMPLETE\"",
                "limits.iterations = 40",
                "limits.duration = \"3600s\"",
                "limits.cost_usd = 5.0",
                "agent = \"codex\""
            ]
        );
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("not used by loopkeeper: core.guardrails, hats.builder"), "{notes:?}");
        let text = "[agent]\ncommand = \"codex\"\nargs = [\"-p\"]\nralph = \"SHOP.md\"\n";
        let (set, notes) = shown("ralph.toml", text);
        assert_eq!(set, ["agent = \"codex\"", "tasks.files = [\"SHOP.md\"]"]);
        assert!(notes[0].contains("not used by loopkeeper: agent.args"), "{notes:?}");
        let text = "# x = y\nmax_iterations = 3\nplans_dir = specs\nclaude_command = claude\nsession_timeout = 30m\nidle_timeout =\n";
        let (set, notes) = shown(".ralphex/config", text);
        assert_eq!(set, ["limits.iterations = 3", "limits.iteration_time = \"30m\""]);
        assert!(notes[0].contains("not used by loopkeeper: claude_command"), "{notes:?}");
        let (set, notes) =
            shown(".ralph-tui/config.toml", "defaultAgent = \"codex\"\nmaxIterations = 15\ndelay = 2\n");
        assert_eq!(set, ["agent = \"codex\"", "limits.iterations = 15"]);
        assert!(notes[0].contains("not used by loopkeeper: delay"), "{notes:?}");
    }

    #[test]
    fn tools_that_share_the_name_of_their_file_are_read() {
        let (set, notes) =
            shown("ralph.toml", "max-iterations = 25\nagent = \"opencode\"\nspecs-dir = \"s\"\n");
        assert_eq!(set, ["limits.iterations = 25", "agent = \"opencode\""]);
        assert!(notes[0].contains("not used by loopkeeper: specs-dir"), "{notes:?}");
        let text = "[plan]\nmax_iterations = 3\n[build]\nprompt_file = \"BUILD.md\"\nmax_iterations = 7\n";
        let (set, notes) = shown("ralph.toml", text);
        assert_eq!(set, ["tasks.files = [\"BUILD.md\"]", "limits.iterations = 7"]);
        assert!(notes[0].contains("not used by loopkeeper: plan.max_iterations"), "{notes:?}");
        let (_, notes) = shown(".ralph-tui/config.toml", "tracker = \"json\"\n");
        assert!(notes[0].contains("not used by loopkeeper: tracker"), "{notes:?}");
    }

    #[test]
    fn a_misspelt_agent_names_the_one_that_is_meant() {
        let check = |file: &str, text: &str, expect: Option<(&str, &str)>| {
            let kind = if file == ".ralphrc" { LayerKind::Ralphrc } else { LayerKind::OtherTool };
            let layer = Layer { kind, file: file.to_owned(), text: text.to_owned() };
            let resolved = crate::settings::resolve(&[layer], &[]);
            let found = resolved.findings().iter().find(|it| it.message.contains("Did you mean"));
            let place = |it: &SettingOrigin| match it {
                SettingOrigin::File { place, .. } => text[place.range.clone()].to_owned(),
                _ => String::new(),
            };
            let found = found.map(|it| (place(&it.origin), it.fix.clone().unwrap_or_default()));
            assert_eq!(found, expect.map(|(at, fix)| (at.to_owned(), fix.to_owned())), "{text}");
            assert!(resolved.findings().iter().all(|it| !it.is_blocking()), "{text}");
        };
        check("ralph.yml", "cli:\n  backend: claud\n", Some(("claud", "claude")));
        check("ralph.yml", "# é\nagent: \"Codx\" # c\n", Some(("Codx", "codex")));
        check("ralph.yml", "cli:\n  backend: kiro\n", None);
        check("ralph.yml", "cli:\n  backend: claude\n", None);
        check("ralph.yml", "cli:\n  backend: custom\n", None);
        check(".ralph-tui/config.toml", "defaultAgent = \"opencde\"\n", Some(("opencde", "opencode")));
        check("bmalph/config.json", "{\"platform\": \"claude-cod\"}", Some(("claude-cod", "claude-code")));
        check(".ralphrc", "PLATFORM_DRIVER=\"gemni\"\n", Some(("gemni", "gemini")));
        check(".ralphrc", "PLATFORM_DRIVER=\"\"\n", None);
    }

    #[test]
    fn a_misspelt_key_names_the_one_that_is_meant() {
        let text = "event_loop:\n  max_iteration: 40\n  hat: a\n";
        let layer = Layer { kind: LayerKind::OtherTool, file: "ralph.yml".to_owned(), text: text.to_owned() };
        let found = parse_layer(&layer).findings;
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].message.ends_with("Did you mean `event_loop.max_iterations`?"), "{found:?}");
        assert_eq!(found[0].fix.as_deref(), Some("max_iterations"));
        let SettingOrigin::File { place, .. } = &found[0].origin else { panic!("{found:?}") };
        assert_eq!(&text[place.range.clone()], "max_iteration");
        let (_, notes) = shown(".ralph-tui/config.toml", "maxIteration = 3\n");
        assert!(notes[0].contains("Did you mean `maxIterations`?"), "{notes:?}");
        let (_, notes) = shown(".ralphex/config", "plan_dir = specs\n");
        assert!(notes[0].contains("Did you mean `plans_dir`?"), "{notes:?}");
    }

    #[test]
    fn many_unknown_keys_are_read_in_linear_time() {
        let line = |n: u32| format!("k{n}: 1\n");
        let text: String = (0..10_000).map(line).collect();
        let (set, notes) = shown("ralph.yml", &text);
        assert!(set.is_empty() && notes.len() == 1, "{notes:?}");
        assert!(notes[0].contains("not used by loopkeeper: k0, k1, "), "{notes:?}");
    }

    #[test]
    fn keys_without_a_value_are_unset() {
        let text = "max_cost: null\nmax_runtime: ~\nagent:\nhats: {}\n";
        assert_eq!(shown("ralph.yml", text), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_limit_of_zero_means_unlimited_in_other_tools() {
        let (set, notes) = shown(".ralph-tui/config.toml", "maxIterations = 0\nagent = \"claude-code\"\n");
        assert_eq!(set, ["agent = \"claude\""]);
        assert!(notes[0].contains("not used by loopkeeper: maxIterations"), "{notes:?}");
        let (set, notes) =
            shown("ralph.yml", "max_cost: 0.0\nmax_runtime: 0\nevent_loop:\n  cooldown_delay_seconds: 0\n");
        assert_eq!(set, ["limits.between = \"0s\""]);
        assert!(notes[0].contains("max_cost, max_runtime"), "{notes:?}");
    }

    #[test]
    fn the_file_of_a_tracker_is_a_task_unless_it_is_found_by_its_name() {
        let text = |path: &str| format!("tracker = \"json\"\n[trackerOptions]\npath = \"{path}\"\n");
        let (set, _) = shown(".ralph-tui/config.toml", &text("shop.json"));
        assert_eq!(set, ["tasks.files = [\"shop.json\"]"]);
        let (set, notes) = shown(".ralph-tui/config.toml", &text("./tasks/prd.json"));
        assert_eq!((set.len(), notes.len()), (0, 1), "{notes:?}");
    }

    #[test]
    fn a_damaged_file_blocks_with_its_line_and_a_remedy() {
        let check = |file: &str, text: &str, expect: &str| {
            let layer = Layer { kind: LayerKind::OtherTool, file: file.to_owned(), text: text.to_owned() };
            let findings = parse_layer(&layer).findings;
            let [finding] = findings.as_slice() else { panic!("{file}: {findings:?}") };
            assert!(finding.is_blocking(), "{finding:?}");
            assert!(finding.to_string().starts_with(expect), "{finding}");
            assert!(finding.to_string().contains("orrect the line; nothing runs"), "{finding}");
        };
        check("ralph.yml", "max_iterations: 40\ncli: {backend: codex\n", "ralph.yml:2: this is not YAML: ");
        check("ralph.toml", "[agent]\ncommand = \"co", "ralph.toml:2: this is not TOML: ");
        check(".ralph-tui/config.toml", "maxIterations 15\n", ".ralph-tui/config.toml:1: this is not TOML: ");
        check("bmalph/config.json", "{\n  \"platform\": \"cod", "bmalph/config.json:2: this is not JSON: ");
        check(".ralphex/config", "max_iterations = 3\nidle", ".ralphex/config:2: a line without `=`");
    }

    #[test]
    fn a_value_of_another_form_is_reported() {
        let check = |file: &str, text: &str, expect: &[&str]| {
            let (set, notes) = shown(file, text);
            assert_eq!(set, [""; 0], "{text}");
            let begins = |(note, expect): (&String, &&str)| note.starts_with(expect);
            assert!(notes.len() == expect.len() && notes.iter().zip(expect).all(begins), "{notes:?}");
        };
        check(
            "ralph.yml",
            "event_loop: 5\nmax_iterations: [1, 2]\nmax_cost:\n  usd: 3\n",
            &[
                "ralph.yml:1: `event_loop` takes keys below it, found a value",
                "ralph.yml:2: `max_iterations` takes one value, found several",
                "ralph.yml:4: `max_cost` takes one value, found several",
            ],
        );
        check(
            "bmalph/config.json",
            "{\"platform\": [\"codex\"]}",
            &["bmalph/config.json:1: `platform` takes one"],
        );
        check("ralph.toml", "build = 3\n", &["ralph.toml:1: `build` takes keys below it"]);
        let (set, _) = shown("ralph.toml", "agent = \"codex\"\n");
        assert_eq!(set, ["agent = \"codex\""]);
    }

    #[test]
    fn an_invalid_value_is_reported_with_its_key() {
        let (set, notes) = shown("ralph.yml", "max_iterations: many\nagent: custom\n");
        assert_eq!(set, [""; 0]);
        assert!(notes.iter().any(|it| it.starts_with("ralph.yml:1: `max_iterations`")), "{notes:?}");
        assert!(notes.iter().any(|it| it.contains("not used by loopkeeper: agent")), "{notes:?}");
    }
}
