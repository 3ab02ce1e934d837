//! Codex CLI: headless start, and parsing of its JSON lines.
//!
//! It reports tokens for the whole thread and never a cost. Its top-level `error` lines are retries and announcements,
//! and an item's `error` is a remark: only `turn.failed` is a failure.

pub mod hooks;
pub mod start;

use serde_json::Value;

use crate::fields::{denied_call, list, number, shorten_detail, status_in, text, text_at, tool_use};
use crate::provider;
use crate::{AgentEvent, ToolKind, ToolUse, TurnSummary};

/// Refusals by its settings, by a hook, and by its built-in command rules.
const REFUSALS: [&str; 3] = [
    "rejected by user approval settings",
    " blocked by PreToolUse hook: ",
    "CreateProcess { message: \"Rejected(",
];

/// The state between lines of one process.
#[derive(Debug, Default)]
pub struct CodexParser {
    last_text: String,
    /// The last error of the stream that nothing followed.
    error: Option<String>,
}

impl CodexParser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one line of stdout; lines without a type were filtered out before.
    pub(super) fn parse_line(&mut self, value: &Value) -> Vec<AgentEvent> {
        self.error = None;
        match text(value, "type") {
            "thread.started" => {
                let session = text(value, "thread_id").to_owned();
                vec![AgentEvent::Started { session, model: String::new() }]
            }
            "item.started" => parse_started_item(item(value)).into_iter().collect(),
            "item.completed" => self.parse_completed_item(item(value)),
            "error" => {
                let retry = parse_retry(text(value, "message"));
                self.error = retry.is_none().then(|| text(value, "message").to_owned());
                retry.into_iter().collect()
            }
            "turn.completed" => vec![AgentEvent::Turn(TurnSummary {
                session_tokens: thread_tokens(value),
                final_text: self.last_text.clone(),
                ..TurnSummary::default()
            })],
            "turn.failed" => vec![AgentEvent::Turn(TurnSummary {
                error: Some(provider::classify(text_at(value, "/error/message"), None)),
                final_text: self.last_text.clone(),
                ..TurnSummary::default()
            })],
            // Types of other versions carry nothing relevant.
            _ => Vec::new(),
        }
    }

    /// The error with which the stream ended, if it ended without the end of its turn.
    pub(crate) fn last_error(&self) -> Option<&str> {
        self.error.as_deref().filter(|it| !it.is_empty())
    }

    /// Resets the state, because the following lines belong to the next iteration.
    pub fn reset_iteration(&mut self) {
        self.last_text.clear();
    }

    /// Reads one line of stderr, the only place where refusals by its rules are reported.
    pub fn stderr_line(line: &str) -> Option<AgentEvent> {
        let (_, message) = line.split_once("error=")?;
        let is_refused = REFUSALS.iter().any(|it| message.contains(it));
        let tool = if message.starts_with("patch ") { "file_change" } else { "command_execution" };
        // A hook's refusal contains the command after the hook's message.
        let command = message.rsplit_once(". Command: ").map_or("", |it| it.1);
        let tool = denied_call(tool, &shorten_detail(command));
        is_refused.then(|| AgentEvent::Denied { tool, message: message.to_owned() })
    }

    fn parse_completed_item(&mut self, item: &Value) -> Vec<AgentEvent> {
        let failed = || AgentEvent::ToolFailed { text: text(item, "aggregated_output").to_owned() };
        let is_declined = text(item, "status") == "declined";
        match text(item, "type") {
            "agent_message" => {
                text(item, "text").clone_into(&mut self.last_text);
                vec![AgentEvent::Text(self.last_text.clone())]
            }
            kind @ ("command_execution" | "file_change" | "mcp_tool_call") if is_declined => {
                let message = text(item, "aggregated_output").to_owned();
                let tool = denied_call(kind, &shorten_detail(strip_shell_wrapper(text(item, "command"))));
                vec![AgentEvent::Denied { tool, message }]
            }
            "command_execution" if text(item, "status") == "failed" => vec![failed()],
            "file_change" if text(item, "status") == "completed" => {
                let change = |path: &str| AgentEvent::FileChange { path: path.to_owned(), within: None };
                paths(item).map(change).collect()
            }
            "file_change" => vec![AgentEvent::ToolFailed { text: "the patch was not applied".to_owned() }],
            "mcp_tool_call" if text(item, "status") == "failed" => {
                vec![AgentEvent::ToolFailed { text: text_at(item, "/error/message").to_owned() }]
            }
            _ => Vec::new(),
        }
    }
}

fn item(value: &Value) -> &Value {
    value.get("item").unwrap_or(&Value::Null)
}

fn parse_started_item(item: &Value) -> Option<AgentEvent> {
    let id = text(item, "id");
    let call = |act, tool: &str, detail: &str| {
        let (tool, call) = (tool.to_owned(), id.to_owned());
        ToolUse { act, tool, detail: shorten_detail(detail), call, within: None }
    };
    Some(AgentEvent::ToolUse(match text(item, "type") {
        kind @ "command_execution" => call(ToolKind::Run, kind, strip_shell_wrapper(text(item, "command"))),
        kind @ "file_change" => call(ToolKind::Edit, kind, &paths(item).collect::<Vec<_>>().join(" ")),
        "mcp_tool_call" => {
            call(ToolKind::Other, &format!("{}.{}", text(item, "server"), text(item, "tool")), "")
        }
        kind @ "web_search" => call(ToolKind::Search, kind, text(item, "query")),
        "collab_tool_call" => tool_use(text(item, "tool"), id, item, None),
        _ => return None,
    }))
}

fn paths(item: &Value) -> impl Iterator<Item = &str> {
    list(item, "changes").iter().map(|it| text(it, "path")).filter(|it| !it.is_empty())
}

/// `Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many Requests)`
fn parse_retry(message: &str) -> Option<AgentEvent> {
    let rest = message.strip_prefix("Reconnecting... ")?;
    let attempt = rest.split('/').next().and_then(|it| it.parse().ok()).unwrap_or(0);
    Some(AgentEvent::Retry { attempt, status: status_in(rest, "status: ") })
}

/// Removes the shell that every command is wrapped in: `/bin/bash -lc 'cargo test'`.
fn strip_shell_wrapper(command: &str) -> &str {
    let inner = command.split_once(" -lc ").or_else(|| command.split_once(" -c "));
    let Some((_, inner)) = inner.filter(|(shell, _)| shell.ends_with("sh") && !shell.contains(' ')) else {
        return command;
    };
    let quoted =
        |quote: char| inner.strip_prefix(quote)?.strip_suffix(quote).filter(|it| !it.contains(quote));
    quoted('\'').or_else(|| quoted('"')).unwrap_or(inner)
}

/// Totals of the whole thread. Cached tokens are already included in the input.
fn thread_tokens(value: &Value) -> Option<u64> {
    let usage = value.get("usage").filter(|it| it.is_object())?;
    Some(number(usage, "input_tokens").saturating_add(number(usage, "output_tokens")))
}

#[cfg(test)]
mod tests;
