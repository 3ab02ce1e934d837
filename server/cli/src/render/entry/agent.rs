//! Renders the start and the end of the agent's process.

use std::fmt::Write as _;

use loopkeeper_agent::{AgentEnding, AgentExited, AgentRun};
use loopkeeper_core::journal::Record;
use loopkeeper_text::{sanitize, words};
use loopkeeper_view::sentences;

/// Omits `pid`, because it is the warden's, often the same for many iterations. Only a session that the user opened has
/// no warden; its `pid` is the agent's.
pub(super) fn started(record: &Record) -> String {
    let Record::AgentStarted { pid, agent_pid, domain, network, .. } = record else { return String::new() };
    let number = agent_pid.map_or_else(String::new, |it| format!(", process {it}"));
    let mut text = match domain.as_str() {
        "yours" => format!("agent working in your session, process {pid}"),
        "pid-namespace" => format!("agent started in its own PID namespace{number}"),
        "landlock" => format!("agent started under Landlock{number}"),
        _ => format!("agent started{number}"),
    };
    text.push_str(&network.as_deref().map_or_else(String::new, network_limit));
    text
}

/// `network` as in the record.
fn network_limit(network: &str) -> String {
    match network {
        "closed" => ", without network".to_owned(),
        "no-tcp" => ", without TCP connections".to_owned(),
        other => format!("; the network is {}", sanitize::line(other)),
    }
}

pub(super) fn left(left: &AgentExited) -> String {
    let mut text = match (left.signal, left.exit) {
        (Some(signal), _) => format!("agent exited, killed by signal {signal}"),
        (None, Some(0)) => "agent exited".to_owned(),
        (None, exit) => format!("agent exited with code {}", exit.unwrap_or(-1)),
    };
    if let Some(cost) = left.cost_micros {
        let _ = write!(text, ", {}", words::cost(cost));
    }
    if let Some(note) = &left.note {
        let _ = write!(text, "; {}", sanitize::line(note));
    }
    if !left.survivors.is_empty() {
        let _ = write!(text, "; left behind and ended: {}", left.survivors.join(", "));
    }
    text
}

pub(super) fn ended(run: &AgentRun) -> String {
    let how = match (run.ending, run.signal, run.exit) {
        (AgentEnding::TimedOut, ..) => "ended: over its time limit".into(),
        (AgentEnding::Capped, ..) => "ended: too many steps".into(),
        (AgentEnding::Idle, ..) => "ended: no sign of life".into(),
        (AgentEnding::Stopped, ..) => "stopped".into(),
        (AgentEnding::NotStarted, ..) => "could not be started".into(),
        (AgentEnding::Held, ..) => "is held by its stop hook".into(),
        (AgentEnding::Exited, Some(signal), _) => format!("killed by signal {signal}"),
        (AgentEnding::Exited, None, Some(0)) => "done".into(),
        (AgentEnding::Exited, None, exit) => format!("ended with exit code {}", exit.unwrap_or(-1)),
    };
    let mut text = format!("agent {how} after {}", words::duration(run.duration_ms));
    if let Some(cost) = run.cost_micros {
        let _ = write!(text, ", {}", words::cost(cost));
    } else if let Some(tokens) = run.tokens {
        let _ = write!(text, ", {} tokens", words::amount(tokens));
    }
    if let Some(note) = &run.note {
        let _ = write!(text, ", {note}");
    }
    if let Some(error) = &run.error {
        let _ = write!(text, ": {}", error.message);
    }
    text.push_str(&denied(run));
    if !run.survivors.is_empty() {
        let _ = write!(text, "; left behind and ended: {}", run.survivors.join(", "));
    }
    text
}

/// ``; denied: `Bash: git push` ``; empty if nothing was denied.
pub(super) fn denied(run: &AgentRun) -> String {
    sentences::denied(&run.denied, run.denials).map_or_else(String::new, |it| format!("; denied: {it}"))
}
