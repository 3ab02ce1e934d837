//! Every key has an effect, a default and documentation; parsers accept any input.

mod chinese;

use proptest::prelude::*;

use super::assignment::{Assignment, assign};
use super::keys::KEYS;
use super::lookup::{KeyLookup, look_up};
use super::table::{Key, KeySupport};
use super::{
    Layer, LayerKind, ResolvedSettings, SettingOrigin, Settings, accept, is_never_passed, resolve, toml_layer,
};

#[test]
fn every_default_of_the_table_is_the_default() {
    for key in KEYS.iter().filter(|it| it.since == KeySupport::Built && !it.default.is_empty()) {
        let line = format!("{} = {}", key.path.replace('*', "claude"), key.default);
        if key.is_users_own() || matches!(key.name(), "prompt" | "output") {
            continue; // Fixed for a built-in agent; the sample of an own agent shows their defaults.
        }
        let resolved = workspace(&line);
        let settings =
            Settings { written: Vec::new(), ..Settings::clone(resolved.settings().expect("nothing blocks")) };
        assert_eq!(settings, Settings::default(), "{line}");
    }
    let own = workspace("agents.mine.command = [\"x\"]");
    let problems = workspace("agents.mine = { command = [\"x\"], prompt = \"stdin\", output = \"text\" }");
    assert_eq!(own.settings(), problems.settings());
}

#[test]
fn every_key_that_is_built_is_acted_on() {
    // The bounds act on other keys (`bounds.rs` tests each of them), the language on the process.
    let acts = |it: &&Key| it.since == KeySupport::Built && !it.is_users_own();
    for key in KEYS.iter().filter(acts) {
        let agent = key.path.contains('*').then_some("mine");
        let text = format!("x = {}", sample(key));
        let raw = toml_layer::raw_of(&text);
        let value =
            accept::accept_value(key, agent, &raw).unwrap_or_else(|it| panic!("{}: {it:?}", key.path));
        let mut settings = Settings::default();
        settings.agents.push(super::agents::custom_agent("mine"));
        let before = settings.clone();
        let assignment = Assignment {
            key,
            agent: agent.map(str::to_owned),
            value,
            raw,
            layer: None,
            origin: SettingOrigin::Default,
        };
        let index = [("mine".to_owned(), settings.agents.len() - 1)].into();
        assert!(assign(&mut settings, &index, &assignment), "nothing acts on `{}`", key.path);
        assert!(settings != before, "`{}` sets nothing", key.path);
    }
}

/// A value that differs from the default.
fn sample(key: &Key) -> &'static str {
    use super::table::ValueKind;
    match key.takes {
        ValueKind::Word { now, .. } => match now {
            ["loop", "hook", "attach"] => "\"hook\"",
            ["tell", ..] => "\"off\"",
            ["agent", ..] => "\"never\"",
            ["keep", ..] => "\"rollback\"",
            ["all", "majority"] => "\"majority\"",
            ["adaptive", ..] => "\"large\"",
            ["continue", ..] => "\"pause\"",
            ["wait", ..] => "\"stop\"",
            ["auto", ..] => "\"off\"",
            ["edits", ..] => "\"all\"",
            ["stdin", ..] => "\"file\"",
            ["text", ..] => "\"claude\"",
            other => panic!("no sample of {other:?}"),
        },
        ValueKind::Agent
        | ValueKind::Agents
        | ValueKind::Text
        | ValueKind::Path
        | ValueKind::Branch
        | ValueKind::Promise => "\"other\"",
        ValueKind::Count | ValueKind::Percent => "77",
        ValueKind::Duration | ValueKind::Pause => "\"77s\"",
        ValueKind::Cost => "7.7",
        ValueKind::Size => "\"7MiB\"",
        ValueKind::Flag => "true",
        ValueKind::Network => "[\"other.example\"]",
        ValueKind::Paths | ValueKind::Globs | ValueKind::Texts | ValueKind::Names => "[\"OTHER\"]",
        ValueKind::Command | ValueKind::CommandOrNone => "[\"OTHER\"]",
        ValueKind::Variables => "{ OTHER = \"1\" }",
        ValueKind::When => "\"criteria and plan\"",
        ValueKind::Weights => "{ other = 0.7 }",
        ValueKind::Services => "[{ command = [\"OTHER\"], ready = \"http://localhost\" }]",
    }
}

#[test]
fn every_key_is_documented_in_one_sentence() {
    for key in KEYS {
        let starts = key.doc.starts_with(|it: char| it.is_uppercase() || it == '`');
        assert!(starts && key.doc.ends_with('.') && !key.doc.contains(". "), "{}: {}", key.path, key.doc);
        assert!(!key.doc.contains('|'), "{}: a bar breaks the table", key.path);
        let path: Vec<&str> = key.path.split('.').collect();
        assert!(
            matches!(look_up(&path), KeyLookup::Key(it) if it.path == key.path),
            "{} is hidden",
            key.path
        );
    }
}

#[test]
fn precedence_does_not_depend_on_the_order_of_files() {
    let layer = |kind, text: &str| Layer { kind, file: format!("{kind:?}"), text: text.to_owned() };
    let user = layer(LayerKind::User, "limits.iterations = 1\nbreaker.no_progress = 1\nkeep.loops = 1");
    let ralphrc = layer(LayerKind::Ralphrc, "CB_NO_PROGRESS_THRESHOLD=2");
    let workspace = layer(LayerKind::Workspace, "limits.iterations = 3");
    let forwards = resolve(&[user.clone(), ralphrc.clone(), workspace.clone()], &[]);
    let backwards = resolve(&[workspace, ralphrc, user], &[]);
    assert_eq!(forwards.settings(), backwards.settings());
    assert_eq!(forwards.findings(), backwards.findings());
    assert_eq!(forwards.effective(), backwards.effective());
    let settings = forwards.settings().unwrap();
    assert_eq!((settings.limits.iterations, settings.breaker.no_progress, settings.keep_loops), (3, 2, 1));
}

#[test]
fn programs_set_by_the_work_tree_need_trust() {
    let text = "sandbox.kind = \"off\"\n[env]\npass = [\"MY_*\"]\nset = { A = \"http://evil\", B = \"\" }";
    let layer = |kind| Layer { kind, file: String::new(), text: text.to_owned() };
    let trusted = |layers: &[Layer]| resolve(layers, &[]).to_trust().to_vec();
    let all = ["pass MY_*", "A=http://evil", "B=", "no sandbox"];
    assert_eq!(trusted(&[layer(LayerKind::Workspace)]), all);
    assert_eq!(trusted(&[layer(LayerKind::User), layer(LayerKind::Workspace)]), all);
    let layer_that_allows = |kind| Layer {
        kind,
        file: String::new(),
        text: "criteria.may_change = [\"tests/golden/**\"]".to_owned(),
    };
    assert_eq!(trusted(&[layer_that_allows(LayerKind::Workspace)]), ["may change tests/golden/**"]);
    assert_eq!(trusted(&[layer_that_allows(LayerKind::User)]), [""; 0]);
    // The user's own file needs no trust.
    assert_eq!(trusted(&[layer(LayerKind::User)]), [""; 0]);
    assert_eq!(trusted(&[]), [""; 0]);
}

#[test]
fn variables_that_never_pass_need_no_trust() {
    let check = |name: &str, expect: bool| assert_eq!(is_never_passed(name), expect, "{name}");
    check("GIT_DIR", true);
    check("GIT_*", true);
    check("LD_PRELOAD", true);
    check("LOOPKEEPER_LOOP", true);
    check("CLAUDECODE", true);
    check("CARGO_HOME", false);
    check("MY_*", false);
    let refused = workspace("env.pass = [\"MY_*\", \"GIT_DIR\"]");
    let problems: Vec<String> = refused.findings().iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("found \"GIT_DIR\", which never passes"), "{problems:?}");
}

#[test]
fn a_finding_points_at_its_bytes() {
    let text = "# größer\nlimits = { iterations = 0 }\n";
    let resolved = workspace(text);
    let SettingOrigin::File { place, line, column } = &resolved.findings()[0].origin else { panic!() };
    assert_eq!((&text[place.range.clone()], *line, *column), ("0", 2, 25));
}

fn workspace(text: &str) -> ResolvedSettings {
    let layer =
        Layer { kind: LayerKind::Workspace, file: "loopkeeper.toml".to_owned(), text: text.to_owned() };
    resolve(&[layer], &[])
}

proptest! {
    #[test]
    fn parsing_is_total(text in any::<String>()) {
        for kind in [LayerKind::User, LayerKind::Ralphrc, LayerKind::Workspace] {
            let _ = resolve(&[Layer { kind, file: String::new(), text: text.clone() }], &[]);
        }
    }

    #[test]
    fn parsing_is_total_on_shell_like_input(text in r#"([A-Z_]{1,3}=|CLAUDE_MODEL=|export |["'$`\\ #a-zé=;(){}]|\n){0,40}"#) {
        let _ = resolve(&[Layer { kind: LayerKind::Ralphrc, file: String::new(), text }], &[]);
    }

    /// A written number is applied or refused; a default never replaces it silently.
    #[test]
    fn a_number_is_applied_or_refused(number in any::<i64>()) {
        let resolved = workspace(&format!("limits.iterations = {number}"));
        match resolved.settings() {
            Ok(settings) => prop_assert_eq!(i64::from(settings.limits.iterations), number),
            Err(findings) => {
                prop_assert!(number <= 0 || number > i64::from(u32::MAX));
                prop_assert_eq!(findings.len(), 1);
            }
        }
    }
}

/// The fields that every journal has. One that is added later needs `#[serde(default)]`, because older journals lack
/// it.
const IN_EVERY_JOURNAL: &[&str] = &[
    "/agent",
    "/agents",
    "/checkTimeoutMs",
    "/envPass",
    "/envSet",
    "/keepBytes",
    "/keepDays",
    "/keepLoops",
    "/limits",
    "/limits/betweenMs",
    "/limits/costMicros",
    "/limits/durationMs",
    "/limits/graceMs",
    "/limits/idleMs",
    "/limits/iterationMs",
    "/limits/iterations",
    "/protected",
    "/sandbox",
    "/taskExclude",
    "/taskFiles",
];

#[test]
fn settings_of_older_journals_can_be_read() {
    let whole = serde_json::to_value(Settings::default()).unwrap();
    assert_eq!(serde_json::from_value::<Settings>(whole.clone()).unwrap(), Settings::default());
    let mut required = Vec::new();
    for path in field_paths(&whole) {
        let mut older = whole.clone();
        let (folder, name) = path.rsplit_once('/').unwrap();
        older.pointer_mut(folder).unwrap().as_object_mut().unwrap().remove(name);
        if serde_json::from_value::<Settings>(older).is_err() {
            required.push(path);
        }
    }
    assert_eq!(required, IN_EVERY_JOURNAL);
}

/// The fields of objects in `value`, as JSON pointers.
fn field_paths(value: &serde_json::Value) -> Vec<String> {
    let fields = value.as_object().into_iter().flatten();
    let with_inner = fields.flat_map(|(name, inner)| {
        let below = field_paths(inner).into_iter().map(move |it| format!("/{name}{it}"));
        std::iter::once(format!("/{name}")).chain(below)
    });
    with_inner.collect()
}
