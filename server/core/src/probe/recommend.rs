//! What follows for a loop from what was seen: whether it can be driven, in which mode, with which settings.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Answer, Format, Question, Row};
use crate::agent::kind::Kind;
use crate::settings::{Dialect, PromptBy};

/// What was tried, as the configuration would name it.
#[derive(Debug, Clone)]
pub struct Tried {
    pub name: String,
    /// A command of the user's own; empty for an agent that loopkeeper knows.
    pub command: Vec<String>,
    pub prompt: PromptBy,
    /// Of what it printed.
    pub format: Format,
    /// A PID namespace works here.
    pub enclosed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    /// It gets its prompt and does its work.
    pub drivable: bool,
    pub mode: &'static str,
    /// For `loopkeeper.toml`; empty where it cannot be driven.
    pub toml: String,
    /// One sentence each.
    pub notes: Vec<String>,
}

/// What to write into the configuration.
pub fn recommend(tried: &Tried, rows: &[Row]) -> Recommendation {
    let is = |question: Question, answer: Answer| {
        rows.iter().any(|it| it.question == question && it.answer == answer)
    };
    let drivable = is(Question::Prompt, Answer::Yes) && is(Question::Work, Answer::Yes);
    let toml = if drivable { snippet(tried, &is) } else { String::new() };
    let can_be_told = Kind::of(&tried.name, tried.format.dialect()).way_to_a_stop_hook().is_some();
    let told = notes(&is, can_be_told);
    let mut notes: Vec<String> =
        told.into_iter().filter(|(so, _)| *so).map(|(_, note)| note.to_owned()).collect();
    if !drivable {
        notes.insert(
            0,
            "As it is, loops cannot be run with it: it has to take its prompt and do the work.".to_owned(),
        );
    }
    Recommendation { drivable, mode: "loop", toml, notes }
}

type Is<'a> = dyn Fn(Question, Answer) -> bool + 'a;

fn snippet(tried: &Tried, is: &Is<'_>) -> String {
    let mut toml = format!("agent = {}\nmode = \"loop\"\n", quoted(&tried.name));
    if !tried.command.is_empty() {
        let command: Vec<String> = tried.command.iter().map(|it| quoted(it)).collect();
        let prompt = match tried.prompt {
            // The protocol carries it.
            _ if tried.format == Format::Acp => String::new(),
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
    } else if tried.format == Format::Acp {
        let _ = write!(toml, "\n[agents.{}]\noutput = \"acp\"\n", tried.name);
    }
    if is(Question::Stop, Answer::No) {
        // Nothing is gained by waiting for it.
        toml.push_str("\n[limits]\ngrace = \"3s\"\n");
        if tried.enclosed {
            toml.push_str("\n[sandbox]\nkind = \"required\"\n");
        }
    }
    if is(Question::Honesty, Answer::No) {
        toml.push_str("\n[exit]\ndone_signals = 3\n");
    }
    toml
}

/// In the order of the table; those that are so are told. `can_be_told`: hook mode has a way to give it a stop hook.
fn notes(is: &Is<'_>, can_be_told: bool) -> [(bool, &'static str); 9] {
    [
        (
            is(Question::Output, Answer::No),
            "It tells nothing but text: no cost, no tokens, no files; `limits.cost_usd` and `limits.tokens` end nothing.",
        ),
        (
            is(Question::ExitCodes, Answer::No),
            "Its exit codes say nothing: a login that is missing looks like work without progress, and the breaker \
             ends it.",
        ),
        (
            is(Question::Session, Answer::Yes),
            "`[session] continue = true` can be used; fresh sessions are the default.",
        ),
        (
            is(Question::Session, Answer::No),
            "Leave `[session] continue` at false: what it was told before is lost.",
        ),
        (
            is(Question::Status, Answer::No),
            "It does not say where it stands: give every criterion a check of its own.",
        ),
        (
            is(Question::Honesty, Answer::No),
            "It claims what is not so: give every criterion a check of its own.",
        ),
        (
            is(Question::Stop, Answer::No),
            "It does not end by itself when it is told to: only a PID namespace ends all of it for sure.",
        ),
        (
            can_be_told && is(Question::Hook, Answer::Yes),
            "`mode = \"hook\"` can be used: its stop hook holds the session.",
        ),
        (
            is(Question::Hook, Answer::NotApplicable),
            "`mode = \"hook\"` can be used: the protocol holds the session.",
        ),
    ]
}

/// As a basic string of TOML, which JSON's strings are too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
