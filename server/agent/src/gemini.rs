//! Starts Gemini CLI headlessly and parses its JSON lines. Its retries are reported on stderr.

pub mod hooks;
pub mod start;

use std::collections::HashMap;

use serde_json::Value;

use crate::fields::{denied_call, first_nonempty, number, status_in, text, text_at, tool_use};
use crate::message_chunks::MessageChunks;
use crate::{AgentEvent, ToolKind, ToolUse, TurnSummary, provider};

/// Maximum number of tool calls that are remembered until their result; more do not occur in practice.
const MAX_OPEN_CALLS: usize = 256;

/// The state between lines of one process.
#[derive(Debug, Default)]
pub struct GeminiParser {
    /// Open calls by their id.
    calls: HashMap<String, OpenToolCall>,
    chunks: MessageChunks,
    denied: u32,
    gave_up: bool,
    /// The last error that was reported before the result.
    error: String,
}

#[derive(Debug)]
struct OpenToolCall {
    tool: String,
    detail: String,
    /// The file that the call would write.
    path: Option<String>,
}

impl GeminiParser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one line of stdout; lines without a type were filtered out before.
    pub(super) fn parse_line(&mut self, value: &Value) -> Vec<AgentEvent> {
        let kind = text(value, "type");
        let mut events = Vec::new();
        if kind == "message" && text(value, "role") == "assistant" {
            self.chunks.push_chunk(text(value, "content"), &mut events);
            return events;
        }
        self.chunks.finish_message(&mut events);
        match kind {
            "init" => events.push(AgentEvent::Started {
                session: text(value, "session_id").to_owned(),
                model: text(value, "model").to_owned(),
            }),
            "tool_use" => events.push(AgentEvent::ToolUse(self.parse_tool_use(value))),
            "tool_result" => events.extend(self.parse_tool_result(value)),
            "result" => events.push(AgentEvent::Turn(self.parse_result(value))),
            // Errors that end a run are normally in its result.
            "error" => {
                text(value, "message").clone_into(&mut self.error);
                self.gave_up |= self.error.starts_with("Loop detected");
            }
            _ => {}
        }
        events
    }

    /// Reads one line of stderr: retries are reported nowhere else.
    pub fn stderr_line(line: &str) -> Option<AgentEvent> {
        let rest = line.strip_prefix("Attempt ")?;
        let (attempt, rest) = rest.split_once(' ')?;
        let attempt = attempt.parse().ok().filter(|_| rest.starts_with("failed"))?;
        Some(AgentEvent::Retry { attempt, status: status_in(rest, "status ") })
    }

    /// Flushes the pending output, because later lines belong to the next iteration.
    pub fn flush_iteration(&mut self) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        self.chunks.finish_message(&mut events);
        self.chunks = MessageChunks::default();
        self.denied = 0;
        events
    }

    /// Whether its loop detection was triggered. From then on it asks no model, whatever its stop hook returns.
    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up
    }

    fn parse_tool_use(&mut self, value: &Value) -> ToolUse {
        let input = value.get("parameters").unwrap_or(&Value::Null);
        let call = tool_use(text(value, "tool_name"), text(value, "tool_id"), input, None);
        if self.calls.len() < MAX_OPEN_CALLS {
            let path =
                Some(text(input, "file_path")).filter(|it| call.act == ToolKind::Edit && !it.is_empty());
            let (tool, detail) = (call.tool.clone(), call.detail.clone());
            let open = OpenToolCall { tool, detail, path: path.map(str::to_owned) };
            self.calls.insert(call.call.clone(), open);
        }
        call
    }

    fn parse_tool_result(&mut self, value: &Value) -> Option<AgentEvent> {
        let open = self.calls.remove(text(value, "tool_id"));
        if text(value, "status") != "error" {
            return open?.path.map(|path| AgentEvent::FileChange { path, within: None });
        }
        let message = text_at(value, "/error/message").to_owned();
        // If its list allows no command, it has no shell tool at all.
        let is_denied = match text_at(value, "/error/type") {
            "policy_violation" => true,
            "tool_not_registered" => {
                open.as_ref().is_some_and(|it| ToolKind::from_tool_name(&it.tool) == ToolKind::Run)
            }
            _ => false,
        };
        if is_denied {
            self.denied = self.denied.saturating_add(1);
            let tool = open.map_or_else(String::new, |it| denied_call(&it.tool, &it.detail));
            return Some(AgentEvent::Denied { tool, message });
        }
        Some(AgentEvent::ToolFailed { text: message })
    }

    fn parse_result(&mut self, value: &Value) -> TurnSummary {
        let stats = value.get("stats").filter(|it| it.is_object());
        // Only the total contains the tokens of its thoughts.
        let parts = |it: &Value| number(it, "input_tokens").saturating_add(number(it, "output_tokens"));
        let used = |it: &Value| parts(it).max(number(it, "total_tokens"));
        let error = std::mem::take(&mut self.error);
        let words = first_nonempty([text_at(value, "/error/message"), &error]);
        let (error, note) = match (text(value, "status"), text_at(value, "/error/type")) {
            // A turn cap is an early end, not an error.
            ("error", "FatalTurnLimitedError") => (None, Some(loopkeeper_text::sanitize::line(words))),
            ("error", _) => (Some(provider::classify(words, None)), None),
            _ => (None, None),
        };
        TurnSummary {
            final_text: self.chunks.last_message().to_owned(),
            tokens: stats.map(used),
            denials: self.denied,
            error,
            note,
            ..TurnSummary::default()
        }
    }
}

#[cfg(test)]
mod tests;
