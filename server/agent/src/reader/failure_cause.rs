//! Derives why a run failed from the output and exit of its process. Covers provider failures only; the work itself is
//! not judged here.

use super::tally::{ProviderRetry, RunSummaryBuilder};
use super::{DialectParser, MAX_EMPTY, ProcessEnd};
use crate::provider::{self, LocalClock};
use crate::{AgentEnding, ProviderClass, ProviderError};
use loopkeeper_text::{sanitize, tr};

/// Messages of agents about a missing session that was to be resumed.
const LOST_SESSION_MESSAGES: [&str; 4] = [
    "No conversation found with session ID",
    "no rollout found for thread id",
    "Session not found",
    "Invalid session identifier",
];

pub(super) fn is_session_lost(stderr: &str) -> bool {
    LOST_SESSION_MESSAGES.iter().any(|it| stderr.contains(it))
}

pub(super) fn text_run_error(
    tally: &RunSummaryBuilder,
    end: &ProcessEnd,
    here: &LocalClock<'_>,
) -> Option<ProviderError> {
    match end.ending {
        AgentEnding::NotStarted => Some(not_started_error(end)),
        // Some agents report a missing session and exit with success.
        AgentEnding::Exited if end.exit == Some(0) => {
            provider::classify_successful_output(&tally.last_message).map(|it| it.into_provider_error(here))
        }
        AgentEnding::Exited if matches!(end.exit, Some(126 | 127)) => Some(early_exit_error(end)),
        AgentEnding::Exited => {
            let failure = provider::classify_failed_output(&end.stderr, &tally.last_message)
                .map(|it| it.into_provider_error(here));
            failure.or_else(|| Some(early_exit_error(end)))
        }
        AgentEnding::TimedOut
        | AgentEnding::Idle
        | AgentEnding::Capped
        | AgentEnding::Stopped
        | AgentEnding::Held => None,
    }
}

pub(super) fn dialect_run_error(
    dialect: &DialectParser,
    tally: &RunSummaryBuilder,
    end: &ProcessEnd,
    here: &LocalClock<'_>,
) -> Option<ProviderError> {
    if tally.empty >= MAX_EMPTY && end.ending != AgentEnding::Stopped {
        return Some(garbage_error(tally.empty));
    }
    match end.ending {
        AgentEnding::NotStarted => Some(not_started_error(end)),
        // An agent that was killed during retries was waiting for its provider, not working.
        AgentEnding::Idle if tally.is_unanswered && retries_silently(dialect) => {
            Some(unreachable_error(tally.retrying.unwrap_or(ProviderRetry { status: None })))
        }
        AgentEnding::TimedOut | AgentEnding::Idle => tally.retrying.map(unreachable_error),
        AgentEnding::Stopped | AgentEnding::Capped | AgentEnding::Held => None,
        AgentEnding::Exited => match &tally.turn {
            // A signal after the last turn (or a late exit code) does not invalidate the work.
            Some(turn) => turn.error.clone().map(|it| it.into_provider_error(here)),
            None if tally.skipped && end.exit == Some(0) => None,
            None => Some(error_without_turn(dialect, tally, end, here)),
        },
    }
}

/// Most agents print nothing while they retry their provider.
fn retries_silently(dialect: &DialectParser) -> bool {
    match dialect {
        DialectParser::Codex(_)
        | DialectParser::Gemini(_)
        | DialectParser::Opencode(_)
        | DialectParser::Acp(_) => true,
        DialectParser::Text | DialectParser::Claude(_) => false,
    }
}

/// Classifies a process that ended without the end of a turn. Some agents report the reason only on stderr.
fn error_without_turn(
    dialect: &DialectParser,
    tally: &RunSummaryBuilder,
    end: &ProcessEnd,
    here: &LocalClock<'_>,
) -> ProviderError {
    let failure = match dialect {
        // A stream that ends with an error has no other end.
        DialectParser::Codex(codex) if end.exit != Some(0) && codex.last_error().is_some() => {
            codex.last_error().map(|it| provider::classify(it, None).into_provider_error(here))
        }
        // After the start of Claude Code, its stderr is about hooks and servers; a signal or success explains itself.
        DialectParser::Claude(_) if tally.session.is_some() && !matches!(end.exit, Some(1..=127)) => None,
        _ => provider::classify_failed_output(&end.stderr, "").map(|it| it.into_provider_error(here)),
    };
    failure.unwrap_or_else(|| early_exit_error(end))
}

fn garbage_error(count: u32) -> ProviderError {
    let message =
        tr!("{count} answers of the provider in a row held nothing that the agent could read", count);
    ProviderError { class: ProviderClass::Transient, message, status: None, resets_at: None }
}

fn unreachable_error(ProviderRetry { status }: ProviderRetry) -> ProviderError {
    let class = match status {
        Some(401 | 403) => ProviderClass::Login,
        _ => ProviderClass::Transient,
    };
    let message = match status {
        Some(status) => tr!("the provider repeatedly answered {status}", status),
        None => tr!("the provider did not answer").to_owned(),
    };
    ProviderError { class, message, status, resets_at: None }
}

fn not_started_error(end: &ProcessEnd) -> ProviderError {
    match end.reason.as_str() {
        "" => crash_error(tr!("could not be started")),
        reason => crash_error(&tr!("could not be started: {reason}", reason)),
    }
}

/// The process ended without reporting a reason.
fn early_exit_error(end: &ProcessEnd) -> ProviderError {
    if end.stderr.contains("cannot be used with root/sudo privileges") {
        let remedy = tr!(
            "the agent refuses to run without permission checks as root; set `permissions = \"edits\"`, \
                      run as another user, or use `sandboxed-all` where bubblewrap works"
        );
        return ProviderError { class: ProviderClass::Refused, ..crash_error(remedy) };
    }
    let how = match (end.exit, end.signal) {
        (Some(code @ (126 | 127)), _) => tr!("could not be started (exit {code})", code),
        (Some(0), _) => tr!("crashed: it printed no result").to_owned(),
        (Some(code), _) => tr!("exit {code}", code),
        (None, Some(signal)) => tr!("ended by signal {signal}", signal),
        (None, None) => tr!("crashed").to_owned(),
    };
    match last_sentence(&end.stderr) {
        Some(last) => crash_error(&tr!("{how}: {line}", how, line = last.trim())),
        None => crash_error(&how),
    }
}

/// The last line that is a message: programs print stack traces and the fields of an error after it.
fn last_sentence(stderr: &str) -> Option<&str> {
    let lines = || stderr.lines().rev().filter(|line| !line.trim().is_empty());
    lines().find(|line| !is_error_detail(line)).or_else(|| lines().next())
}

/// A bracket, a frame of a stack trace, or a field of a printed object: `    at main (cli.js:3)`, `  status: 404,`.
fn is_error_detail(line: &str) -> bool {
    let text = line.trim();
    let is_indented = line.starts_with([' ', '\t']);
    let is_frame = is_indented && (text.starts_with("at ") || text.starts_with("File \""));
    let field = text.split_once(": ").map(|(name, _)| name.trim_matches(['"', '\'']));
    let is_field = field.is_some_and(|it| it.chars().all(|it| it.is_alphanumeric() || "_[]$".contains(it)));
    let has_words = text.chars().any(char::is_alphabetic);
    !has_words || is_frame || is_indented && is_field || text.starts_with("Node.js v")
}

pub(super) fn lost_session_error() -> ProviderError {
    let message = tr!("the session to continue no longer exists");
    ProviderError { class: ProviderClass::Refused, ..crash_error(message) }
}

fn crash_error(message: &str) -> ProviderError {
    ProviderError {
        class: ProviderClass::Crash,
        message: sanitize::line(message),
        status: None,
        resets_at: None,
    }
}
