//! Renders the start and the end of the agent's process.

use std::fmt::Write as _;

use loopkeeper_agent::{AgentEnding, AgentExited, AgentRun};
use loopkeeper_core::journal::Record;
use loopkeeper_text::clauses;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::sentences;

/// Omits `pid`, because it is the warden's, often the same for many iterations. Only a session that the user opened has
/// no warden; its `pid` is the agent's.
pub(super) fn start_text(record: &Record) -> String {
    let Record::AgentStarted { pid, agent_pid, domain, network, .. } = record else { return String::new() };
    let number = agent_pid.map_or_else(String::new, |it| tr!(", process {pid}", pid = it));
    let mut text = match domain.as_str() {
        "yours" => tr!("agent working in your session, process {pid}", pid),
        "pid-namespace" => tr!("agent started in its own PID namespace{number}", number),
        "landlock" => tr!("agent started under Landlock{number}", number),
        _ => tr!("agent started{number}", number),
    };
    text.push_str(&network.as_deref().map_or_else(String::new, network_limit));
    text
}

/// `network` as in the record.
fn network_limit(network: &str) -> String {
    match network {
        "closed" => tr!(", without network").to_owned(),
        "no-tcp" => tr!(", without TCP connections").to_owned(),
        other => tr!("; the network is {network}", network = recorded_network(other)),
    }
}

pub(super) fn describe_exit(left: &AgentExited) -> String {
    let mut text = match (left.signal, left.exit) {
        (Some(signal), _) => tr!("agent exited, killed by signal {signal}", signal),
        (None, Some(0)) => tr!("agent exited").to_owned(),
        (None, exit) => tr!("agent exited with code {code}", code = exit.unwrap_or(-1)),
    };
    if let Some(cost) = left.cost_micros {
        let _ = write!(text, "{}", tr!(", {cost}", cost = words::cost(cost)));
    }
    if let Some(note) = &left.note {
        let _ = write!(text, "{}", tr!("; {note}", note = sanitize::line(note)));
    }
    if !left.survivors.is_empty() {
        let _ = write!(text, "{}", left_behind(&left.survivors));
    }
    text
}

pub(super) fn describe_end(run: &AgentRun) -> String {
    let mut text = describe_result(run);
    if let Some(cost) = run.cost_micros {
        let _ = write!(text, "{}", tr!(", {cost}", cost = words::cost(cost)));
    } else if let Some(tokens) = run.tokens {
        let _ = write!(text, "{}", tr!(", {tokens} tokens", tokens = words::amount(tokens)));
    }
    if let Some(note) = &run.note {
        let _ = write!(text, "{}", tr!(", {note}", note));
    }
    if let Some(error) = &run.error {
        let _ = write!(text, "{}", tr!(": {message}", message = error.message));
    }
    text.push_str(&describe_denials(run));
    if !run.survivors.is_empty() {
        let _ = write!(text, "{}", left_behind(&run.survivors));
    }
    text
}

/// ``; denied: `Bash: git push` ``; empty if nothing was denied.
pub(super) fn describe_denials(run: &AgentRun) -> String {
    sentences::denied(&run.denied, run.denials)
        .map_or_else(String::new, |it| tr!("; denied: {tools}", tools = it))
}

/// `agent done after 4 min`
fn describe_result(run: &AgentRun) -> String {
    let duration = words::duration(run.duration_ms);
    match (run.ending, run.signal, run.exit) {
        (AgentEnding::TimedOut, ..) => tr!("agent ended: over its time limit after {duration}", duration),
        (AgentEnding::Capped, ..) => tr!("agent ended: too many steps after {duration}", duration),
        (AgentEnding::Idle, ..) => tr!("agent ended: no activity after {duration}", duration),
        (AgentEnding::Stopped, ..) => tr!("agent stopped after {duration}", duration),
        (AgentEnding::NotStarted, ..) => tr!("agent could not be started after {duration}", duration),
        (AgentEnding::Held, ..) => tr!("agent is held by its stop hook after {duration}", duration),
        (AgentEnding::Exited, Some(signal), _) => {
            tr!("agent killed by signal {signal} after {duration}", signal, duration)
        }
        (AgentEnding::Exited, None, Some(0)) => tr!("agent done after {duration}", duration),
        (AgentEnding::Exited, None, exit) => {
            tr!("agent ended with exit code {code} after {duration}", code = exit.unwrap_or(-1), duration)
        }
    }
}

fn left_behind(survivors: &[String]) -> String {
    tr!("; leftover processes ended: {processes}", processes = clauses::list(survivors))
}

/// The network of a record, whose English words are data.
fn recorded_network(network: &str) -> String {
    let network = sanitize::line(network);
    if let Some(why) = network.strip_prefix("open: ") {
        return tr!("open: {why}", why);
    }
    let hosts = network.strip_prefix("limited to ").and_then(|it| it.split(' ').next()?.parse().ok());
    match hosts {
        Some(count) => tr!("limited to {hosts}", hosts = words::counted(count, "host")),
        None => network,
    }
}
