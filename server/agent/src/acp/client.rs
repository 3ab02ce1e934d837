//! Client side of the Agent Client Protocol: messages to the agent, and reports to the keeper. Pure: lines come in,
//! lines go out. Offers no capability that an agent could use through the client: no files, no terminals.

mod permissions;
mod responses;

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use super::call::AcpToolCall;
use super::policy::InsideTreeFn;
use super::start::BridgeOptions;
use crate::fields::{text, text_at, usd_to_micros};
use loopkeeper_text::{tr, truncate};
use permissions::PendingPermission;
pub use permissions::PermissionAnswer;
use responses::{
    SessionOption, default_model, plan_session_options, resume_method, session_cost, turn_tokens,
};

/// The protocol version that we support.
const PROTOCOL_VERSION: u64 = 1;
const METHOD_NOT_FOUND: i64 = -32_601;
const INTERNAL_ERROR: i64 = -32_603;
/// An agent that reports the tokens of its last answer as those of the turn.
const COUNTS_LAST_ANSWER: &str = "OpenCode";
/// Maximum number of open calls that are remembered for permission requests; more do not occur in practice.
const MAX_OPEN_CALLS: usize = 256;
/// Maximum bytes of one text of a tool.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The parameters of one conversation with an agent.
#[derive(Debug, Clone)]
pub struct PromptParams {
    pub options: BridgeOptions,
    /// The work tree.
    pub folder: String,
    pub prompt: String,
    /// The session to resume.
    pub session: Option<String>,
    /// The caller is asked for the next prompt at the end of each turn.
    pub held: bool,
}

/// The next action of the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum AcpAction {
    /// A message to the agent.
    Send(Value),
    /// A report to the keeper.
    Report(Value),
    /// A file of the work tree; the result is reported by [`AcpClient::write_response`].
    Write { id: Value, path: String, text: String },
    /// The turn is over and the caller decides what comes next. Answered by [`AcpClient::resume_or_end`].
    NextPrompt { session: String },
    /// A permission request of the agent. Answered by [`AcpClient::handle_permission_answer`].
    RequestPermission { number: u64, question: String },
    /// A line for stderr: the agent's own log, and what the keeper reads there.
    Log(String),
    /// The turn is over or will never complete.
    End { well: bool },
}

/// The response that the client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcpState {
    Initializing,
    OpeningSession,
    /// The agent replays the messages of the session, until it is silent.
    Replay,
    SettingOptions,
    Prompting,
    /// Its turn is over, and the next step is not decided yet.
    Held,
    Ended,
}

#[derive(Debug)]
pub struct AcpClient {
    params: PromptParams,
    state: AcpState,
    /// The id of the request that is not answered yet; ids are sequential.
    request: u64,
    session: String,
    auth_methods: Value,
    /// Its token counts cover the whole turn.
    counts_whole_turn: bool,
    calls: HashMap<String, AcpToolCall>,
    /// Session options that are not set yet.
    pending_options: Vec<SessionOption>,
    /// Permissions that the agent waits for; the user is asked about the first.
    pending_permissions: VecDeque<PendingPermission>,
    /// The number of permissions requested so far.
    permission_count: u64,
    /// The cost of the session before this run, and now.
    cost_before: f64,
    cost: Option<f64>,
    /// The tokens of all turns.
    tokens: Option<u64>,
}

impl AcpClient {
    /// Creates the client and its first message.
    pub fn begin(params: PromptParams) -> (Self, Vec<AcpAction>) {
        let mut client = Self {
            params,
            state: AcpState::Initializing,
            request: 0,
            session: String::new(),
            auth_methods: Value::Null,
            counts_whole_turn: true,
            calls: HashMap::new(),
            pending_options: Vec::new(),
            pending_permissions: VecDeque::new(),
            permission_count: 0,
            cost_before: 0.0,
            cost: None,
            tokens: None,
        };
        let capabilities = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
            "clientInfo": {"name": "loopkeeper", "version": env!("CARGO_PKG_VERSION")},
        });
        let first = client.send_request("initialize", &capabilities);
        (client, vec![first])
    }

    pub fn state(&self) -> AcpState {
        self.state
    }

    /// Handles a line printed by the agent.
    pub fn handle_line(&mut self, line: &str, inside: &InsideTreeFn<'_>) -> Vec<AcpAction> {
        if line.trim().is_empty() || self.state == AcpState::Ended {
            return Vec::new();
        }
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        if message.get("jsonrpc").is_none() {
            return vec![AcpAction::Log(line.to_owned())];
        }
        let params = message.get("params").unwrap_or(&Value::Null);
        match (text(&message, "method"), message.get("id")) {
            ("", Some(id)) if id.as_u64() == Some(self.request) => self.handle_response(&message),
            ("session/update", None) => self.handle_update(params.get("update").unwrap_or(&Value::Null)),
            ("session/request_permission", Some(id)) => self.handle_permission_request(id, params, inside),
            ("fs/write_text_file", Some(id)) => self.handle_write_request(id, params, inside),
            ("", _) | (_, None) => Vec::new(),
            (method, Some(id)) => {
                vec![error_response(id, METHOD_NOT_FOUND, &format!("{method} is not offered"))]
            }
        }
    }

    /// Builds the response to a [`AcpAction::Write`].
    pub fn write_response(id: &Value, failed: Option<&str>) -> AcpAction {
        match failed {
            Some(why) => error_response(id, INTERNAL_ERROR, why),
            None => AcpAction::Send(json!({"jsonrpc": "2.0", "id": id, "result": {}})),
        }
    }

    /// Handles a period without further messages.
    pub fn handle_silence(&mut self) -> Vec<AcpAction> {
        if self.state == AcpState::Replay { self.apply_next_option() } else { Vec::new() }
    }

    /// Cancels the turn on behalf of the keeper or the user.
    pub fn cancel(&mut self) -> Vec<AcpAction> {
        if self.state != AcpState::Prompting {
            return Vec::new();
        }
        let params = json!({"sessionId": self.session});
        let cancel = AcpAction::Send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}));
        self.cancel_pending().into_iter().chain([cancel]).collect()
    }

    /// Fails because the agent took too long to answer a request that needs no model.
    pub fn handle_timeout(&mut self, seconds: u64) -> Vec<AcpAction> {
        let words = tr!(
            "it did not answer within {seconds} s: does its command speak the Agent Client Protocol?",
            seconds
        );
        self.fail(&json!({"message": words}))
    }

    fn send_request(&mut self, method: &str, params: &Value) -> AcpAction {
        self.request += 1;
        AcpAction::Send(json!({"jsonrpc": "2.0", "id": self.request, "method": method, "params": params}))
    }

    fn handle_response(&mut self, message: &Value) -> Vec<AcpAction> {
        if let Some(error) = message.get("error") {
            return self.handle_error(error);
        }
        let result = message.get("result").unwrap_or(&Value::Null);
        match self.state {
            AcpState::Initializing => self.handle_initialized(result),
            AcpState::OpeningSession => self.handle_session_opened(result),
            AcpState::SettingOptions => self.apply_next_option(),
            AcpState::Prompting => self.handle_turn_end(result),
            AcpState::Replay | AcpState::Held | AcpState::Ended => Vec::new(),
        }
    }

    fn handle_initialized(&mut self, result: &Value) -> Vec<AcpAction> {
        let version = result.get("protocolVersion").and_then(Value::as_u64);
        if version != Some(PROTOCOL_VERSION) {
            let version = version.map_or_else(|| tr!("none").to_owned(), |it| it.to_string());
            let words = tr!(
                "it uses version {version} of the Agent Client Protocol, not {ours}",
                version,
                ours = PROTOCOL_VERSION
            );
            return self.fail(&json!({"message": words}));
        }
        self.auth_methods = result.get("authMethods").cloned().unwrap_or_default();
        self.counts_whole_turn = text_at(result, "/agentInfo/name") != COUNTS_LAST_ANSWER;
        self.state = AcpState::OpeningSession;
        let place = json!({"cwd": self.params.folder, "mcpServers": []});
        let Some(session) = self.params.session.clone() else {
            return vec![self.send_request("session/new", &place)];
        };
        let capabilities = result.get("agentCapabilities").unwrap_or(&Value::Null);
        let Some(method) = resume_method(capabilities) else {
            return self.fail_session_not_found(tr!("it cannot continue a session"));
        };
        let mut params = place;
        set_field(&mut params, "sessionId", json!(session));
        self.session = session;
        vec![self.send_request(method, &params)]
    }

    fn handle_session_opened(&mut self, result: &Value) -> Vec<AcpAction> {
        let session = text(result, "sessionId");
        if !session.is_empty() {
            session.clone_into(&mut self.session);
        }
        self.pending_options = match plan_session_options(&self.params.options, result) {
            Ok(options) => options,
            Err(reason) => return self.fail(&json!({"message": reason})),
        };
        let model = self.params.options.model.clone().unwrap_or_else(|| default_model(result));
        let mut actions =
            vec![AcpAction::Report(json!({"type": "session", "id": self.session, "model": model}))];
        if self.params.session.is_some() {
            self.state = AcpState::Replay;
        } else {
            actions.extend(self.apply_next_option());
        }
        actions
    }

    /// Sets the user's options one by one, then starts the work.
    fn apply_next_option(&mut self) -> Vec<AcpAction> {
        if let Some(SessionOption { method, mut params }) = self.pending_options.pop() {
            self.state = AcpState::SettingOptions;
            set_field(&mut params, "sessionId", json!(self.session));
            return vec![self.send_request(method, &params)];
        }
        self.cost_before = self.cost.take().unwrap_or(0.0);
        let prompt = std::mem::take(&mut self.params.prompt);
        self.send_prompt(&prompt)
    }

    fn send_prompt(&mut self, prompt: &str) -> Vec<AcpAction> {
        self.state = AcpState::Prompting;
        self.calls.clear();
        self.pending_permissions.clear();
        let prompt = json!([{"type": "text", "text": prompt}]);
        vec![self.send_request("session/prompt", &json!({"sessionId": self.session, "prompt": prompt}))]
    }

    /// Costs and tokens cover all turns.
    fn handle_turn_end(&mut self, result: &Value) -> Vec<AcpAction> {
        let reason = text(result, "stopReason");
        let mut turn = json!({"type": "turn", "stopReason": reason});
        if let Some(tokens) = turn_tokens(result).filter(|_| self.counts_whole_turn) {
            let all = self.tokens.unwrap_or(0).saturating_add(tokens);
            self.tokens = Some(all);
            set_field(&mut turn, "tokens", json!(all));
        }
        if let Some(cost) = self.cost {
            set_field(&mut turn, "costMicros", json!(usd_to_micros(cost - self.cost_before)));
        }
        let is_held = self.params.held && reason == "end_turn";
        self.state = if is_held { AcpState::Held } else { AcpState::Ended };
        let session = self.session.clone();
        vec![
            AcpAction::Report(turn),
            if is_held { AcpAction::NextPrompt { session } } else { AcpAction::End { well: true } },
        ]
    }

    /// Handles the answer to a [`AcpAction::NextPrompt`]; with `None` the agent may end.
    pub fn resume_or_end(&mut self, prompt: Option<&str>) -> Vec<AcpAction> {
        if let Some(prompt) = prompt.filter(|_| self.state == AcpState::Held) {
            return self.send_prompt(prompt);
        }
        self.state = AcpState::Ended;
        vec![AcpAction::End { well: true }]
    }

    fn handle_error(&mut self, error: &Value) -> Vec<AcpAction> {
        if self.state == AcpState::OpeningSession && self.params.session.is_some() {
            return self.fail_session_not_found(text(error, "message"));
        }
        self.fail(error)
    }

    /// Fails so that the keeper begins another session.
    fn fail_session_not_found(&mut self, why: &str) -> Vec<AcpAction> {
        let mut actions = vec![AcpAction::Log(format!("Session not found: {why}"))];
        actions.extend(self.fail(&json!({"message": why})));
        actions
    }

    fn fail(&mut self, error: &Value) -> Vec<AcpAction> {
        self.state = AcpState::Ended;
        let mut failed = json!({"type": "failed", "authMethods": self.auth_methods});
        for key in ["code", "message", "data"] {
            if let Some(value) = error.get(key) {
                set_field(&mut failed, key, value.clone());
            }
        }
        vec![AcpAction::Report(failed), AcpAction::End { well: false }]
    }

    fn handle_update(&mut self, update: &Value) -> Vec<AcpAction> {
        let kind = text(update, "sessionUpdate");
        if kind == "usage_update" {
            self.cost = session_cost(update).or(self.cost);
        }
        // Messages from before the prompt do not belong to this turn.
        if self.state != AcpState::Prompting || kind.is_empty() {
            return Vec::new();
        }
        if matches!(kind, "tool_call" | "tool_call_update") {
            self.update_call(update);
            return vec![update_of(truncate_strings(update.clone()))];
        }
        vec![update_of(update.clone())]
    }

    fn update_call(&mut self, update: &Value) -> AcpToolCall {
        let id = text(update, "toolCallId");
        let mut call = self.calls.remove(id).unwrap_or_default();
        call.merge_update(update);
        if !call.is_over() && self.calls.len() < MAX_OPEN_CALLS {
            self.calls.insert(id.to_owned(), call.clone());
        }
        call
    }

    /// Handles a file write through the client. We never offer it, but some agents use it anyway; it is treated like
    /// any other edit.
    fn handle_write_request(&self, id: &Value, params: &Value, inside: &InsideTreeFn<'_>) -> Vec<AcpAction> {
        let path = text(params, "path");
        let mut call = AcpToolCall::default();
        call.merge_update(&json!({"kind": "edit", "locations": [{"path": path}]}));
        if let Some(refusal) = self.params.options.policy.refusal_for(&call, inside) {
            return vec![
                report_denied(&refusal.what, refusal.why),
                error_response(id, INTERNAL_ERROR, refusal.why),
            ];
        }
        let text = text(params, "content").to_owned();
        vec![AcpAction::Write { id: id.clone(), path: path.to_owned(), text }]
    }
}

fn update_of(mut update: Value) -> AcpAction {
    set_field(&mut update, "type", json!("update"));
    AcpAction::Report(update)
}

fn set_field(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

fn report_denied(what: &str, why: &str) -> AcpAction {
    AcpAction::Report(json!({"type": "denied", "what": what, "why": why}))
}

fn error_response(id: &Value, code: i64, message: &str) -> AcpAction {
    AcpAction::Send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
}

/// Shortens strings that are too long to be useful, such as whole files and outputs. Keeps their ends, where errors
/// are.
fn truncate_strings(mut value: Value) -> Value {
    match &mut value {
        Value::String(words) if words.len() > MAX_TEXT_BYTES => {
            *words = truncate::last_bytes(words, MAX_TEXT_BYTES).to_owned();
        }
        Value::Array(items) => items.iter_mut().for_each(|it| *it = truncate_strings(it.take())),
        Value::Object(fields) => fields.values_mut().for_each(|it| *it = truncate_strings(it.take())),
        _ => {}
    }
    value
}

#[cfg(test)]
mod tests;
