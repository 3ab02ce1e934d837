//! Loops as rows of a table: the task, the turns of the agent at each start, and the expected end. The simulator plays
//! them on a fake clock, and the real binary with a scripted agent. Both also assert that the agent is started `after`
//! times.

#[path = "rows/claims.rs"]
mod claims;
#[path = "rows/faults.rs"]
mod faults;
#[path = "rows/plans.rs"]
mod plans;
#[path = "rows/work.rs"]
mod work;

pub(crate) use claims::{BESIDE_CHECKS, WITHOUT_CHECKS};
pub(crate) use faults::FAULTS;
pub(crate) use plans::PLANS;
pub(crate) use work::WORK;

pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// They define the task if there are no `criteria`.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Items of a `PROMPT.md` with nothing else.
    pub(crate) criteria: &'static [&'static str],
    /// Lines of `loopkeeper.toml`.
    pub(crate) settings: &'static str,
    /// The agent of each iteration, `mine` or `other`. Empty: `mine` is the only agent.
    pub(crate) by: &'static [&'static str],
    /// One for each start; the last one repeats.
    pub(crate) turns: &'static [&'static [Do]],
    pub(crate) ends: End,
}

/// The defaults of a row.
pub(crate) const ROW: Row =
    Row { name: "", files: &[], criteria: &[], settings: "", by: &[], turns: &[], ends: verified(0, "") };

impl Row {
    /// Its settings with the list of agents.
    pub(crate) fn lines(&self) -> String {
        let agents = if self.by.is_empty() { "" } else { "agent = [\"mine\", \"other\"]\n" };
        format!("{agents}{}", self.settings)
    }
}

/// An action of the agent; `$n` in a path is the number of the start.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Do {
    /// Adds a line to this file.
    Make(&'static str),
    Drop(&'static str),
    Write(&'static str, &'static str),
    /// Ticks the first open box of the plan.
    Tick,
    Say(&'static str),
    /// Fails on its own, with a last message.
    Crash(&'static str),
    /// Never ends, and prints nothing.
    Hang,
    /// Never ends, and prints all the time.
    Babble,
    /// Leaves a process behind.
    Leave,
    /// The answer of the provider, in the output format of Claude Code.
    Meets(Provider),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    LoginFailed,
    /// With a reset in a second, where the clock is real.
    Quota,
    Overloaded,
    /// Answers, and denies a tool.
    Denies,
    Answers,
}

/// The end of an unattended loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) kind: &'static str,
    pub(crate) verified: bool,
    pub(crate) after: u32,
    /// A part of its sentence.
    pub(crate) says: &'static str,
}

pub(crate) const fn verified(after: u32, says: &'static str) -> End {
    End { kind: "completed", verified: true, after, says }
}

const fn claimed(after: u32, says: &'static str) -> End {
    End { kind: "completed", verified: false, after, says }
}

pub(crate) const fn limit(after: u32, says: &'static str) -> End {
    End { kind: "limit", verified: false, after, says }
}

const fn breaker(after: u32, says: &'static str) -> End {
    End { kind: "breaker", verified: false, after, says }
}

pub(crate) const fn failed(after: u32, says: &'static str) -> End {
    End { kind: "failed", verified: false, after, says }
}

const fn stopped(after: u32, says: &'static str) -> End {
    End { kind: "stopped", verified: false, after, says }
}
