//! Claude Code: headless start, and parsing of its stream-json line by line.
//!
//! A failed turn is classified by `is_error`, `terminal_reason`, `api_error_status` and the error code of the assistant
//! line; never by `subtype`, by free text or by the exit code alone.

mod cursor;
mod failure;
pub mod hook_install;
pub mod hooks;
pub mod settings;
pub mod start;

use std::collections::HashMap;

use serde_json::Value;

use crate::fields::{
    denied_call, first_nonempty, status, text, text_at, tool_detail, tool_use, usd_to_micros,
};
use crate::{AgentEvent, ToolKind, TurnSummary, provider};
use failure::{ClaudeFailure, UsageLimitRejection};

/// Maximum number of tool calls that are remembered until their result; more do not occur in practice.
const MAX_OPEN_CALLS: usize = 256;
/// Maximum denials of one turn that are described, because the same tool is often denied repeatedly.
const MAX_DENIALS: usize = 50;

/// The state between lines of one process.
#[derive(Debug, Default)]
pub struct ClaudeParser {
    /// Files that open tool calls would write, by call id.
    writes: HashMap<String, String>,
    /// The agent's last message, for turns whose `result` has none.
    last_text: String,
    /// The last error code of an assistant line in this turn.
    error: Option<String>,
    /// The last announced usage limit, if it rejects requests.
    limit: Option<UsageLimitRejection>,
}

impl ClaudeParser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one line of stdout; lines without a type were filtered out before.
    pub(super) fn parse_line(&mut self, value: &Value) -> Vec<AgentEvent> {
        match text(value, "type") {
            "system" => parse_system(value).into_iter().collect(),
            "assistant" => self.parse_assistant(value),
            "user" => self.parse_tool_results(value),
            "rate_limit_event" => self.parse_rate_limit(value).into_iter().collect(),
            "tool_call" => cursor::parse_tool_call(value),
            "error" => vec![AgentEvent::Turn(self.parse_error(value))],
            "result" => vec![AgentEvent::Turn(self.parse_result(value))],
            // Types of other versions carry nothing relevant.
            _ => Vec::new(),
        }
    }

    fn parse_assistant(&mut self, value: &Value) -> Vec<AgentEvent> {
        let within = value.get("parent_tool_use_id").and_then(Value::as_str);
        let is_own = within.is_none();
        if is_own && let Some(error) = value.get("error").and_then(Value::as_str) {
            // The text of such a line is the CLI's, not the agent's; the `result` repeats it.
            self.error = Some(error.to_owned());
            return Vec::new();
        }
        let mut events = Vec::new();
        for block in content_blocks(value) {
            match text(block, "type") {
                "text" if is_own => {
                    self.error = None;
                    text(block, "text").clone_into(&mut self.last_text);
                    events.push(AgentEvent::Text(self.last_text.clone()));
                }
                "tool_use" => events.push(self.parse_tool_use(block, within)),
                _ => {}
            }
        }
        events
    }

    fn parse_tool_use(&mut self, block: &Value, within: Option<&str>) -> AgentEvent {
        let input = block.get("input").unwrap_or(&Value::Null);
        let call = tool_use(text(block, "name"), text(block, "id"), input, within);
        if call.act == ToolKind::Edit {
            // The last one is used by Amp.
            let path = first_nonempty(["file_path", "notebook_path", "path"].map(|key| text(input, key)));
            if !path.is_empty() && self.writes.len() < MAX_OPEN_CALLS {
                self.writes.insert(call.call.clone(), path.to_owned());
            }
        }
        AgentEvent::ToolUse(call)
    }

    fn parse_tool_results(&mut self, value: &Value) -> Vec<AgentEvent> {
        let within = value.get("parent_tool_use_id").and_then(Value::as_str);
        content_blocks(value)
            .filter(|block| text(block, "type") == "tool_result")
            .filter_map(|block| {
                let path = self.writes.remove(text(block, "tool_use_id"));
                let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
                if failed {
                    return Some(AgentEvent::ToolFailed { text: tool_result_text(block) });
                }
                path.map(|path| AgentEvent::FileChange { path, within: within.map(str::to_owned) })
            })
            .collect()
    }

    fn parse_rate_limit(&mut self, value: &Value) -> Option<AgentEvent> {
        let info = value.get("rate_limit_info")?;
        let rejected = text(info, "status") == "rejected";
        let resets_at = provider::announced_time(info);
        self.limit = rejected.then_some(UsageLimitRejection { resets_at });
        Some(AgentEvent::Limit { rejected, resets_at })
    }

    /// An error that ended the process before any result.
    fn parse_error(&self, value: &Value) -> TurnSummary {
        let name = text_at(value, "/error/type");
        let message = first_nonempty([text(value, "message"), failure_message(value), name]);
        let words = if name.is_empty() { message.to_owned() } else { format!("{name}: {message}") };
        let mut failure = provider::classify(&words, None);
        failure.message = loopkeeper_text::sanitize::line(message);
        TurnSummary { final_text: self.last_text.clone(), error: Some(failure), ..TurnSummary::default() }
    }

    fn parse_result(&mut self, value: &Value) -> TurnSummary {
        let result_text = text(value, "result");
        // Older versions and Amp name a cap only here.
        let subtype = text(value, "subtype");
        let is_error = value.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        let is_error = is_error || (subtype.starts_with("error_") && result_text.is_empty());
        let error_code = self.error.take();
        let (error, note) = if is_error {
            let failure = ClaudeFailure {
                terminal_reason: first_nonempty([text(value, "terminal_reason"), reason_of_subtype(subtype)]),
                is_refusal: text(value, "stop_reason") == "refusal",
                status: status(value, "api_error_status"),
                code: error_code.as_deref().unwrap_or_default(),
                limit: self.limit,
                message: failure_message(value),
            };
            failure.classify()
        } else {
            (None, None)
        };
        // The `result` of a failed turn contains the CLI's message, not the agent's.
        let final_text =
            if is_error || result_text.is_empty() { self.last_text.clone() } else { result_text.to_owned() };
        // Qwen Code reports totals of the session.
        let of_session = value.pointer("/usage/total_tokens").and_then(Value::as_u64);
        TurnSummary {
            final_text,
            cost_micros: value.get("total_cost_usd").and_then(Value::as_f64).map(usd_to_micros),
            tokens: if of_session.is_none() { total_tokens(value) } else { None },
            session_tokens: of_session,
            denials: permission_denials(value).len() as u32,
            denied: permission_denials(value).iter().take(MAX_DENIALS).map(describe_denial).collect(),
            error,
            note,
        }
    }
}

/// The reason for caps that only the subtype names.
fn reason_of_subtype(subtype: &str) -> &'static str {
    match subtype {
        "error_max_turns" => "max_turns",
        "error_max_budget_usd" => "budget_exhausted",
        _ => "",
    }
}

fn parse_system(value: &Value) -> Option<AgentEvent> {
    match text(value, "subtype") {
        "init" => Some(AgentEvent::Started {
            session: text(value, "session_id").to_owned(),
            model: text(value, "model").to_owned(),
        }),
        "task_started" if text(value, "task_type") == "local_agent" => Some(AgentEvent::Spawned {
            call: text(value, "tool_use_id").to_owned(),
            id: text(value, "task_id").to_owned(),
            what: text(value, "description").to_owned(),
        }),
        "permission_denied" => Some(AgentEvent::Denied {
            tool: text(value, "tool_name").to_owned(),
            message: text(value, "message").to_owned(),
        }),
        "api_retry" => Some(AgentEvent::Retry {
            attempt: value.get("attempt").and_then(Value::as_u64).unwrap_or(0) as u32,
            status: status(value, "error_status"),
        }),
        _ => None,
    }
}

fn content_blocks(value: &Value) -> impl Iterator<Item = &Value> {
    value.pointer("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter()
}

/// The text of a tool's result, which is one string or a list of blocks of which some are text.
fn tool_result_text(result: &Value) -> String {
    let parts = match result.get("content") {
        Some(Value::String(whole)) => return whole.clone(),
        Some(Value::Array(parts)) => parts.as_slice(),
        _ => &[],
    };
    parts.iter().map(|part| text(part, "text")).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
}

fn permission_denials(value: &Value) -> &[Value] {
    value.get("permission_denials").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The description of a denied call: `Bash: git push`.
fn describe_denial(denial: &Value) -> String {
    denied_call(text(denial, "tool_name"), &tool_detail(denial.get("tool_input").unwrap_or(&Value::Null)))
}

/// The CLI's own message about a failed turn.
fn failure_message(value: &Value) -> &str {
    // The last two are used by Qwen Code and Amp.
    first_nonempty(["/result", "/errors/0", "/error/message", "/error"].map(|it| text_at(value, it)))
}

/// `usage` covers only the last turn; `modelUsage` covers the process, as the cost does.
fn total_tokens(value: &Value) -> Option<u64> {
    const PER_MODEL: [&str; 4] =
        ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
    const TURN_TOKEN_FIELDS: [&str; 4] =
        ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    const CURSOR_TOKEN_FIELDS: [&str; 4] =
        ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
    let count = |of: &Value, key: &str| of.get(key).and_then(Value::as_u64);
    let sum = |of: &Value, keys: [&str; 4]| {
        keys.into_iter().filter_map(|key| count(of, key)).reduce(u64::saturating_add)
    };
    if let Some(models) = value.get("modelUsage").and_then(Value::as_object) {
        return Some(models.values().filter_map(|it| sum(it, PER_MODEL)).fold(0, u64::saturating_add));
    }
    // Older versions and other agents report only this.
    let usage = value.get("usage")?;
    sum(usage, TURN_TOKEN_FIELDS).or_else(|| sum(usage, CURSOR_TOKEN_FIELDS))
}

#[cfg(test)]
mod tests;
