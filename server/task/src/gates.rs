//! Reads the gates of other tools: files next to a task that list commands which must pass. Each command becomes a
//! criterion with its range in that file.

mod faults;
pub(super) mod folders;
mod json;
mod ralphrc;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use loopkeeper_text::lines::line_around;
use loopkeeper_text::tr;
use loopkeeper_text::yaml::{self, YamlScalar};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::item::{ByteOrigin, InlineContent};
use super::kind::DocumentKind;
use super::outline::{CriterionOrigin, TaskOutline};
use super::{FindingCode, prd};
pub(super) use ralphrc::optional_sections;

/// Key and name of the commands in `.ralphy/config.yaml`.
const COMMANDS: [(&str, &str); 3] = [
    ("commands.test", "The tests pass"),
    ("commands.lint", "The linter passes"),
    ("commands.build", "The build succeeds"),
];

pub(super) fn parse_gates(kind: DocumentKind, file: &str, text: &str) -> TaskOutline {
    let mut out = TaskOutline::new(file);
    let text = &*if faults::is_json(kind) { prd::blank_byte_order_mark(text) } else { Cow::Borrowed(text) };
    // A check could be in the part that is not readable.
    if let Some((fact, at)) = faults::syntax_error(kind, text) {
        // In the root it is a configuration too, and the fault is reported with it.
        if file != "ralph.yml" {
            out.add_finding(FindingCode::Syntax, file, &fact, line_around(text, at));
        }
        return out;
    }
    match kind {
        DocumentKind::RalphyConfig => add_ralphy_config(text, &mut out),
        DocumentKind::CheckFolder => folders::add_check(file, text, &mut out),
        DocumentKind::CheckScript => folders::add_script(file, text, &mut out),
        DocumentKind::ContextFolder => folders::add_context(file, text, &mut out),
        // Its text is a part of the prompt.
        DocumentKind::InstructionFolder => {}
        DocumentKind::Ralphrc => ralphrc::add_commands(text, &mut out),
        DocumentKind::QueueConfig => json::add_ci_gate(text, &mut out),
        DocumentKind::RunConfig => json::add_run_config(text, &mut out),
        DocumentKind::Verification => json::add_verification(text, &mut out),
        DocumentKind::OrchestratorConfig => add_backpressure(text, &mut out),
        DocumentKind::VerifyCommands => add_verify_commands(text, &mut out),
        // No other document lists gates.
        _ => {}
    }
    out
}

fn add_ralphy_config(text: &str, out: &mut TaskOutline) {
    let mut aside = Vec::new();
    for YamlScalar { path, value, range } in yaml::scalars(text).into_iter().filter(is_set) {
        if let Some((_, name)) = COMMANDS.iter().find(|(key, _)| *key == path) {
            add_command(out, name, &value, range, None);
        } else if let Some((key, _)) = COMMANDS.iter().find(|(key, _)| is_below(&path, key)) {
            report_unread(out, key, tr!("takes one value. Write it as one line of text"), range);
        } else if path == "commands" && !value.is_empty() {
            report_unread(out, &path, tr!("takes keys below it. Write `test: …` there"), range);
        } else if !path.starts_with("project.") && !["", "false"].contains(&value.as_str()) {
            aside.push((key_of(&path), range));
        }
    }
    out.add_unsupported_keys(&aside);
}

fn is_below(path: &str, key: &str) -> bool {
    path.strip_prefix(key).is_some_and(|it| it.starts_with('.'))
}

/// Reports a value in which a check is lost.
fn report_unread(out: &mut TaskOutline, key: &str, fact: &str, range: Range<usize>) {
    out.add_finding(FindingCode::Syntax, key, fact, range);
}

/// `null` and `~` mean that there is no value.
fn is_set(it: &YamlScalar) -> bool {
    !matches!(it.value.as_str(), "null" | "~")
}

/// `boundaries.never_touch.0` is the key `boundaries.never_touch`.
fn key_of(path: &str) -> String {
    let is_name = |it: &&str| !it.starts_with(|first: char| first.is_ascii_digit());
    path.split('.').take(2).take_while(is_name).collect::<Vec<_>>().join(".")
}

/// `backpressure.gates` of `ralph.yml`: items with `name` and `command`.
fn add_backpressure(text: &str, out: &mut TaskOutline) {
    let scalars = yaml::scalars(text);
    let mut names: HashMap<&str, &str> = HashMap::new();
    for it in &scalars {
        if let Some(index) = gate_index(it, ".name") {
            names.entry(index).or_insert(&it.value);
        }
    }
    report_items_without_command(&scalars, out);
    for it in scalars.iter().filter(|it| is_set(it) && is_without_command(&it.path)) {
        let fact = tr!("takes a list. Write `- name: …` and `command: …` below it");
        report_unread(out, "backpressure.gates", fact, it.range.clone());
    }
    for command in &scalars {
        let Some(index) = gate_index(command, ".command").filter(|_| is_set(command)) else { continue };
        let name = names.get(index).copied().unwrap_or(&command.value);
        add_command(out, name, &command.value, command.range.clone(), None);
    }
}

/// Reports each gate with keys and without a command as one value.
fn report_items_without_command(scalars: &[YamlScalar], out: &mut TaskOutline) {
    let item_of = |it: &YamlScalar| {
        let (index, _) = it.path.strip_prefix("backpressure.gates.")?.split_once('.')?;
        Some(index.to_owned())
    };
    let mut known: HashSet<String> =
        scalars.iter().filter_map(|it| gate_index(it, ".command")).map(str::to_owned).collect();
    for it in scalars {
        if let Some(index) = item_of(it)
            && known.insert(index)
        {
            let fact = tr!("an item without `command: …` on one line");
            report_unread(out, "backpressure.gates", fact, it.range.clone());
        }
    }
}

/// A gate that is no mapping, or all gates in one value.
fn is_without_command(path: &str) -> bool {
    let below = path.strip_prefix("backpressure.gates");
    below.is_some_and(|it| it.is_empty() || it.strip_prefix('.').is_some_and(|it| !it.contains('.')))
}

/// The index of the gate that has this key.
fn gate_index<'a>(scalar: &'a YamlScalar, key: &str) -> Option<&'a str> {
    scalar.path.strip_prefix("backpressure.gates.")?.strip_suffix(key)
}

/// `verify_commands = ["npm test", …]` of `.ralph.toml`, at the top, in tables at any depth and in lists of tables.
fn add_verify_commands(text: &str, out: &mut TaskOutline) {
    const KEY: &str = "verify_commands";
    let is_read = |name: &str| name == KEY || name.strip_suffix(KEY).is_some_and(|it| it.ends_with('.'));
    let (document, _) = DeTable::parse_recoverable(text);
    let mut entries: Vec<(String, &Spanned<DeValue<'_>>)> = Vec::new();
    let top = document.get_ref().iter().map(|(key, it)| (key.get_ref().to_string(), it));
    let mut waiting: Vec<(String, &Spanned<DeValue<'_>>)> = top.collect();
    while let Some((path, value)) = waiting.pop() {
        match value.get_ref() {
            DeValue::Table(table) => {
                waiting.extend(table.iter().map(|(key, it)| (format!("{path}.{}", key.get_ref()), it)));
            }
            DeValue::Array(items) if !is_read(&path) && is_list_of_tables(items) => {
                waiting.extend(items.iter().map(|it| (path.clone(), it)));
            }
            _ => entries.push((path, value)),
        }
    }
    entries.sort_by_key(|(_, it)| it.span().start);
    for (_, value) in entries.iter().filter(|it| is_read(&it.0)) {
        match value.get_ref() {
            DeValue::Array(commands) => commands.iter().for_each(|it| add_verify_command(text, it, out)),
            _ => report_unread(out, KEY, no_list_of_commands(), value.span()),
        }
    }
    let aside = entries.iter().filter(|it| !is_read(&it.0)).map(|(name, it)| (name.clone(), it.span()));
    out.add_unsupported_keys(&aside.collect::<Vec<_>>());
}

fn is_list_of_tables(items: &[Spanned<DeValue<'_>>]) -> bool {
    !items.is_empty() && items.iter().all(|it| matches!(it.get_ref(), DeValue::Table(_)))
}

fn no_list_of_commands() -> &'static str {
    tr!("takes a list of commands. Write each in quotes")
}

/// A command, or a table of `command` and `name`. One that several tables list is one check.
fn add_verify_command(text: &str, value: &Spanned<DeValue<'_>>, out: &mut TaskOutline) {
    let written = |it: &Spanned<DeValue<'_>>| match it.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    let (name, command) = match value.get_ref() {
        DeValue::Table(table) => (table.get("name").and_then(written), table.get("command")),
        _ => (None, Some(value)),
    };
    let Some((command, place)) = command.and_then(|it| Some((written(it)?, it.span()))) else {
        return report_unread(out, "verify_commands", no_list_of_commands(), value.span());
    };
    add_command(out, name.as_ref().unwrap_or(&command), &command, range_in_quotes(text, place), None);
    if let Some((added, before)) = out.criteria.split_last()
        && before.iter().any(|it| it.criterion.check == added.criterion.check)
    {
        out.criteria.pop();
    }
}

/// The range of a string without its quotes.
fn range_in_quotes(text: &str, span: Range<usize>) -> Range<usize> {
    let written = text.get(span.clone()).unwrap_or_default();
    let quote =
        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|it| written.starts_with(it)).unwrap_or_default();
    let is_closed = written.len() > 2 * quote.len() && written.ends_with(quote);
    if is_closed { span.start + quote.len()..span.end - quote.len() } else { span }
}

fn add_command(
    out: &mut TaskOutline,
    name: &str,
    command: &str,
    range: Range<usize>,
    timeout_ms: Option<u64>,
) {
    if command.trim().is_empty() {
        return;
    }
    let inline = InlineContent::of_plain(command, &ByteOrigin::Whole(range.clone()));
    let mut item = prd::command_item(command, &inline).renamed(name);
    item.attributes.timeout_ms = timeout_ms;
    out.add_item(item, range, CriterionOrigin::default());
}

#[cfg(test)]
mod tests {
    use crate::criterion::Check;
    use crate::{FindingCode, TaskDocument, parse_task};

    pub(super) fn document(path: &str, text: &str) -> TaskDocument {
        TaskDocument { path: path.to_owned(), text: text.to_owned() }
    }

    pub(super) fn commands(path: &str, text: &str) -> Vec<(String, String, String)> {
        let task = parse_task(&[document("PROMPT.md", "# T\n"), document(path, text)]);
        let one = |it: &crate::criterion::Criterion| {
            let Some(Check::Command { command, .. }) = &it.check else { panic!("{it:?}") };
            (it.name.clone(), command.clone(), text[it.place.range.clone()].to_owned())
        };
        task.criteria.iter().map(one).collect()
    }

    pub(super) fn owned(name: &str, command: &str, place: &str) -> (String, String, String) {
        (name.to_owned(), command.to_owned(), place.to_owned())
    }

    #[test]
    fn the_commands_of_other_tools_are_criteria() {
        let ralphy = "project:\n  name: x\ncommands:\n  test: npm test\n  lint: \"\"\n  build: 'npm run build'\nrules: []\n";
        assert_eq!(
            commands(".ralphy/config.yaml", ralphy),
            [
                owned("The tests pass", "npm test", "npm test"),
                owned("The build succeeds", "npm run build", "'npm run build'")
            ]
        );
        let toml = "# x\n[loop]\nverify_commands = [\n  \"cargo test\", # all\n  'sh -c \"x\"',\n  \"echo \\\"a\\\"\",\n]\n";
        assert_eq!(
            commands(".ralph.toml", toml),
            [
                owned("cargo test", "cargo test", "cargo test"),
                owned("sh -c \"x\"", "sh -c \"x\"", "sh -c \"x\""),
                owned("echo \"a\"", "echo \"a\"", "echo \\\"a\\\"")
            ]
        );
        let check = "---\ncommand: uv run pytest -x\ntimeout: 60\nenabled: true\n---\nFix the tests.\n";
        assert_eq!(
            commands(".ralphify/checks/tests/CHECK.md", check),
            [owned("tests", "uv run pytest -x", "uv run pytest -x")]
        );
        assert_eq!(commands(".ralphify/checks/tests/CHECK.md", "---\ncommand: x\nenabled: false\n---\n"), []);
        let several = "[plan]\nverify_commands = [\"a\"]\n[build]\nverify_commands = [\"b\", \"a\"]\n[[step]]\nverify_commands = [\"c\"]\n[[step]]\nverify_commands = [\"d\"]\n";
        assert_eq!(commands(".ralph.toml", several), ["a", "b", "c", "d"].map(|it| owned(it, it, it)));
        assert_eq!(commands(".ralphy/config.yaml", "commands:\n  test: null\n  lint: ~\n"), []);
        let marked = "\u{feff}{\"agent\": {\"ci_gate\": {\"argv\": [\"make\"]}}}";
        assert_eq!(
            commands(".ralph/config.jsonc", marked),
            [owned("The CI gate passes", "make", "[\"make\"]")]
        );
        let queue =
            "{ // gate\n \"agent\": {\"ci_gate\": {\"enabled\": true, \"argv\": [\"make\", \"ci all\"]}}}";
        assert_eq!(
            commands(".ralph/config.jsonc", queue),
            [owned("The CI gate passes", "make 'ci all'", "[\"make\", \"ci all\"]")]
        );
    }

    #[test]
    fn verifiers_and_commands_of_json_files_are_criteria() {
        let shown = |path: &str, text: &str| {
            let task = parse_task(&[document("PRD.md", "# T\n"), document(path, text)]);
            let one = |it: &crate::criterion::Criterion| {
                format!("{} | {:?} | {}", it.name, it.check, &text[it.place.range.clone()])
            };
            task.criteria.iter().map(one).collect::<Vec<_>>().join("\n")
        };
        let config = "{\"runner\": \"vitest\", \"buildCommand\": \"npx tsc --noEmit\", \"testCommand\": \"npx vitest run\", \"mode\": \"tdd-strict\"}";
        let found = shown(".ralph/run-config.json", config);
        assert!(found.starts_with("The build succeeds | ") && found.ends_with("| npx vitest run"), "{found}");
        let without = shown(".ralph/run-config.json", &config.replace("tdd-strict", "skip-tests"));
        assert_eq!(without.lines().count(), 1, "{without}");
        let rules = "{\"defaults\": {\"verifiers\": [\"checkbox\", \"tsc\", {\"type\": \"fileExists\", \"args\": {\"path\": \"src/a b.ts\"}}, {\"type\": \"fileContains\", \"args\": {\"path\": \"a.ts\", \"content\": \"say \\\"x\\\"\"}}, {\"type\": \"diff\"}]}}";
        let found = shown(".ralph/verification.json", rules);
        assert_eq!(found.lines().count(), 3, "{found}");
        assert!(found.contains("The types are right") && found.contains("Exists"), "{found}");
        let cache =
            "{\"timestamp\": 1, \"level\": \"tsc\", \"healthy\": true, \"fileHashes\": {\"a\": \"b\"}}";
        assert_eq!(shown(".ralph/verification.json", cache), "");
    }

    #[test]
    fn keys_without_a_counterpart_are_named_once() {
        let check = |path: &str, text: &str, aside: &str, place: &str| {
            let task = parse_task(&[document("PROMPT.md", "# T\n"), document(path, text)]);
            let found = task.findings.iter().find(|it| it.code == FindingCode::UnsupportedKeys).expect(path);
            assert_eq!(found.message, format!("not used by loopkeeper: {aside}."));
            assert_eq!(&text[found.place.range.clone()], place);
        };
        let ralphy = "project:\n  name: x\nrules:\n  - a\n  - b\nboundaries:\n  never_touch: ['*.lock']\ncapabilities:\n  browser: false\n";
        check(".ralphy/config.yaml", ralphy, "rules, boundaries.never_touch", "a");
        let toml =
            "verify_commands = [\"a\", { name = \"B\", command = 'b' }]\nx = 1\n[workers]\ncount = 2\n";
        check(".ralph.toml", toml, "x, workers.count", "1");
        let queue = "{\"version\": 1, \"webhook\": {}, \"agent\": {\"runner\": \"codex\", \"model\": \"m\", \"ci_gate\": {}}}";
        check(".ralph/config.jsonc", queue, "webhook, agent.model", "\"webhook\": {}");
        assert_eq!(
            commands(".ralph.toml", toml),
            [
                ("a".to_owned(), "a".to_owned(), "a".to_owned()),
                ("B".to_owned(), "b".to_owned(), "b".to_owned())
            ]
        );
    }

    #[test]
    fn a_misspelt_runner_is_reported_with_its_correction() {
        let check = |runner: &str, expect: Option<&str>| {
            let text = format!("{{\"agent\": {{\"runner\": \"{runner}\", \"ci_gate\": {{}}}}}}");
            let task = parse_task(&[document("PROMPT.md", "# T\n"), document(".ralph/config.jsonc", &text)]);
            let found = task.findings.iter().find(|it| it.message.contains("Did you mean"));
            assert_eq!(found.and_then(|it| it.fix.as_deref()), expect, "{runner}");
            if let Some(found) = found {
                assert_eq!(&text[found.place.range.clone()], runner);
                assert!(task.settings.is_empty(), "{runner}");
            }
        };
        check("claud", Some("claude"));
        check("opencde", Some("opencode"));
        check("Codex", Some("codex"));
        check("codex", None);
        check("cursor", None);
        check("kimi", None);
        check("", None);
    }

    #[test]
    fn optional_sections_of_another_tool_do_not_block() {
        let rc = "export OPTIONAL_SECTIONS=\"Low Priority, Later\"\n";
        let plan = "## High\n\n- [ ] a\n\n## low priority\n\n- [ ] b\n\n### Deep\n\n- [ ] c\n\n## Future\n\n- [ ] d\n\n## Extra (optional)\n\n- [ ] e\n";
        let blocking = |documents: &[(&str, &str)]| {
            let documents: Vec<_> = documents.iter().map(|(path, text)| document(path, text)).collect();
            let task = parse_task(&documents);
            let open = task.plan.into_iter().filter(|it| it.blocking);
            open.map(|it| it.title).collect::<String>()
        };
        let (prompt, plan) = ((".ralph/PROMPT.md", "# T\n"), (".ralph/fix_plan.md", plan));
        assert_eq!(blocking(&[prompt, plan]), "abc");
        assert_eq!(blocking(&[prompt, plan, (".ralphrc", rc)]), "ad");
    }

    #[test]
    fn boxes_of_a_plan_of_another_tool_are_its_plan() {
        let text = "# Plan: Add\n\n## Validation Commands\n\n- `cargo test`\n\n### Task 1: Add it\n\n- [ ] write it\n- [x] test it\n";
        let task = parse_task(&[document("docs/plans/add.md", text)]);
        let plan: Vec<(&str, bool)> = task.plan.iter().map(|it| (it.title.as_str(), it.done)).collect();
        assert_eq!(plan, [("write it", false), ("test it", true)]);
        assert_eq!(task.criteria.len(), 1);
        assert_eq!(task.title, "Plan: Add");
    }
}
