//! Accumulates the summary of one process's events, never the output itself.

use crate::errors::{ErrorScan, OutputSource};
use crate::{
    AgentEvent, FINAL_TEXT_BYTES, MAX_COMMANDS, MAX_DENIED, MAX_TOOLS, ToolKind, ToolUse, TurnSummary,
};
use loopkeeper_text::{sanitize, truncate};

const MAX_FILES: usize = 1000;

#[derive(Debug)]
pub(super) struct RunSummaryBuilder {
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) turn: Option<TurnSummary>,
    /// For text agents the end of all output, for others their last message.
    pub(super) last_message: String,
    pub(super) denied: u32,
    /// Denied tools, if only the events report them.
    pub(super) denied_tools: Vec<String>,
    pub(super) files: Vec<String>,
    /// Lines of stdout before the first one in the dialect: the whole output if none follows; `None` after it.
    pub(super) unread: Option<String>,
    /// Model responses.
    pub(super) steps: u32,
    /// Tool calls.
    pub(super) calls: u32,
    /// Consecutive empty answers.
    pub(super) empty: u32,
    /// Whether no output of a model was received yet.
    pub(super) is_unanswered: bool,
    pub(super) is_idle: bool,
    /// Whether the last line was too long to be read; it may have been the end of a turn.
    pub(super) skipped: bool,
    /// A retry of the provider that no other output followed.
    pub(super) retrying: Option<ProviderRetry>,
    pub(super) output_bytes: u64,
    pub(super) tools: Vec<String>,
    pub(super) commands: Vec<String>,
    /// Errors in the agent's own messages.
    pub(super) message_errors: ErrorScan,
    pub(super) tool_errors: ErrorScan,
    pub(super) stderr_errors: ErrorScan,
}

/// The provider's answer at the last retry; `None` if it did not answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProviderRetry {
    pub(super) status: Option<u16>,
}

impl RunSummaryBuilder {
    /// The tally for the next turn of the same process.
    pub(super) fn next_turn(&self) -> Self {
        Self {
            session: self.session.clone(),
            model: self.model.clone(),
            unread: self.unread.as_ref().map(|_| String::new()),
            ..Self::new()
        }
    }

    pub(super) fn new() -> Self {
        Self {
            session: None,
            model: None,
            turn: None,
            last_message: String::new(),
            denied: 0,
            denied_tools: Vec::new(),
            files: Vec::new(),
            unread: Some(String::new()),
            steps: 0,
            calls: 0,
            empty: 0,
            is_unanswered: true,
            is_idle: false,
            skipped: false,
            retrying: None,
            output_bytes: 0,
            tools: Vec::new(),
            commands: Vec::new(),
            message_errors: ErrorScan::new(OutputSource::Message),
            tool_errors: ErrorScan::new(OutputSource::Program),
            stderr_errors: ErrorScan::new(OutputSource::Program),
        }
    }

    pub(super) fn record(&mut self, event: &AgentEvent, is_text: bool) {
        self.track_position(event);
        match event {
            AgentEvent::Started { session, model } => {
                let nonempty = |it: &String| Some(it.clone()).filter(|it| !it.is_empty());
                self.session = nonempty(session);
                self.model = nonempty(model);
            }
            AgentEvent::Text(text) if is_text => {
                self.output_bytes += text.len() as u64 + 1;
                self.message_errors.push_line(text);
                append_bounded(&mut self.last_message, text);
            }
            AgentEvent::Text(text) => {
                self.output_bytes += text.len() as u64;
                self.message_errors.push_text(text);
                self.last_message.clone_from(text);
            }
            AgentEvent::ToolUse(call) => self.record_tool(call),
            AgentEvent::ToolFailed { text } => self.tool_errors.push_text(text),
            AgentEvent::FileChange { path, .. } => {
                if self.files.len() < MAX_FILES && !self.files.contains(path) {
                    self.files.push(path.clone());
                }
            }
            AgentEvent::Retry { status, .. } => self.retrying = Some(ProviderRetry { status: *status }),
            AgentEvent::Denied { tool, .. } => {
                self.denied = self.denied.saturating_add(1);
                if self.denied_tools.len() < MAX_DENIED {
                    self.denied_tools.push(tool.clone());
                }
            }
            AgentEvent::Turn(turn) => self.turn = Some(turn.clone()),
            AgentEvent::Unread(line) => {
                self.unread.iter_mut().for_each(|it| append_bounded(it, line));
            }
            AgentEvent::Step { .. }
            | AgentEvent::Spawned { .. }
            | AgentEvent::Limit { .. }
            | AgentEvent::Oversize { .. } => {}
        }
    }

    /// Tracks the agent's position in its turn.
    fn track_position(&mut self, event: &AgentEvent) {
        if matches!(event, AgentEvent::Spawned { .. }) {
            return;
        }
        if !matches!(event, AgentEvent::Retry { .. } | AgentEvent::Limit { .. }) {
            self.retrying = None;
        }
        self.is_idle = matches!(event, AgentEvent::Turn(_));
        self.skipped = matches!(event, AgentEvent::Oversize { .. });
        if !matches!(event, AgentEvent::Unread(_) | AgentEvent::Oversize { .. } | AgentEvent::Retry { .. }) {
            self.unread = None;
        }
        self.is_unanswered &= !matches!(
            event,
            AgentEvent::Text(_) | AgentEvent::ToolUse(_) | AgentEvent::Step { .. } | AgentEvent::Turn(_)
        );
        match event {
            AgentEvent::Step { empty } => {
                self.steps = self.steps.saturating_add(1);
                self.empty = if *empty { self.empty.saturating_add(1) } else { 0 };
            }
            AgentEvent::ToolUse(_) => self.calls = self.calls.saturating_add(1),
            _ => {}
        }
    }

    fn record_tool(&mut self, call: &ToolUse) {
        let tool = sanitize::line(&call.tool);
        if self.tools.len() < MAX_TOOLS && !self.tools.contains(&tool) {
            self.tools.push(tool);
        }
        if call.act == ToolKind::Run && !call.detail.is_empty() && self.commands.len() < MAX_COMMANDS {
            self.commands.push(call.detail.clone());
        }
    }
}

/// Appends a line and keeps the end. Truncates only occasionally.
fn append_bounded(message: &mut String, line: &str) {
    if !message.is_empty() {
        message.push('\n');
    }
    message.push_str(line);
    if message.len() > 4 * FINAL_TEXT_BYTES {
        *message = truncate::last_bytes(message, FINAL_TEXT_BYTES).to_owned();
    }
}
