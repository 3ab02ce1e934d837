//! One process of an agent, read to its end: lines to events, events and the way it ended to an [`AgentRun`].
//! Keeps a bounded summary, never the output itself.

use crate::agent::claude::Claude;
use crate::agent::errors::{self, ErrorScan, Voice};
use crate::agent::provider::{self, Here};
use crate::agent::{
    AgentEnding, AgentEvent, AgentRun, FINAL_TEXT_BYTES, MAX_DENIED, MOST_COMMANDS, MOST_TOOLS,
    ProviderClass, ProviderError, Turn, text,
};
use crate::sanitize;
use crate::settings::Dialect;

const MAX_FILES: usize = 1000;
/// Tools that run a command of the agent's, in the dialects.
const SHELLS: [&str; 5] = ["Bash", "bash", "shell", "exec_command", "run_shell_command"];
/// What Claude Code says of a session that it was to go on with and does not have.
const NO_SESSION: &str = "No conversation found with session ID";

/// Reads the output of one process in its dialect.
#[derive(Debug)]
pub struct Reader {
    dialect: State,
    tally: Tally,
}

#[derive(Debug)]
enum State {
    Text,
    Claude(Claude),
}

/// What is kept of the events.
#[derive(Debug)]
struct Tally {
    session: Option<String>,
    model: Option<String>,
    turn: Option<Turn>,
    /// Text agents: the end of all they said. Others: their last words.
    said: String,
    denied: u32,
    /// Tools that were denied, where only the events tell.
    denied_tools: Vec<String>,
    files: Vec<String>,
    at_rest: bool,
    /// The last line was too long to be read: it may have been the end of a turn.
    skipped: bool,
    /// A retry of the provider after which nothing else came.
    retrying: Option<Retrying>,
    output_bytes: u64,
    tools: Vec<String>,
    commands: Vec<String>,
    /// In its own words.
    said_errors: ErrorScan,
    tool_errors: ErrorScan,
    stderr_errors: ErrorScan,
}

/// What the provider answered at the last retry; `None`: nothing.
#[derive(Debug, Clone, Copy)]
struct Retrying {
    status: Option<u16>,
}

/// How the process ended, as the one who started it saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEnd {
    pub ending: AgentEnding,
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Why it could not be started, in words; empty otherwise.
    pub reason: String,
    /// The last lines of stderr.
    pub stderr: String,
    pub duration_ms: u64,
    pub survivors: Vec<String>,
    /// Output bytes that were not kept.
    pub dropped: u64,
}

impl Reader {
    pub fn new(dialect: Dialect) -> Self {
        let dialect = match dialect {
            Dialect::Text => State::Text,
            Dialect::Claude => State::Claude(Claude::new()),
        };
        Self { dialect, tally: Tally::new() }
    }

    /// Reads one line of stdout, without its line end.
    pub fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let events = match &mut self.dialect {
            State::Text => vec![text::line(line)],
            State::Claude(claude) => claude.line(line),
        };
        for event in &events {
            self.tally.add(event, matches!(self.dialect, State::Text));
        }
        events
    }

    /// Reads one line of stderr: errors may stand there, nothing else is taken from it.
    pub fn stderr_line(&mut self, line: &str) {
        self.tally.stderr_errors.line(line);
    }

    /// Notes a line of stdout that was too long to be kept.
    pub fn oversize(&mut self, bytes: usize) -> AgentEvent {
        let event = AgentEvent::Oversize { bytes };
        self.tally.add(&event, matches!(self.dialect, State::Text));
        event
    }

    /// The agent ended its turn and said nothing since: a process that stays now waits for what it left behind.
    pub fn at_rest(&self) -> bool {
        self.tally.at_rest
    }

    /// What the run was, once the process is gone. Secrets are still in it: the caller redacts.
    pub fn finish(self, end: ProcessEnd, here: &Here<'_>) -> AgentRun {
        let Self { dialect, tally } = self;
        let error = match dialect {
            State::Text => text_error(&tally, &end, here),
            State::Claude(_) => claude_error(&tally, &end, here),
        };
        let session_lost = error.is_some() && end.stderr.contains(NO_SESSION);
        let error = if session_lost { Some(no_session()) } else { error };
        let turn = tally.turn.unwrap_or_default();
        let said = if turn.final_text.is_empty() { tally.said } else { turn.final_text };
        AgentRun {
            ending: end.ending,
            exit: end.exit,
            signal: end.signal,
            duration_ms: end.duration_ms,
            cost_micros: turn.cost_micros,
            tokens: turn.tokens,
            session: tally.session,
            model: tally.model,
            final_text: tail(&sanitize::text(&said), FINAL_TEXT_BYTES).to_owned(),
            denials: turn.denials.max(tally.denied),
            denied: few(if turn.denied.is_empty() { &tally.denied_tools } else { &turn.denied }),
            session_lost,
            error,
            note: turn.note,
            survivors: end.survivors,
            left: Vec::new(),
            files: tally.files,
            dropped: end.dropped,
            errors: errors::joined([tally.said_errors, tally.tool_errors, tally.stderr_errors]),
            output_bytes: tally.output_bytes,
            tools: tally.tools,
            commands: tally.commands,
        }
    }
}

impl Tally {
    fn new() -> Self {
        Self {
            session: None,
            model: None,
            turn: None,
            said: String::new(),
            denied: 0,
            denied_tools: Vec::new(),
            files: Vec::new(),
            at_rest: false,
            skipped: false,
            retrying: None,
            output_bytes: 0,
            tools: Vec::new(),
            commands: Vec::new(),
            said_errors: ErrorScan::new(Voice::Words),
            tool_errors: ErrorScan::new(Voice::Program),
            stderr_errors: ErrorScan::new(Voice::Program),
        }
    }

    fn add(&mut self, event: &AgentEvent, is_text: bool) {
        if !matches!(event, AgentEvent::Retry { .. } | AgentEvent::Limit { .. }) {
            self.retrying = None;
        }
        self.at_rest = matches!(event, AgentEvent::Turn(_));
        self.skipped = matches!(event, AgentEvent::Oversize { .. });
        match event {
            AgentEvent::Started { session, model } => {
                self.session = Some(session.clone());
                self.model = Some(model.clone());
            }
            AgentEvent::Text(said) if is_text => {
                self.output_bytes += said.len() as u64 + 1;
                self.said_errors.line(said);
                self.append(said);
            }
            AgentEvent::Text(said) => {
                self.output_bytes += said.len() as u64;
                self.said_errors.whole(said);
                self.said.clone_from(said);
            }
            AgentEvent::ToolUse { tool, detail } => self.tool(tool, detail),
            AgentEvent::ToolFailed { text } => self.tool_errors.whole(text),
            AgentEvent::FileChange { path } => {
                if self.files.len() < MAX_FILES && !self.files.contains(path) {
                    self.files.push(path.clone());
                }
            }
            AgentEvent::Retry { status, .. } => self.retrying = Some(Retrying { status: *status }),
            AgentEvent::Denied { tool, .. } => {
                self.denied = self.denied.saturating_add(1);
                if self.denied_tools.len() < MAX_DENIED {
                    self.denied_tools.push(tool.clone());
                }
            }
            AgentEvent::Turn(turn) => self.turn = Some(turn.clone()),
            AgentEvent::Limit { .. } | AgentEvent::Oversize { .. } | AgentEvent::Unread(_) => {}
        }
    }

    fn tool(&mut self, tool: &str, detail: &str) {
        if self.tools.len() < MOST_TOOLS && !self.tools.iter().any(|it| it == tool) {
            self.tools.push(sanitize::line(tool));
        }
        if SHELLS.contains(&tool) && !detail.is_empty() && self.commands.len() < MOST_COMMANDS {
            self.commands.push(detail.to_owned());
        }
    }

    /// Appends a line and keeps the end, cutting only now and then.
    fn append(&mut self, line: &str) {
        if !self.said.is_empty() {
            self.said.push('\n');
        }
        self.said.push_str(line);
        if self.said.len() > 4 * FINAL_TEXT_BYTES {
            self.said = tail(&self.said, FINAL_TEXT_BYTES).to_owned();
        }
    }
}

/// Different ones, in their order.
fn few(denied: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for it in denied.iter().map(|it| sanitize::line(it)) {
        if kept.len() < MAX_DENIED && !kept.contains(&it) {
            kept.push(it);
        }
    }
    kept
}

fn text_error(tally: &Tally, end: &ProcessEnd, here: &Here<'_>) -> Option<ProviderError> {
    match end.ending {
        AgentEnding::NotStarted => Some(not_started(end)),
        // Some say so and call it a success.
        AgentEnding::Exited if end.exit == Some(0) => provider::of_whole(&tally.said).map(|it| it.at(here)),
        AgentEnding::Exited if matches!(end.exit, Some(126 | 127)) => Some(died(end)),
        AgentEnding::Exited => {
            let trouble = provider::of_failed(&end.stderr, &tally.said).map(|it| it.at(here));
            trouble.or_else(|| Some(died(end)))
        }
        AgentEnding::TimedOut | AgentEnding::Idle | AgentEnding::Stopped => None,
    }
}

fn claude_error(tally: &Tally, end: &ProcessEnd, here: &Here<'_>) -> Option<ProviderError> {
    match end.ending {
        AgentEnding::NotStarted => Some(not_started(end)),
        // What was ended in the middle of retries was waiting for its provider, not working.
        AgentEnding::TimedOut | AgentEnding::Idle => tally.retrying.map(unreachable),
        AgentEnding::Stopped => None,
        AgentEnding::Exited => match &tally.turn {
            // A signal after the last turn (or a late exit code) takes nothing back of what was done.
            Some(turn) => turn.error.clone().map(|it| it.at(here)),
            None if tally.skipped && end.exit == Some(0) => None,
            None => Some(died(end)),
        },
    }
}

fn unreachable(Retrying { status }: Retrying) -> ProviderError {
    let class = match status {
        Some(401 | 403) => ProviderClass::Login,
        _ => ProviderClass::Transient,
    };
    let message = match status {
        Some(status) => format!("the provider answered {status} again and again"),
        None => "the provider did not answer".to_owned(),
    };
    ProviderError { class, message, status, resets_at: None }
}

fn not_started(end: &ProcessEnd) -> ProviderError {
    match end.reason.as_str() {
        "" => crash("could not be started"),
        reason => crash(&format!("could not be started: {reason}")),
    }
}

/// The process ended without a word of its own about why.
fn died(end: &ProcessEnd) -> ProviderError {
    if end.stderr.contains("cannot be used with root/sudo privileges") {
        let remedy = "the agent refuses to run without permission checks as root; set `permissions = \"edits\"`, \
                      run as another user, or use `sandboxed-all` where bubblewrap works";
        return ProviderError { class: ProviderClass::Refused, ..crash(remedy) };
    }
    let how = match (end.exit, end.signal) {
        (Some(code @ (126 | 127)), _) => format!("could not be started (exit {code})"),
        (Some(0), _) => "ended without a result".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended without a word".to_owned(),
    };
    match end.stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => crash(&format!("{how}: {}", last.trim())),
        None => crash(&how),
    }
}

fn no_session() -> ProviderError {
    let message = "the session to go on with does not exist any more";
    ProviderError { class: ProviderClass::Refused, ..crash(message) }
}

fn crash(message: &str) -> ProviderError {
    ProviderError {
        class: ProviderClass::Crash,
        message: sanitize::line(message),
        status: None,
        resets_at: None,
    }
}

/// The last `bytes` of a text, from a character's start.
fn tail(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
