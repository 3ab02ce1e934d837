//! Reads one agent process to its end: lines become events, and events with the exit become an [`AgentRun`]. Keeps a
//! bounded summary, never the output itself.

mod failure_cause;
mod tally;

use crate::acp::AcpParser;
use crate::claude::ClaudeParser;
use crate::codex::CodexParser;
use crate::fields::{parse_json, parse_typed_line};
use crate::gemini::GeminiParser;
use crate::kind::Dialect;
use crate::opencode::OpencodeParser;
use crate::provider::LocalClock;
use crate::{AgentEnding, AgentEvent, AgentRun, FINAL_TEXT_BYTES, MAX_DENIED, errors, text};
use loopkeeper_text::language::translate;
use loopkeeper_text::{sanitize, tr_later, truncate};
use tally::RunSummaryBuilder;

/// Consecutive empty answers after which the agent counts as stuck in a request loop.
const MAX_EMPTY: u32 = 10;
/// The note for runs whose output contained none of the expected JSON, translated where it is taken.
const NO_JSON: &str = tr_later!("its output was not JSON and was read as text");

/// Reads the output of one process in its dialect.
#[derive(Debug)]
pub struct AgentOutputReader {
    dialect: DialectParser,
    tally: RunSummaryBuilder,
    /// Tokens used by the session before this process, if the agent counts per session.
    used_before: u64,
    /// The cost and tokens of this process that were already reported.
    reported: (u64, u64),
}

#[derive(Debug)]
enum DialectParser {
    Text,
    Claude(ClaudeParser),
    Codex(CodexParser),
    Gemini(GeminiParser),
    Opencode(OpencodeParser),
    Acp(AcpParser),
}

/// Why a running agent has to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillReason {
    /// It exceeded its step limit.
    Steps,
    /// Its provider keeps returning unreadable answers, and it keeps retrying.
    Garbage,
}

/// The data reported by the stop hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct StopHookReport<'a> {
    /// The agent's last message; empty if it is not reported.
    pub last_message: &'a str,
    /// The total over all processes of the session.
    pub session_tokens: Option<u64>,
}

/// How the process ended, as seen by its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEnd {
    pub ending: AgentEnding,
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Why it could not be started, as text; empty otherwise.
    pub reason: String,
    /// The last lines of stderr.
    pub stderr: String,
    pub duration_ms: u64,
    pub survivors: Vec<String>,
    /// Output bytes that were discarded.
    pub dropped: u64,
}

impl ProcessEnd {
    /// A process that exited without further findings.
    pub fn exited(exit: Option<i32>) -> Self {
        Self {
            ending: AgentEnding::Exited,
            exit,
            signal: None,
            reason: String::new(),
            stderr: String::new(),
            duration_ms: 0,
            survivors: Vec::new(),
            dropped: 0,
        }
    }
}

impl AgentOutputReader {
    pub fn new(dialect: Dialect) -> Self {
        let dialect = match dialect {
            Dialect::Text => DialectParser::Text,
            Dialect::Claude => DialectParser::Claude(ClaudeParser::new()),
            Dialect::Codex => DialectParser::Codex(CodexParser::new()),
            Dialect::Gemini => DialectParser::Gemini(GeminiParser::new()),
            Dialect::Opencode => DialectParser::Opencode(OpencodeParser::new()),
            Dialect::Acp => DialectParser::Acp(AcpParser::new()),
        };
        Self { dialect, tally: RunSummaryBuilder::new(), used_before: 0, reported: (0, 0) }
    }

    /// A reader for a resumed session that has already used these tokens.
    pub fn for_session(dialect: Dialect, used_before: u64) -> Self {
        Self { used_before, ..Self::new(dialect) }
    }

    /// Reads one line of stdout, without its line end. Never fails: what a dialect cannot read comes back as
    /// [`AgentEvent::Unread`].
    pub fn read_line(&mut self, line: &str) -> Vec<AgentEvent> {
        let events = match &mut self.dialect {
            DialectParser::Text => vec![text::parse_line(line)],
            DialectParser::Claude(claude) => parse_typed_line(line, |it| claude.parse_line(it)),
            DialectParser::Codex(codex) => parse_typed_line(line, |it| codex.parse_line(it)),
            DialectParser::Gemini(gemini) => parse_typed_line(line, |it| gemini.parse_line(it)),
            DialectParser::Opencode(opencode) => parse_typed_line(line, |it| opencode.parse_line(it)),
            DialectParser::Acp(acp) => parse_typed_line(line, |it| acp.parse_line(it)),
        };
        for event in &events {
            self.tally.record(event, matches!(self.dialect, DialectParser::Text));
        }
        events
    }

    /// Reads one line of stderr, which may contain errors and reports of provider retries.
    pub fn stderr_line(&mut self, line: &str) -> Option<AgentEvent> {
        self.tally.stderr_errors.push_line(line);
        let event = match &self.dialect {
            // The agent behind the protocol may be Gemini CLI.
            DialectParser::Gemini(_) | DialectParser::Acp(_) => GeminiParser::stderr_line(line),
            DialectParser::Codex(_) => CodexParser::stderr_line(line),
            DialectParser::Text | DialectParser::Claude(_) | DialectParser::Opencode(_) => None,
        };
        if let Some(event) = &event {
            self.tally.record(event, false);
        }
        event
    }

    /// Records a line of stdout that exceeded the line cap.
    pub fn record_oversize_line(&mut self, bytes: usize) -> AgentEvent {
        let event = AgentEvent::Oversize { bytes };
        self.tally.record(&event, matches!(self.dialect, DialectParser::Text));
        event
    }

    /// Whether the agent ended its turn and printed nothing since. A process that is still running only waits for
    /// processes it left behind.
    pub fn is_idle(&self) -> bool {
        self.tally.is_idle
    }

    /// Why the agent has to be ended now, if it has to. Does not rely on the agent's own cap.
    pub fn kill_reason(&self, max_steps: u32) -> Option<KillReason> {
        if self.tally.empty >= MAX_EMPTY {
            return Some(KillReason::Garbage);
        }
        (self.tally.steps.max(self.tally.calls) > max_steps).then_some(KillReason::Steps)
    }

    /// The session id that the agent reported at its start.
    pub fn session(&self) -> Option<&str> {
        self.tally.session.as_deref()
    }

    /// Returns the run since the process began or since the previous call; the process keeps running.
    pub fn so_far(&mut self, report: StopHookReport<'_>, end: ProcessEnd, here: &LocalClock<'_>) -> AgentRun {
        if !report.last_message.is_empty() {
            report.last_message.clone_into(&mut self.tally.last_message);
        }
        if report.session_tokens.is_some() {
            self.tally.turn.get_or_insert_default().session_tokens = report.session_tokens;
        }
        self.take_run(end, here)
    }

    /// Returns the whole run after the process exited. It still contains secrets; the caller redacts them.
    pub fn finish(mut self, end: ProcessEnd, here: &LocalClock<'_>) -> AgentRun {
        self.take_run(end, here)
    }

    /// Whether the agent can no longer be held because it would ignore its next prompt.
    pub fn is_spent(&self) -> bool {
        matches!(&self.dialect, DialectParser::Gemini(gemini) if gemini.gave_up())
    }

    fn take_run(&mut self, end: ProcessEnd, here: &LocalClock<'_>) -> AgentRun {
        self.read_document();
        self.flush_dialect();
        self.take_turn_totals();
        let is_text = self.is_text();
        let next = self.tally.next_turn();
        let mut tally = std::mem::replace(&mut self.tally, next);
        let dialect = &self.dialect;
        if is_text && !matches!(dialect, DialectParser::Text) {
            tally.last_message = tally.unread.take().unwrap_or_default();
        }
        let error = if is_text {
            failure_cause::text_run_error(&tally, &end, here)
        } else {
            failure_cause::dialect_run_error(dialect, &tally, &end, here)
        };
        let session_lost = error.is_some() && failure_cause::is_session_lost(&end.stderr);
        let error = if session_lost { Some(failure_cause::lost_session_error()) } else { error };
        let fallback_note =
            (is_text && !matches!(dialect, DialectParser::Text)).then(|| translate(NO_JSON).to_owned());
        let turn = tally.turn.unwrap_or_default();
        let take_unreported = |total: Option<u64>, reported: &mut u64| {
            total.map(|total| total.saturating_sub(std::mem::replace(reported, total.max(*reported))))
        };
        let cost_micros = take_unreported(turn.cost_micros, &mut self.reported.0);
        let of_process = turn.tokens.or_else(|| Some(turn.session_tokens?.saturating_sub(self.used_before)));
        let tokens = take_unreported(of_process, &mut self.reported.1);
        let last_message = if turn.final_text.is_empty() { tally.last_message } else { turn.final_text };
        AgentRun {
            ending: end.ending,
            exit: end.exit,
            signal: end.signal,
            duration_ms: end.duration_ms,
            cost_micros,
            tokens,
            session_tokens: turn.session_tokens,
            session: tally.session,
            model: tally.model,
            final_text: truncate::last_bytes(&sanitize::text(&last_message), FINAL_TEXT_BYTES).to_owned(),
            denials: turn.denials.max(tally.denied),
            denied: dedup_denied(if turn.denied.is_empty() { &tally.denied_tools } else { &turn.denied }),
            closed_paths: Vec::new(),
            read_only_paths: Vec::new(),
            closed_hosts: Vec::new(),
            program_missing: false,
            session_lost,
            error,
            note: turn.note.or(fallback_note),
            survivors: end.survivors,
            unkillable: Vec::new(),
            files: tally.files,
            dropped: end.dropped,
            errors: errors::merge_scans([tally.message_errors, tally.tool_errors, tally.stderr_errors]),
            output_bytes: tally.output_bytes,
            tools: tally.tools,
            commands: tally.commands,
        }
    }

    /// Reads output that is one JSON document over several lines, as `--output-format json` of some agents prints it.
    fn read_document(&mut self) {
        if matches!(self.dialect, DialectParser::Text) || !self.is_text() {
            return;
        }
        let unread = self.tally.unread.take();
        let document = unread.as_deref().and_then(parse_json);
        let line = document.map(|it| it.to_string()).unwrap_or_default();
        self.tally.unread = Some(String::new());
        self.read_line(&line);
        if self.tally.unread.is_some() {
            self.tally.unread = unread;
        }
    }

    /// Whether all output counts as message text: for text agents, and if no line was in the dialect.
    fn is_text(&self) -> bool {
        match self.dialect {
            DialectParser::Text => true,
            _ => self.tally.unread.as_ref().is_some_and(|it| !it.is_empty()),
        }
    }

    /// Flushes the chunks of an unfinished message; later output belongs to the next iteration.
    fn flush_dialect(&mut self) {
        let events = match &mut self.dialect {
            DialectParser::Gemini(gemini) => gemini.flush_iteration(),
            DialectParser::Acp(acp) => acp.flush_iteration(),
            DialectParser::Codex(codex) => {
                codex.reset_iteration();
                Vec::new()
            }
            DialectParser::Text | DialectParser::Claude(_) | DialectParser::Opencode(_) => Vec::new(),
        };
        for event in &events {
            self.tally.record(event, false);
        }
    }

    /// Takes the turn summary of dialects that report no totals in their output.
    fn take_turn_totals(&mut self) {
        if let DialectParser::Opencode(opencode) = &self.dialect {
            self.tally.turn = opencode.turn_summary().or(self.tally.turn.take());
        }
    }
}

/// Removes duplicates and keeps the order.
fn dedup_denied(denied: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for it in denied.iter().map(|it| sanitize::line(it)) {
        if kept.len() < MAX_DENIED && !kept.contains(&it) {
            kept.push(it);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
