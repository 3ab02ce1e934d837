//! Finds why a file with gates cannot be read, so that a damaged file never counts as one without gates.

use std::collections::HashSet;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use loopkeeper_text::{tr, yaml};
use toml::de::DeTable;

use super::folders;
use super::ralphrc::unquoted_value;
use crate::kind::DocumentKind;
use crate::prd;

pub(super) fn is_json(kind: DocumentKind) -> bool {
    matches!(
        kind,
        DocumentKind::QueueConfig
            | DocumentKind::RunConfig
            | DocumentKind::Verification
            | DocumentKind::LoopState
    )
}

/// The first syntax error of a file, and its byte offset.
pub(super) fn syntax_error(kind: DocumentKind, text: &str) -> Option<(String, usize)> {
    match kind {
        DocumentKind::RalphyConfig | DocumentKind::OrchestratorConfig => yaml::parse(text).fault,
        DocumentKind::CheckFolder | DocumentKind::ContextFolder | DocumentKind::InstructionFolder => {
            folders::front_matter_fault(text)
        }
        DocumentKind::VerifyCommands => {
            let error = DeTable::parse(text).err()?;
            let message = error.message().lines().next().unwrap_or_default();
            Some((message.to_owned(), error.span().map_or(0, |it| it.start)))
        }
        DocumentKind::Ralphrc => unclosed_quote(text),
        _ if is_json(kind) => json_error(text),
        _ => None,
    }
}

fn json_error(text: &str) -> Option<(String, usize)> {
    let parsed = match prd::parse_json(text) {
        Ok(parsed) => parsed,
        Err(error) => return Some((error.kind().to_string(), error.range().start)),
    };
    match &parsed.value {
        Some(root @ Value::Object(_)) => repeated_key(root),
        Some(other) => Some((tr!("no object in braces").to_owned(), other.start())),
        None => Some((tr!("no object in braces").to_owned(), 0)),
    }
}

/// Of repeated keys other tools read the last one, which is perhaps not the one that the user means.
fn repeated_key(value: &Value<'_>) -> Option<(String, usize)> {
    match value {
        Value::Object(object) => {
            let mut known: HashSet<&str> = HashSet::new();
            object.properties.iter().find_map(|it| {
                let key = it.name.as_str();
                if known.insert(key) {
                    return repeated_key(&it.value);
                }
                Some((tr!("`{key}` is written twice", key), it.range.start))
            })
        }
        Value::Array(list) => list.elements.iter().find_map(repeated_key),
        Value::StringLit(_) | Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => None,
    }
}

/// A command of a `.ralphrc` with a quote that is not closed in its line.
fn unclosed_quote(text: &str) -> Option<(String, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let assigned = line.trim_start_matches('\u{feff}').trim_start();
        let assigned = assigned.strip_prefix("export ").unwrap_or(assigned);
        let Some((key, value)) = assigned.split_once('=') else { continue };
        let is_command = ["TEST_COMMAND", "QUALITY_GATES"].contains(&key);
        let value = value.trim();
        let is_open = value.starts_with(['"', '\'']) && unquoted_value(value) == value;
        if is_command && is_open {
            return Some((tr!("`{key}` has a quote that its line does not close", key), start));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::criterion::Check;
    use crate::{FindingCode, TaskDocument, parse_task};

    fn document(path: &str, text: &str) -> TaskDocument {
        TaskDocument { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let check = |path: &str, text: &str, line: usize| {
            let task = parse_task(&[document("PROMPT.md", "# T\n"), document(path, text)]);
            let found = task.findings.iter().find(|it| it.code == FindingCode::Syntax).expect(text);
            let before = text.get(..found.place.range.start).expect("a boundary");
            assert_eq!(before.matches('\n').count() + 1, line, "{path}: {found:?}");
            assert!(task.criteria.is_empty(), "{path}");
        };
        check(".ralphy/config.yaml", "commands:\n  lint: x\n  test: \"npm test\n", 3);
        check(".ralphy/config.yaml", "commands:\n  test: x\n  test: y\n", 3);
        check(".ralph.toml", "verify_commands = [\"a\"\nx = 1\n", 2);
        check(".ralph/config.jsonc", "{\"agent\": {\"ci_gate\": {\"argv\": [\"make\"]}}", 1);
        check(".ralph/config.jsonc", "{\"agent\": {},\n \"agent\": {}}", 2);
        check(".ralph/config.jsonc", "", 1);
        check(".ralph/run-config.json", "[\"make\"]", 1);
        check(".ralph/verification.json", "{\"verifiers\": [\"tsc\", }", 1);
        check(".ralphrc", "A=1\nTEST_COMMAND=\"npm te", 2);
        let folder = ".ralphify/checks/a/CHECK.md";
        check(folder, "---\ntimeout: 3\ncommand: \"pytest\n---\nFix.\n", 3);
        check(folder, "---\ncommand: pytest\n", 2);
        check(folder, "---\r\ncommand: a\r\ncommand: b\r\n---\r\n", 3);
        check(".ralphify/contexts/a/CONTEXT.md", "---\ncommand: [git\n---\n", 3);
        check(".ralph/ralph-loop.state.json", "{\"prompt\": \"a\", \"maxIt", 1);
    }

    #[test]
    fn a_damaged_configuration_in_the_root_is_reported_with_the_settings() {
        let text = "backpressure:\n  gates:\n    - command: a\n    - command: \"b\n";
        let read = |folder: &str| {
            let documents = ["PROMPT.md", "ralph.yml"].map(|it| format!("{folder}{it}"));
            parse_task(&[document(&documents[0], "# T\n"), document(&documents[1], text)])
        };
        let (root, package) = (read(""), read("web/"));
        let count = |it: &crate::Task| it.findings.iter().filter(|it| it.code == FindingCode::Syntax).count();
        assert_eq!((count(&root), count(&package)), (0, 1));
        assert!(root.criteria.is_empty() && package.criteria.is_empty());
    }

    #[test]
    fn a_damaged_loop_is_a_task_that_cannot_start() {
        let path = ".ralph/ralph-loop.state.json";
        let text = "{\"prompt\": \"Sell.\", \"maxIterations\": 7";
        assert!(crate::is_task_text(crate::DocumentKind::LoopState, text));
        let task = parse_task(&[document(path, text)]);
        assert!(task.findings.iter().any(|it| it.code.blocks_start()), "{:?}", task.findings);
        assert_eq!(task.findings.len(), 1, "{:?}", task.findings);
        let wrong = "{\"prompt\": \"Sell.\", \"maxIterations\": \"7\", \"completionPromise\": 3}";
        let task = parse_task(&[document(path, wrong)]);
        let found: Vec<&str> = task.findings.iter().map(|it| it.message.as_str()).collect();
        assert!(found.contains(&"maxIterations: takes a whole number from 1."), "{found:?}");
        assert!(found.contains(&"completionPromise: takes text in quotes."), "{found:?}");
    }

    #[test]
    fn a_check_of_another_form_is_an_error() {
        let check = |path: &str, text: &str, place: &str| {
            let task = parse_task(&[document("PROMPT.md", "# T\n"), document(path, text)]);
            let found = task.findings.iter().find(|it| it.code == FindingCode::Syntax).expect(text);
            assert_eq!(&text[found.place.range.clone()], place, "{}", found.message);
            assert!(task.criteria.is_empty(), "{text}");
        };
        check(".ralph.toml", "verify_commands = \"x\"\n", "\"x\"");
        check(".ralph.toml", "verify_commands = [5]\n", "5");
        check(".ralphy/config.yaml", "commands: npm test\n", "npm test");
        check(".ralphy/config.yaml", "commands:\n  test: [npm, test]\n", "npm");
        check("ralph.yml", "backpressure:\n  gates: cargo test\n", "cargo test");
        check("ralph.yml", "backpressure:\n  gates:\n    - cargo test\n", "cargo test");
        check("ralph.yml", "backpressure:\n  gates:\n    - name: t\n      command: [npm, test]\n", "t");
        check("ralph.yml", "backpressure:\n  gates:\n    - name: t\n      run: npm test\n", "t");
        check(".ralph/config.jsonc", "{\"agent\": {\"ci_gate\": {\"argv\": \"make ci\"}}}", "\"make ci\"");
        check(".ralph/config.jsonc", "{\"agent\": {\"ci_gate\": {\"argv\": [\"make\", 5]}}}", "5");
        check(".ralph/config.jsonc", "{\"agent\": {\"ci_gate\": \"make\"}}", "\"make\"");
        check(".ralph/run-config.json", "{\"testCommand\": [\"make\"]}", "[\"make\"]");
        check(".ralph/verification.json", "{\"verifiers\": \"tsc\"}", "\"tsc\"");
        check(".ralphify/checks/a/CHECK.md", "---\ncommand: [pytest, -x]\n---\n", "pytest");
    }

    #[test]
    fn marks_and_line_ends_of_other_systems_are_no_damage() {
        let check = |path: &str, text: &str| {
            for text in [format!("\u{feff}{text}"), text.replace('\n', "\r\n")] {
                let task = parse_task(&[document("PROMPT.md", "# T\n"), document(path, &text)]);
                let commands: Vec<&Check> = task.criteria.iter().filter_map(|it| it.check.as_ref()).collect();
                let make = Check::Command { command: "make ci".to_owned(), expect: Vec::new() };
                assert_eq!(commands, [&make], "{text:?}");
                let found = &task.findings;
                assert!(found.iter().all(|it| it.code != FindingCode::Syntax), "{path}: {found:?}");
            }
        };
        check(".ralphy/config.yaml", "commands:\n  test: make ci\n");
        check("ralph.yml", "backpressure:\n  gates:\n    - command: make ci\n");
        check(".ralph.toml", "verify_commands = [\"make ci\"]\n");
        check(".ralphrc", "TEST_COMMAND=\"make ci\"\n");
        check(".ralph/config.jsonc", "{\"agent\":\n {\"ci_gate\": {\"argv\": [\"make\", \"ci\"]}}}\n");
        check(".ralph/run-config.json", "{\"testCommand\":\n \"make ci\"}\n");
        check(".ralphify/checks/a/CHECK.md", "---\ncommand: make ci\n---\nFix.\n");
    }
}
