//! Reads fields of the JSON lines that agents print. A field that is missing or of another type is absent.

use serde_json::Value;

use super::{AgentEvent, ToolKind, ToolUse};
use loopkeeper_text::{sanitize, surrogates};

const DETAIL_CHARS: usize = 120;

/// Parses one line in a dialect: an object with a type, or an array of such objects.
pub(super) fn parse_typed_line(
    line: &str,
    mut read: impl FnMut(&Value) -> Vec<AgentEvent>,
) -> Vec<AgentEvent> {
    if line.trim().is_empty() {
        return Vec::new();
    }
    match parse_typed(line).or_else(|| parse_typed(&strip_terminal_output(line)?)) {
        Some(Value::Array(events)) => events.iter().flat_map(read).collect(),
        Some(event) => read(&event),
        None => vec![AgentEvent::Unread(line.to_owned())],
    }
}

fn parse_typed(line: &str) -> Option<Value> {
    let is_typed = |it: &Value| !text(it, "type").is_empty();
    let value = parse_json(line)?;
    let is_event = match &value {
        Value::Array(events) => !events.is_empty() && events.iter().all(is_typed),
        event => is_typed(event),
    };
    is_event.then_some(value)
}

/// Parses JSON. Programs that keep text in UTF-16 may cut an emoji in half, which is no reason to lose the line.
pub(super) fn parse_json(text: &str) -> Option<Value> {
    surrogates::parse_json(text.as_bytes()).ok()
}

/// Removes what a program prints around its JSON for terminals: escape sequences, a progress line that the carriage
/// return overwrites, a byte order mark. `None` if there is no such line.
fn strip_terminal_output(line: &str) -> Option<String> {
    let is_mark = |it: char| it.is_control() || it == '\u{feff}';
    if !line.contains(is_mark) {
        return None;
    }
    // Stripping turns a lone carriage return into a line end.
    let plain = sanitize::strip_escapes(line.trim_end());
    let last = plain.rsplit('\n').next().unwrap_or_default();
    Some(last.trim_matches(is_mark).to_owned())
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The first non-empty text.
pub(super) fn first_nonempty<'a>(texts: impl IntoIterator<Item = &'a str>) -> &'a str {
    texts.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
}

pub(super) fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

pub(super) fn status(value: &Value, key: &str) -> Option<u16> {
    value.get(key).and_then(Value::as_u64).and_then(|it| u16::try_from(it).ok())
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn usd_to_micros(usd: f64) -> u64 {
    if usd.is_finite() && usd > 0.0 { (usd * 1e6).round() as u64 } else { 0 }
}

/// Builds the event of a tool call, classified by the tool's name and input.
pub(super) fn tool_use(tool: &str, call: &str, input: &Value, within: Option<&str>) -> ToolUse {
    ToolUse {
        act: ToolKind::from_tool_name(tool),
        tool: tool.to_owned(),
        detail: tool_detail(input),
        call: call.to_owned(),
        within: within.filter(|it| !it.is_empty()).map(str::to_owned),
    }
}

/// The arguments of a tool call in one short line.
pub(super) fn tool_detail(input: &Value) -> String {
    const KEYS: [&str; 13] = [
        "command",
        "cmd",
        "file_path",
        "filePath",
        "notebook_path",
        "absolute_path",
        "path",
        "dir_path",
        "pattern",
        "description",
        "url",
        "query",
        "prompt",
    ];
    shorten_detail(first_nonempty(KEYS.map(|key| text(input, key))))
}

/// The text of a denied call: `Bash: git push`.
pub(super) fn denied_call(tool: &str, detail: &str) -> String {
    if detail.is_empty() { tool.to_owned() } else { format!("{tool}: {detail}") }
}

pub(super) fn shorten_detail(text: &str) -> String {
    sanitize::line_within(text, DETAIL_CHARS)
}

/// Parses the status after `before` in a message.
pub(super) fn status_in(words: &str, before: &str) -> Option<u16> {
    let (_, rest) = words.split_once(before)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|it| (100..600).contains(it))
}
