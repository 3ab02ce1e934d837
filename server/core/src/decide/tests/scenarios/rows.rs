//! Loops as rows of a table: the task, what the agent does at each start, how the loop must end. The same rows are
//! played by the pure machine on a fake clock and by the real binary with a scripted agent; nothing here knows
//! which. No start of an agent beyond `after`: playing a row asserts that too.

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
    /// Where there are no criteria, these say what the task is.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Items of a `PROMPT.md` with nothing else.
    pub(crate) criteria: &'static [&'static str],
    /// Lines of `loopkeeper.toml`.
    pub(crate) settings: &'static str,
    /// The agent of each iteration, `mine` or `other`. Empty: `mine` is the only agent.
    pub(crate) by: &'static [&'static str],
    /// One a start, the last one ever after.
    pub(crate) acts: &'static [&'static [Do]],
    pub(crate) ends: End,
}

/// What a row leaves out.
pub(crate) const ROW: Row =
    Row { name: "", files: &[], criteria: &[], settings: "", by: &[], acts: &[], ends: verified(0, "") };

impl Row {
    /// Its settings with the list of agents.
    pub(crate) fn lines(&self) -> String {
        let agents = if self.by.is_empty() { "" } else { "agent = [\"mine\", \"other\"]\n" };
        format!("{agents}{}", self.settings)
    }
}

/// What the agent does; `$n` in a path is the number of the start.
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
    /// Never ends, and never stops talking.
    Babble,
    /// Leaves a process behind.
    Leave,
    /// The provider's answer, by Claude Code's own records.
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

/// How a loop ends without a user to ask.
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
