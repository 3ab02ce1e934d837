//! Parses the tool calls of Cursor, whose output otherwise has the format of Claude Code.

use serde_json::Value;

use crate::fields::{denied_call, text, tool_detail, tool_use};
use crate::{AgentEvent, ToolKind};

/// `{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"writeToolCall":{"args":{"path":"a"}}}}`
pub(super) fn parse_tool_call(value: &Value) -> Vec<AgentEvent> {
    let call = value.get("tool_call").and_then(Value::as_object);
    let Some((name, call)) = call.and_then(|it| it.iter().find(|(name, _)| name.ends_with("ToolCall")))
    else {
        return Vec::new();
    };
    let tool = name.trim_end_matches("ToolCall");
    let args = call.get("args").unwrap_or(&Value::Null);
    let result = call.get("result").unwrap_or(&Value::Null);
    match text(value, "subtype") {
        "started" => vec![AgentEvent::ToolUse(tool_use(tool, text(value, "call_id"), args, None))],
        "completed" if ["rejected", "permissionDenied"].iter().any(|it| result.get(it).is_some()) => {
            let tool = denied_call(tool, &tool_detail(args));
            vec![AgentEvent::Denied { tool, message: result.to_string() }]
        }
        "completed" if result.get("success").is_none() && result.is_object() => {
            vec![AgentEvent::ToolFailed { text: result.to_string() }]
        }
        "completed" if ToolKind::from_tool_name(tool) == ToolKind::Edit && !text(args, "path").is_empty() => {
            vec![AgentEvent::FileChange { path: text(args, "path").to_owned(), within: None }]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::kind::Dialect;
    use crate::reader::AgentOutputReader;
    use crate::{AgentEvent, ToolKind};

    fn line(subtype: &str, call: &str) -> Vec<AgentEvent> {
        let line =
            format!(r#"{{"type":"tool_call","subtype":"{subtype}","call_id":"c","tool_call":{call}}}"#);
        AgentOutputReader::new(Dialect::Claude).read_line(&line)
    }

    #[test]
    fn tools_of_cursor_are_reported_at_start_and_end() {
        let started = line("started", r#"{"shellToolCall":{"args":{"command":"ls"}}}"#);
        let [AgentEvent::ToolUse(call)] = started.as_slice() else { panic!("{started:?}") };
        assert_eq!((call.act, call.detail.as_str(), call.call.as_str()), (ToolKind::Run, "ls", "c"));
        let done = |result: &str| {
            line("completed", &format!(r#"{{"writeToolCall":{{"args":{{"path":"a"}},"result":{result}}}}}"#))
        };
        let changed = AgentEvent::FileChange { path: "a".to_owned(), within: None };
        assert_eq!(done(r#"{"success":{}}"#), [changed]);
        for refused in [r#"{"rejected":{"reason":"no"}}"#, r#"{"permissionDenied":{"command":"git push"}}"#] {
            let events = done(refused);
            assert!(matches!(events.as_slice(), [AgentEvent::Denied { tool, .. }] if tool == "write: a"));
        }
        assert!(matches!(done(r#"{"error":{}}"#).as_slice(), [AgentEvent::ToolFailed { .. }]));
        assert_eq!(line("started", "{}"), []);
    }
}
