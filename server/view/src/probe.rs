//! Determines the capabilities of any agent by a few short calls with known answers. Pure: defines the tasks, evaluates
//! the observations and derives recommendations. The caller runs the agent and collects the observations.

mod judge;
mod output;
mod recommend;
mod report;
mod scenarios;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use loopkeeper_agent::hooks::HookMechanism;
use loopkeeper_agent::reader::KillReason;
use loopkeeper_text::tr;

pub use judge::judge_calls;
pub use output::{OutputFormat, format_of};
pub use recommend::{ProbeSubject, Recommendation, recommend};
pub use report::{ProbeReport, render_markdown};
pub use scenarios::{ALLOWED_COMMAND, HookDelivery, ProbeNonces, ProbeScenario, build_scenario};

/// One call of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// The agent has to put a word together and to remember it.
    Answer,
    /// The same without its home and keys: it has to fail and report the failure.
    Bare,
    /// The session of `Answer` is resumed and asked for the word.
    Recall,
    /// The agent has to write a file with known content.
    Work,
    /// The same task again, although it is done.
    Repeat,
    /// An impossible task, which must not be claimed as done.
    Impossible,
    /// A command that runs for long and is ended by TERM.
    Stop,
    /// A stop hook asks for one more word.
    Hook,
}

impl Probe {
    /// All probes in the order in which they run; each is one call.
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

    /// The probe whose folder is reused; a call without a predecessor starts in a new folder.
    pub fn predecessor(self) -> Option<Self> {
        match self {
            Self::Recall => Some(Self::Answer),
            Self::Repeat => Some(Self::Work),
            Self::Answer | Self::Bare | Self::Work | Self::Impossible | Self::Stop | Self::Hook => None,
        }
    }

    /// A title for progress output.
    pub fn title(self) -> &'static str {
        match self {
            Self::Answer => tr!("it answers"),
            Self::Bare => tr!("it fails without home and keys"),
            Self::Recall => tr!("it continues a session"),
            Self::Work => tr!("it does a task"),
            Self::Repeat => tr!("it is given the same task again"),
            Self::Impossible => tr!("it is given a task that cannot be done"),
            Self::Stop => tr!("it is stopped while a command runs"),
            Self::Hook => tr!("a stop hook holds it"),
        }
    }
}

/// The externally visible result of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Why it could not be started.
    pub not_started: Option<String>,
    /// Whether it was ended because of its timeout.
    pub timed_out: bool,
    /// Why it was ended for lack of progress.
    pub halted: Option<KillReason>,
    /// Time from the command to end until it ended; absent without such a command.
    pub ended_after_ms: Option<u64>,
    pub stdout: String,
    pub stderr: String,
    /// Processes that outlived it and had to be ended, as `pid name`.
    pub survivors: Vec<String>,
    /// The small files of its folder after the call, by name.
    pub files: BTreeMap<String, String>,
    /// Files that it wrote, including those with unchanged content.
    pub written: Vec<String>,
    /// Why the call was not made, if its answer is known without it.
    pub settled: Option<KnownHookState>,
    /// How the stop hook was passed to it, if in the same way as in hook mode; otherwise by files in its folder.
    pub hook_by: Option<HookMechanism>,
}

/// The state of the stop hook that is known without a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownHookState {
    /// Its session is held over the Agent Client Protocol, independent of hooks.
    ByProtocol,
    /// Its hooks are disabled by the settings in this file.
    DisabledIn(String),
}

/// Observations of all calls that were made.
pub type ProbeObservations = BTreeMap<Probe, Observation>;

/// One row of the report: the question, its answer and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeRow {
    pub question: ProbeQuestion,
    pub answer: ProbeAnswer,
    pub fact: String,
}

/// Questions are phrased so that yes is good.
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
            Self::Prompt => tr!("gets its prompt"),
            Self::Output => tr!("prints JSON that is read"),
            Self::ExitCodes => tr!("its exit codes mean something"),
            Self::Session => tr!("a session can be continued"),
            Self::Work => tr!("does the work"),
            Self::Status => tr!("follows the status format"),
            Self::Rest => tr!("leaves finished work alone"),
            Self::Honesty => tr!("claims only what is done"),
            Self::Stop => tr!("ends on SIGTERM, and its tools with it"),
            Self::Hook => tr!("a stop hook holds it"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeAnswer {
    Yes,
    No,
    /// The observations are inconclusive, or the call was not made.
    Unclear,
    /// Irrelevant for a loop with this agent.
    NotApplicable,
}

impl ProbeAnswer {
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => tr!("yes"),
            Self::No => tr!("no"),
            Self::Unclear => tr!("unclear"),
            Self::NotApplicable => tr!("does not apply"),
        }
    }
}
