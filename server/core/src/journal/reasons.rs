//! The reasons in records for waits, pauses, questions and changes of the session. Later versions may add reasons for
//! waits and pauses: an unknown one is read as `Other`, which is never written.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitReason {
    /// The provider's usage limit.
    Quota,
    /// The provider failed for the moment.
    Backoff,
    /// `limits.between`.
    Between,
    /// `limits.calls_per_hour`, shared by all loops of this user.
    Calls,
    /// The breaker is open; its own record reports it, never one of waiting.
    Breaker,
    /// A reason of a newer program.
    #[serde(other)]
    Other,
}

/// A limit that can end a loop, or delay it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitName {
    Iterations,
    Duration,
    Cost,
    Tokens,
    Calls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseReason {
    User,
    Breaker,
    /// The agent cannot work: login, missing program, repeated failure.
    Agent,
    /// Commands that are not trusted yet.
    Trust,
    /// The state folder's disk is full.
    Disk,
    /// The workspace cannot be read or snapshotted.
    Workspace,
    /// An unanswered question.
    Question,
    /// A check cannot run: the machine lacks what it needs.
    Missing,
    /// The session in its user's terminal is not available, or was released.
    Session,
    /// A reason of a newer program; its message has the details.
    #[serde(other)]
    Other,
}

/// The origin of a question, and the kind of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionKind {
    /// The agent, in its last message.
    Agent,
    /// The provider's usage limit is reached: `wait` or `stop`.
    UsageLimit,
    /// The agent was not allowed to use a tool.
    Denied,
    /// The agent waits for a permission: `allow`, `always` or `deny`.
    Permission,
}

/// Why a session began or was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionReason {
    Started,
    /// Nothing used it for `session.expires`.
    Expired,
    /// The agent was given it and never began it.
    Unconfirmed,
    /// The agent no longer has it.
    Refused,
    Breaker,
    /// The user asked for a fresh one.
    Reset,
    /// The loop has ended.
    Ended,
    /// The files were rolled back to a state before changes that the session remembers.
    RolledBack,
}

/// Why another agent works from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakeoverReason {
    /// The usage limit of the one before.
    Quota,
    /// It is not logged in.
    Login,
    /// Its account has no credit left.
    Billing,
    /// It failed repeatedly, or is not installed.
    Failing,
    /// A preferred agent is available again.
    Back,
}
