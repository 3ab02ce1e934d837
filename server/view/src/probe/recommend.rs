//! Derives the recommendation from the answers: whether a loop can drive the agent, in which mode and with which
//! settings.

use std::fmt::Write as _;

use serde::Serialize;

use super::{OutputFormat, ProbeAnswer, ProbeQuestion, ProbeRow};
use loopkeeper_agent::PromptBy;
use loopkeeper_agent::kind::{AgentKind, Dialect};
use loopkeeper_text::tr;

/// The probed agent, as named in the configuration.
#[derive(Debug, Clone)]
pub struct ProbeSubject {
    pub name: String,
    /// A custom command; empty for an agent known to loopkeeper.
    pub command: Vec<String>,
    pub prompt: PromptBy,
    /// The format of its output.
    pub format: OutputFormat,
    /// Whether a PID namespace works here.
    pub enclosed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    /// Whether it gets its prompt and does its work.
    pub drivable: bool,
    pub mode: &'static str,
    /// For `loopkeeper.toml`; empty if it cannot be driven.
    pub toml: String,
    /// One sentence per note.
    pub notes: Vec<String>,
}

/// The recommended configuration.
pub fn recommend(tried: &ProbeSubject, rows: &[ProbeRow]) -> Recommendation {
    let is = |question: ProbeQuestion, answer: ProbeAnswer| {
        rows.iter().any(|it| it.question == question && it.answer == answer)
    };
    let drivable = is(ProbeQuestion::Prompt, ProbeAnswer::Yes) && is(ProbeQuestion::Work, ProbeAnswer::Yes);
    let toml = if drivable { toml_snippet(tried, &is) } else { String::new() };
    let takes_stop_hook =
        AgentKind::from_name(&tried.name, tried.format.dialect()).stop_hook_mechanism().is_some();
    let rows = notes(&is, takes_stop_hook);
    let mut notes: Vec<String> =
        rows.into_iter().filter(|(so, _)| *so).map(|(_, note)| note.to_owned()).collect();
    if !drivable {
        notes.insert(
            0,
            tr!("As it is, loops cannot be run with it: it has to take its prompt and do the work.")
                .to_owned(),
        );
    }
    Recommendation { drivable, mode: "loop", toml, notes }
}

type ProbeFinding<'a> = dyn Fn(ProbeQuestion, ProbeAnswer) -> bool + 'a;

fn toml_snippet(tried: &ProbeSubject, is: &ProbeFinding<'_>) -> String {
    let mut toml = format!("agent = {}\nmode = \"loop\"\n", quote_toml(&tried.name));
    if !tried.command.is_empty() {
        let command: Vec<String> = tried.command.iter().map(|it| quote_toml(it)).collect();
        let prompt = match tried.prompt {
            // The protocol transports the prompt.
            _ if tried.format == OutputFormat::Acp => String::new(),
            PromptBy::Stdin => "prompt = \"stdin\"\n".to_owned(),
            PromptBy::Argument => "prompt = \"argument\"\n".to_owned(),
            PromptBy::File => "prompt = \"file\"\n".to_owned(),
        };
        let output = match tried.format.dialect() {
            Dialect::Text => "text",
            Dialect::Claude => "claude",
            Dialect::Codex => "codex",
            Dialect::Gemini => "gemini",
            Dialect::Opencode => "opencode",
            Dialect::Acp => "acp",
        };
        let _ = write!(
            toml,
            "\n[agents.{}]\ncommand = [{}]\n{prompt}output = \"{output}\"\n",
            tried.name,
            command.join(", ")
        );
    } else if tried.format == OutputFormat::Acp {
        let _ = write!(toml, "\n[agents.{}]\noutput = \"acp\"\n", tried.name);
    }
    if is(ProbeQuestion::Stop, ProbeAnswer::No) {
        // A longer grace time has no effect.
        toml.push_str("\n[limits]\ngrace = \"3s\"\n");
        if tried.enclosed {
            toml.push_str("\n[sandbox]\nkind = \"required\"\n");
        }
    }
    if is(ProbeQuestion::Honesty, ProbeAnswer::No) {
        toml.push_str("\n[exit]\ndone_signals = 3\n");
    }
    toml
}

/// The notes that apply, in table order. `takes_stop_hook`: hook mode can pass it a stop hook.
fn notes(is: &ProbeFinding<'_>, takes_stop_hook: bool) -> [(bool, &'static str); 9] {
    [
        (
            is(ProbeQuestion::Output, ProbeAnswer::No),
            tr!(
                "It reports only text: no cost, no tokens, no files; `limits.cost_usd` and `limits.tokens` have no effect."
            ),
        ),
        (
            is(ProbeQuestion::ExitCodes, ProbeAnswer::No),
            tr!(
                "Its exit codes say nothing: a login that is missing looks like work without progress, and the breaker \
             ends it."
            ),
        ),
        (
            is(ProbeQuestion::Session, ProbeAnswer::Yes),
            tr!("`[session] continue = true` can be used; fresh sessions are the default."),
        ),
        (
            is(ProbeQuestion::Session, ProbeAnswer::No),
            tr!("Leave `[session] continue` at false: earlier messages are lost."),
        ),
        (
            is(ProbeQuestion::Status, ProbeAnswer::No),
            tr!("It reports no status: give every criterion a check."),
        ),
        (
            is(ProbeQuestion::Honesty, ProbeAnswer::No),
            tr!("It makes false claims: give every criterion a check."),
        ),
        (
            is(ProbeQuestion::Stop, ProbeAnswer::No),
            tr!("It does not end on SIGTERM: only a PID namespace reliably ends all of its processes."),
        ),
        (
            takes_stop_hook && is(ProbeQuestion::Hook, ProbeAnswer::Yes),
            tr!("`mode = \"hook\"` can be used: its stop hook holds the session."),
        ),
        (
            is(ProbeQuestion::Hook, ProbeAnswer::NotApplicable),
            tr!("`mode = \"hook\"` can be used: the protocol holds the session."),
        ),
    ]
}

/// A TOML basic string; JSON strings are a subset of these.
fn quote_toml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
