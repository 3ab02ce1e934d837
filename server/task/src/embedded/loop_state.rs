//! Reads `.ralph/ralph-loop.state.json` of open-ralph-wiggum: the prompt of a loop, and its end condition.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use loopkeeper_text::tr;

use super::super::outline::TaskOutline;
use super::super::{FindingCode, WrittenSetting, prd};

/// Keys that are read, or say nothing about the task.
const KNOWN_KEYS: [&str; 8] = [
    "active",
    "iteration",
    "startedAt",
    "prompt",
    "maxIterations",
    "completionPromise",
    "tasksMode",
    "taskPromise",
];
/// Names of agents there, and those of loopkeeper.
const AGENTS: [(&str, &str); 5] = [
    ("claude-code", "claude"),
    ("codex", "codex"),
    ("copilot", "copilot"),
    ("cursor-agent", "cursor"),
    ("opencode", "opencode"),
];

pub(super) fn prompt(text: &str) -> Option<(String, Range<usize>)> {
    let text = prd::blank_byte_order_mark(text);
    let parsed = prd::parse_json(&text).ok()?;
    let prompt = parsed.value.as_ref()?.as_object()?.get_string("prompt")?;
    Some((prompt.value.to_string(), prompt.range.start..prompt.range.end))
}

pub(super) fn is_damaged(text: &str) -> bool {
    prd::parse_json(&prd::blank_byte_order_mark(text)).is_err()
}

/// Limits, promise and agent of the loop.
pub(in super::super) fn parse_loop_state(text: &str, out: &mut TaskOutline) {
    let text = prd::blank_byte_order_mark(text);
    let Ok(parsed) = prd::parse_json(&text) else { return };
    let Some(state) = parsed.value.as_ref().and_then(|it| it.as_object()) else { return };
    if let Some(promise) = state.get_string("completionPromise").filter(|it| !it.value.trim().is_empty()) {
        out.promise = Some(promise.value.to_string());
    }
    if let Some(limit) =
        state.get_number("maxIterations").filter(|it| it.value.parse::<u32>().is_ok_and(|it| it > 0))
    {
        add_setting(out, "limits.iterations", limit.value, limit.range.start..limit.range.end);
    }
    report_wrong_types(state, out);
    let agent = state.get_string("agent");
    let known = agent.and_then(|it| AGENTS.iter().find(|(name, _)| *name == it.value));
    if let (Some(agent), Some((_, name))) = (agent, known) {
        add_setting(out, "agent", name, agent.range.start..agent.range.end);
    }
    note_active(state, out);
    note_unsupported_keys(state, known.is_some(), out);
}

/// Reports settings that would otherwise be ignored silently. 0 means no limit there.
fn report_wrong_types(state: &Object<'_>, out: &mut TaskOutline) {
    let is_number = |it: &Value<'_>| it.as_number_lit().is_some_and(|it| it.value.parse::<u32>().is_ok());
    let is_text = |it: &Value<'_>| it.as_string_lit().is_some();
    let number = tr!("takes a whole number from 1");
    for (name, is_valid, fact) in [
        ("maxIterations", &is_number as &dyn Fn(&Value<'_>) -> bool, number),
        ("completionPromise", &is_text, tr!("takes text in quotes")),
        ("agent", &is_text, tr!("takes text in quotes")),
    ] {
        let value = state.get(name).map(|it| &it.value).filter(|it| it.as_null_keyword().is_none());
        if let Some(value) = value.filter(|it| !is_valid(it)) {
            out.add_finding(FindingCode::BadValue, name, fact, value.start()..value.end());
        }
    }
}

fn add_setting(out: &mut TaskOutline, key: &'static str, value: &str, range: Range<usize>) {
    let place = out.place(range);
    out.settings.push(WrittenSetting { key, value: value.to_owned(), place });
}

/// Reports a loop that is still active: two loops on one task would overwrite each other's work.
fn note_active(state: &Object<'_>, out: &mut TaskOutline) {
    let Some(active) = state.get_boolean("active").filter(|it| it.value) else { return };
    let iteration = state.get_number("iteration").map_or("?", |it| it.value);
    let fact = tr!("active at iteration {iteration}. End it before you start one here", iteration);
    out.add_finding(
        FindingCode::BadValue,
        tr!("loop of the other tool"),
        &fact,
        active.range.start..active.range.end,
    );
}

/// Names keys with a value that have no counterpart.
fn note_unsupported_keys(state: &Object<'_>, is_agent_known: bool, out: &mut TaskOutline) {
    let is_set = |it: &Value<'_>| match it {
        Value::NullKeyword(_) => false,
        Value::StringLit(it) => !it.value.is_empty(),
        Value::Array(it) => !it.elements.is_empty(),
        Value::NumberLit(it) => !["0", "1"].contains(&it.value),
        Value::BooleanLit(it) => it.value,
        Value::Object(_) => true,
    };
    let is_read = |it: &str| KNOWN_KEYS.contains(&it) || it == "agent" && is_agent_known;
    let aside = state.properties.iter().filter(|it| !is_read(it.name.as_str()) && is_set(&it.value));
    let aside = aside.map(|it| (it.name.as_str().to_owned(), it.name.start()..it.name.end()));
    out.add_unsupported_keys(&aside.collect::<Vec<_>>());
}
