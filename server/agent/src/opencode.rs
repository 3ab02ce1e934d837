//! Starts opencode headlessly and parses its JSON lines.
//!
//! Only the end of its process marks the end of a run, and there are no totals: steps are added up here. An error
//! counts unless a step succeeded after it.

pub mod start;

use serde_json::Value;

use crate::fields::{denied_call, first_nonempty, number, status, text, text_at, tool_use, usd_to_micros};
use crate::provider::{self, ProviderFailure};
use crate::{AgentEvent, ProviderClass, ToolKind, TurnSummary};

/// Messages for a tool that was not allowed.
const DENIAL_MESSAGES: [&str; 3] = [
    "The user rejected permission",
    "The user has specified a rule which prevents you",
    "permission requested and automatically rejected",
];

/// The state between lines of one process.
#[derive(Debug, Default)]
pub struct OpencodeParser {
    session: String,
    last_text: String,
    error: Option<ProviderFailure>,
    cost_micros: u64,
    tokens: u64,
    steps: u32,
    /// Whether the current step contained text or a tool call.
    has_output: bool,
}

impl OpencodeParser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one line of stdout; lines without a type were filtered out before.
    pub(super) fn parse_line(&mut self, value: &Value) -> Vec<AgentEvent> {
        let mut events = Vec::from_iter(self.session_started(value));
        let part = value.get("part").unwrap_or(&Value::Null);
        match text(value, "type") {
            "text" => {
                text(part, "text").clone_into(&mut self.last_text);
                self.has_output = true;
                events.push(AgentEvent::Text(self.last_text.clone()));
            }
            "tool_use" => {
                self.has_output = true;
                events.extend(parse_tool(part));
            }
            "step_finish" => events.push(self.parse_step(part)),
            "error" => self.error = Some(parse_provider_failure(value)),
            // Types of other versions carry nothing relevant.
            _ => {}
        }
        events
    }

    /// The summary of the process after its end; `None` if no model output was reported.
    pub fn turn_summary(&self) -> Option<TurnSummary> {
        (self.steps > 0 || self.error.is_some()).then(|| TurnSummary {
            final_text: self.last_text.clone(),
            cost_micros: Some(self.cost_micros),
            tokens: Some(self.tokens),
            error: self.error.clone(),
            ..TurnSummary::default()
        })
    }

    /// Every line contains the session; the first one counts.
    fn session_started(&mut self, value: &Value) -> Option<AgentEvent> {
        let session = text(value, "sessionID");
        if !self.session.is_empty() || session.is_empty() {
            return None;
        }
        session.clone_into(&mut self.session);
        Some(AgentEvent::Started { session: session.to_owned(), model: String::new() })
    }

    fn parse_step(&mut self, part: &Value) -> AgentEvent {
        self.error = None;
        self.steps = self.steps.saturating_add(1);
        let cost = part.get("cost").and_then(Value::as_f64).map_or(0, usd_to_micros);
        self.cost_micros = self.cost_micros.saturating_add(cost);
        let used = part.get("tokens").map_or(0, count_tokens);
        self.tokens = self.tokens.saturating_add(used);
        let has_output = std::mem::take(&mut self.has_output);
        match text(part, "reason") {
            "stop" => AgentEvent::Turn(self.turn_summary().unwrap_or_default()),
            _ => AgentEvent::Step { empty: !has_output && used == 0 },
        }
    }
}

/// A call is reported with its result when it is over.
fn parse_tool(part: &Value) -> Vec<AgentEvent> {
    let state = part.get("state").unwrap_or(&Value::Null);
    let input = state.get("input").unwrap_or(&Value::Null);
    let call = tool_use(text(part, "tool"), text(part, "callID"), input, None);
    // If no command is allowed, there is no shell tool at all.
    if call.tool == "invalid" && ToolKind::from_tool_name(text(input, "tool")) == ToolKind::Run {
        let (tool, message) = (text(input, "tool").to_owned(), text(input, "error").to_owned());
        return vec![AgentEvent::Denied { tool, message }];
    }
    let after = if text(state, "status") == "error" {
        let message = text(state, "error").to_owned();
        if DENIAL_MESSAGES.iter().any(|it| message.contains(it)) {
            Some(AgentEvent::Denied { tool: denied_call(&call.tool, &call.detail), message })
        } else {
            Some(AgentEvent::ToolFailed { text: message })
        }
    } else if call.act == ToolKind::Edit {
        let path = text(input, "filePath");
        (!path.is_empty()).then(|| AgentEvent::FileChange { path: path.to_owned(), within: None })
    } else {
        let exit = state.pointer("/metadata/exit").and_then(Value::as_i64).unwrap_or(0);
        (exit != 0).then(|| AgentEvent::ToolFailed { text: text(state, "output").to_owned() })
    };
    std::iter::once(AgentEvent::ToolUse(call)).chain(after).collect()
}

fn count_tokens(value: &Value) -> u64 {
    let cache = value.get("cache").unwrap_or(&Value::Null);
    let own = ["input", "output", "reasoning"].map(|key| number(value, key));
    let cached = ["read", "write"].map(|key| number(cache, key));
    own.into_iter().chain(cached).fold(0, u64::saturating_add)
}

fn parse_provider_failure(event: &Value) -> ProviderFailure {
    let data = event.pointer("/error/data").unwrap_or(&Value::Null);
    let name = text_at(event, "/error/name");
    let words = first_nonempty([text(data, "message"), name]);
    let mut failure = provider::classify(words, status(data, "statusCode"));
    if name == "ProviderAuthError" {
        failure.class = ProviderClass::Login;
    }
    if name == "ContextOverflowError" {
        failure.class = ProviderClass::Refused;
    }
    let header = |name: &str| text(data.get("responseHeaders").unwrap_or(&Value::Null), name);
    failure.add_reset(provider::retry_headers(header("retry-after"), header("retry-after-ms")));
    failure
}

#[cfg(test)]
mod tests;
