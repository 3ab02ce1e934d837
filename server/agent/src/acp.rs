//! Reads the output of the bridge (see [`client`]) to any agent that implements the Agent Client Protocol, line by line.

mod call;
pub mod client;
pub mod policy;
pub mod start;

use std::collections::HashMap;

use serde_json::Value;

use crate::fields::{first_nonempty, list, text};
use crate::message_chunks::MessageChunks;
use crate::provider::{self, ProviderFailure};
use crate::{AgentEvent, ProviderClass, TurnSummary};
use call::AcpToolCall;
use loopkeeper_text::{sanitize, tr};

/// Maximum number of calls that are remembered until they end; more do not occur in practice.
const MAX_OPEN_CALLS: usize = 256;
/// The protocol's error code for a missing login.
const AUTH_REQUIRED: i64 = -32_000;

/// The state between lines of one process.
#[derive(Debug, Default)]
pub struct AcpParser {
    chunks: MessageChunks,
    /// The id of the message that is being streamed, if the agent reports it.
    message: String,
    /// Open calls by their id, and whether they were reported.
    calls: HashMap<String, (AcpToolCall, bool)>,
}

impl AcpParser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one line of stdout; lines without a type were filtered out before.
    pub(super) fn parse_line(&mut self, value: &Value) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        match (text(value, "type"), text(value, "sessionUpdate")) {
            ("session", _) => events.push(AgentEvent::Started {
                session: text(value, "id").to_owned(),
                model: text(value, "model").to_owned(),
            }),
            ("denied", _) => {
                self.chunks.finish_message(&mut events);
                let (tool, message) = (text(value, "what").to_owned(), text(value, "why").to_owned());
                events.push(AgentEvent::Denied { tool, message });
            }
            ("turn", _) => self.parse_turn_end(value, &mut events),
            ("failed", _) => {
                self.chunks.finish_message(&mut events);
                events.push(AgentEvent::Turn(self.turn_summary(Some(parse_provider_failure(value)), None)));
            }
            (_, "agent_message_chunk") => self.push_message_chunk(value, &mut events),
            (_, "agent_thought_chunk" | "user_message_chunk") => self.chunks.finish_message(&mut events),
            (_, "tool_call" | "tool_call_update") => self.record_tool_call(value, &mut events),
            // Plans, modes and other updates without relevant data.
            _ => {}
        }
        events
    }

    /// Flushes the pending output, because later lines belong to the next iteration.
    pub(super) fn flush_iteration(&mut self) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        self.chunks.finish_message(&mut events);
        self.chunks = MessageChunks::default();
        events
    }

    fn push_message_chunk(&mut self, update: &Value, events: &mut Vec<AgentEvent>) {
        let message = text(update, "messageId");
        if self.message != message {
            message.clone_into(&mut self.message);
            self.chunks.finish_message(events);
        }
        let piece = update.get("content").map(|it| text(it, "text")).unwrap_or_default();
        self.chunks.push_chunk(piece, events);
    }

    /// Records a tool call. Some agents report it before it begins, some only when it ends.
    fn record_tool_call(&mut self, update: &Value, events: &mut Vec<AgentEvent>) {
        self.chunks.finish_message(events);
        let id = text(update, "toolCallId");
        if !self.calls.contains_key(id) && self.calls.len() >= MAX_OPEN_CALLS {
            return;
        }
        let (call, is_reported) = self.calls.entry(id.to_owned()).or_default();
        call.merge_update(update);
        if !*is_reported && call.has_complete_input() {
            *is_reported = true;
            events.push(AgentEvent::ToolUse(call.tool_use()));
        }
        if call.is_over() {
            events.extend(call.result_events(update));
            self.calls.remove(id);
        }
    }

    fn parse_turn_end(&mut self, value: &Value, events: &mut Vec<AgentEvent>) {
        self.chunks.finish_message(events);
        self.calls.clear();
        let refused = || ProviderFailure {
            class: ProviderClass::Refused,
            message: tr!("the agent refused to continue with this prompt").to_owned(),
            status: None,
            reset: None,
        };
        let (error, note) = match text(value, "stopReason") {
            "refusal" => (Some(refused()), None),
            "max_tokens" => (None, Some(tr!("its answer was cut off at its token limit"))),
            "max_turn_requests" => (None, Some(tr!("it reached its own limit of requests"))),
            "cancelled" => (None, Some(tr!("its turn was cancelled"))),
            _ => (None, None),
        };
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let turn = self.turn_summary(error, note.map(str::to_owned));
        events.push(AgentEvent::Turn(TurnSummary {
            tokens: number("tokens"),
            cost_micros: number("costMicros"),
            ..turn
        }));
    }

    fn turn_summary(&self, error: Option<ProviderFailure>, note: Option<String>) -> TurnSummary {
        TurnSummary {
            final_text: self.chunks.last_message().to_owned(),
            error,
            note,
            ..TurnSummary::default()
        }
    }
}

/// Classifies an error response of the agent. Its code may be the provider's status.
fn parse_provider_failure(value: &Value) -> ProviderFailure {
    let code = value.get("code").and_then(Value::as_i64).unwrap_or(0);
    let data = value.get("data").unwrap_or(&Value::Null);
    let further =
        first_nonempty([data.as_str().unwrap_or_default(), text(data, "details"), text(data, "message")]);
    let words = match (text(value, "message"), further) {
        (words, "") => words.to_owned(),
        ("", further) => further.to_owned(),
        (words, further) => format!("{words}: {further}"),
    };
    let status = u16::try_from(code).ok().filter(|it| (100..600).contains(it));
    let failure = provider::classify(&words, status);
    if code != AUTH_REQUIRED {
        return failure;
    }
    let options: Vec<String> =
        list(value, "authMethods").iter().map(|it| sanitize::line(text(it, "name"))).collect();
    let message = match options.as_slice() {
        [] => tr!("it is not logged in: {why}", why = failure.message),
        options => tr!(
            "it is not logged in: {why} (options: {ways})",
            why = failure.message,
            ways = options.join(tr!(", "))
        ),
    };
    ProviderFailure { class: ProviderClass::Login, message, status: None, reset: None }
}

#[cfg(test)]
mod tests;
