//! Finds out what an agent can do by a few short calls with known answers, whatever program it is. Pure: here are
//! the tasks, what is made of what was seen, and what follows from it; who starts the agent brings what was seen.

mod judge;
mod output;
mod recommend;
mod report;
mod scenes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use loopkeeper_agent::hooks::HookMechanism;
use loopkeeper_agent::reader::KillReason;

pub use judge::judge_calls;
pub use output::{OutputFormat, format_of};
pub use recommend::{ProbeSubject, Recommendation, recommend};
pub use report::{ProbeReport, render_markdown};
pub use scenes::{PROBED, ProbeNonces, ProbeScenario, build_scenario};

/// One call of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// It has to put a word together, and to remember it.
    Answer,
    /// The same without its home and its keys: it has to fail, and to say so.
    Bare,
    /// The session of `Answer`, gone on with: what was the word?
    Recall,
    /// A file with a known content has to be written.
    Work,
    /// The same again, although it is done.
    Repeat,
    /// What cannot be done must not be claimed.
    Impossible,
    /// A command that runs for long; then comes TERM.
    Stop,
    /// A stop hook asks for one word more.
    Hook,
}

impl Probe {
    /// In the order in which they are made; each is one call.
    pub const ALL: [Self; 8] = [
        Self::Answer,
        Self::Bare,
        Self::Recall,
        Self::Work,
        Self::Repeat,
        Self::Impossible,
        Self::Stop,
        Self::Hook,
    ];

    /// Whose folder it goes on in; a call with none begins with a new one.
    pub fn predecessor(self) -> Option<Self> {
        match self {
            Self::Recall => Some(Self::Answer),
            Self::Repeat => Some(Self::Work),
            Self::Answer | Self::Bare | Self::Work | Self::Impossible | Self::Stop | Self::Hook => None,
        }
    }

    /// What it is about, for somebody who waits.
    pub fn title(self) -> &'static str {
        match self {
            Self::Answer => "it answers",
            Self::Bare => "it fails without home and keys",
            Self::Recall => "it goes on with a session",
            Self::Work => "it does a task",
            Self::Repeat => "it is given the same task again",
            Self::Impossible => "it is given a task that cannot be done",
            Self::Stop => "it is stopped while a command runs",
            Self::Hook => "a stop hook holds it",
        }
    }
}

/// What one call looked like from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Why it could not even be started.
    pub not_started: Option<String>,
    /// It was ended for taking too long.
    pub timed_out: bool,
    /// It was ended for going on without getting anywhere.
    pub halted: Option<KillReason>,
    /// How long it took to end after it was told to; absent where it was not.
    pub ended_after_ms: Option<u64>,
    pub stdout: String,
    pub stderr: String,
    /// Outlived it and had to be ended, as `pid name`.
    pub survivors: Vec<String>,
    /// The small files of its folder after the call, by name.
    pub files: BTreeMap<String, String>,
    /// Files that it wrote, even with the same content.
    pub written: Vec<String>,
    /// Why the call was not made, where that answers what it would have asked.
    pub settled: Option<KnownHookState>,
    /// How it was told of the stop hook, where that is the way in which hook mode tells it; else by files of its folder.
    pub hook_by: Option<HookMechanism>,
}

/// What is known of the stop hook without a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownHookState {
    /// Its session is held by the Agent Client Protocol, whatever hooks it has.
    ByProtocol,
    /// Its hooks are off, by the settings there.
    HooksOff(String),
}

/// All calls that were made.
pub type ProbeObservations = BTreeMap<Probe, Observation>;

/// A line of the answer: the question, whether it is so, by what one saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeRow {
    pub question: ProbeQuestion,
    pub answer: ProbeAnswer,
    pub fact: String,
}

/// Every one is asked so that a yes is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeQuestion {
    Prompt,
    Output,
    ExitCodes,
    Session,
    Work,
    Status,
    Rest,
    Honesty,
    Stop,
    Hook,
}

impl ProbeQuestion {
    pub fn words(self) -> &'static str {
        match self {
            Self::Prompt => "gets its prompt",
            Self::Output => "prints JSON that is read",
            Self::ExitCodes => "its exit codes mean something",
            Self::Session => "a session can be continued",
            Self::Work => "does the work",
            Self::Status => "follows the status format",
            Self::Rest => "leaves finished work alone",
            Self::Honesty => "claims only what is done",
            Self::Stop => "ends on SIGTERM, and its tools with it",
            Self::Hook => "a stop hook holds it",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeAnswer {
    Yes,
    No,
    /// What was seen says neither, or the call was not made.
    Unclear,
    /// It makes no difference to a loop with this agent.
    NotApplicable,
}

impl ProbeAnswer {
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unclear => "unclear",
            Self::NotApplicable => "does not apply",
        }
    }
}
