//! Reads gates from JSON files of other tools.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use loopkeeper_text::closest::closest;
use loopkeeper_text::shell_word::quoted;
use loopkeeper_text::{DocumentRange, tr};

use super::{add_command, range_in_quotes, report_unread};
use crate::grammar::{self, ItemMode};
use crate::item::{ByteOrigin, InlineContent};
use crate::outline::{CriterionOrigin, TaskOutline};
use crate::prd;
use crate::{Finding, FindingCode, WrittenSetting};

/// Agents that loopkeeper knows by the same name.
const RUNNERS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// `agent.ci_gate.argv`, unless it is disabled.
pub(super) fn add_ci_gate(text: &str, out: &mut TaskOutline) {
    let Ok(parsed) = prd::parse_json(text) else { return };
    let Some(root) = parsed.value.as_ref().and_then(|it| it.as_object()) else { return };
    let agent = object_in(root, "agent", out);
    let gate = agent.and_then(|it| object_in(it, "ci_gate", out));
    let gate = gate.filter(|it| it.get_boolean("enabled").is_none_or(|it| it.value));
    if let Some(argv) = gate.and_then(|it| list_in(it, "argv", out)) {
        if let Some(other) = argv.elements.iter().find(|it| it.as_string_lit().is_none()) {
            return report_unread(out, "argv", tr!("takes text in quotes"), other.start()..other.end());
        }
        let words: Vec<String> =
            argv.elements.iter().filter_map(|it| it.as_string_lit()).map(|it| quoted(&it.value)).collect();
        add_command(out, "The CI gate passes", &words.join(" "), argv.range.start..argv.range.end, None);
    }
    let of_root =
        root.properties.iter().filter(|it| !["agent", "version", "$schema"].contains(&it.name.as_str()));
    let of_root = of_root.map(|it| (it.name.as_str().to_owned(), it.range.start..it.range.end));
    let runner = agent.and_then(|it| it.get_string("runner"));
    let is_used = runner.is_some_and(|it| {
        let place = out.place(range_in_quotes(text, it.range.start..it.range.end));
        read_runner(&it.value, place, out)
    });
    let is_read = |it: &str| it == "ci_gate" || it == "runner" && is_used;
    let of_agent = agent.into_iter().flat_map(|it| &it.properties).filter(|it| !is_read(it.name.as_str()));
    let of_agent = of_agent.map(|it| (format!("agent.{}", it.name.as_str()), it.range.start..it.range.end));
    out.add_unsupported_keys(&of_root.chain(of_agent).collect::<Vec<_>>());
}

/// A value that is not `null`.
fn value_in<'a>(object: &'a Object<'a>, key: &str) -> Option<&'a Value<'a>> {
    object.get(key).map(|it| &it.value).filter(|it| it.as_null_keyword().is_none())
}

fn object_in<'a>(object: &'a Object<'a>, key: &str, out: &mut TaskOutline) -> Option<&'a Object<'a>> {
    let value = value_in(object, key)?;
    if value.as_object().is_none() {
        report_unread(out, key, tr!("takes keys in braces"), value.start()..value.end());
    }
    value.as_object()
}

fn list_in<'a>(object: &'a Object<'a>, key: &str, out: &mut TaskOutline) -> Option<&'a Array<'a>> {
    let value = value_in(object, key)?;
    if value.as_array().is_none() {
        report_unread(out, key, tr!("takes a list in brackets"), value.start()..value.end());
    }
    value.as_array()
}

/// Sets the agent, or names the one that is probably meant; false if it is another one. Information only: the file belongs
/// to another tool.
fn read_runner(value: &str, place: DocumentRange, out: &mut TaskOutline) -> bool {
    if RUNNERS.contains(&value) {
        out.settings.push(WrittenSetting { key: "agent", value: value.to_owned(), place });
        return true;
    }
    let Some(near) = closest(value, RUNNERS).filter(|_| value.is_ascii()) else { return false };
    let message = tr!(
        "`{name}`: there is no agent `{value}`. Did you mean `{near}`?",
        name = "agent.runner",
        value,
        near
    );
    out.findings.push(Finding {
        code: FindingCode::UnsupportedKeys,
        message,
        place,
        fix: Some(near.to_owned()),
    });
    true
}

/// `buildCommand` and `testCommand` of `.ralph/run-config.json`.
pub(super) fn add_run_config(text: &str, out: &mut TaskOutline) {
    let Ok(parsed) = prd::parse_json(text) else { return };
    let Some(root) = parsed.value.as_ref().and_then(|it| it.as_object()) else { return };
    let skips_tests = root.get_string("mode").is_some_and(|it| it.value == "skip-tests");
    for (key, name) in [("buildCommand", "The build succeeds"), ("testCommand", "The tests pass")] {
        let Some(value) = value_in(root, key).filter(|_| key != "testCommand" || !skips_tests) else {
            continue;
        };
        let Some(command) = value.as_string_lit() else {
            report_unread(out, key, tr!("takes text in quotes"), value.start()..value.end());
            continue;
        };
        let range = range_in_quotes(text, command.range.start..command.range.end);
        add_command(out, name, &command.value, range, None);
    }
}

/// `verifiers` of `.ralph/verification.json`, at the top or in `defaults`. The same file can be a cache without any.
pub(super) fn add_verification(text: &str, out: &mut TaskOutline) {
    let Ok(parsed) = prd::parse_json(text) else { return };
    let Some(root) = parsed.value.as_ref().and_then(|it| it.as_object()) else { return };
    let of_root = list_in(root, "verifiers", out);
    let found = of_root.or_else(|| list_in(root.get_object("defaults")?, "verifiers", out));
    let mut aside = Vec::new();
    for verifier in found.map_or(&[][..], |it: &Array<'_>| it.elements.as_slice()) {
        let place = verifier.start()..verifier.end();
        let name = match verifier {
            Value::StringLit(name) => Some((&*name.value, None)),
            Value::Object(it) => it.get_string("type").map(|name| (&*name.value, it.get_object("args"))),
            _ => None,
        };
        let Some((name, args)) = name else { continue };
        // The boxes are read from the plan.
        if name != "checkbox" && !add_verifier(name, args, &place, out) {
            aside.push((name.to_owned(), place));
        }
    }
    out.add_unsupported_keys(&aside);
}

/// Adds the check with the meaning of a verifier; false if there is none.
fn add_verifier(name: &str, args: Option<&Object<'_>>, place: &Range<usize>, out: &mut TaskOutline) -> bool {
    let arg = |key: &str| args.and_then(|it| it.get_string(key)).map(|it| it.value.to_string());
    let glob = |it: &str| if it.contains([' ', '"']) { format!("{it:?}") } else { it.to_owned() };
    let command = match name {
        // Without the option, npx downloads an unrelated package of this name where TypeScript is not installed.
        "tsc" => Some("npx --no-install tsc --noEmit".to_owned()),
        "vitest" => Some("npx vitest run".to_owned()),
        "commandExitCode" | "custom" => arg("command"),
        _ => None,
    };
    if let Some(command) = command {
        add_command(out, verifier_title(name, &command), &command, place.clone(), None);
        return true;
    }
    let check = match (name, arg("path"), arg("content")) {
        ("fileExists", Some(path), _) => format!("exists {}", glob(&path)),
        ("fileContains", Some(path), Some(content)) => {
            let content = content.replace('\\', "\\\\").replace('"', "\\\"");
            format!("has \"{content}\" {}", glob(&path))
        }
        _ => return false,
    };
    let line = format!("{name}: `{check}`");
    let inline = InlineContent::of_plain(&line, &ByteOrigin::Whole(place.clone()));
    let item = grammar::parse_item(&inline, ItemMode::Criterion);
    let is_check = item.check.is_some();
    if is_check {
        out.add_item(item, place.clone(), CriterionOrigin::default());
    }
    is_check
}

fn verifier_title<'a>(verifier: &'a str, command: &'a str) -> &'a str {
    match verifier {
        "tsc" => "The types are right",
        "vitest" => "The tests pass",
        _ => command,
    }
}
