//! The state machine of a loop. `decide` returns what to record and what to do next, [`fn@apply`] is the only way state
//! changes, live and in replay, and [`deadline`] returns when to call it again.
//!
//! The keeper's turn: select one [`Event`], `decide`, append and sync every [`Record`], `apply` them, then perform the
//! [`Effect`]s. Facts not worth a record live in [`VolatileState`] and are lost with the keeper.

pub mod apply;
pub mod attached;
pub mod attempts;
pub mod autorun_note;
mod between_iterations;
pub mod branch_tracking;
pub mod breaker;
mod calls;
mod checkpoint;
pub mod commits;
pub mod criteria_changes;
mod documents;
pub mod drift;
pub mod durability;
mod earlier_task;
pub mod early_warning;
mod endings;
pub mod exit;
pub mod final_verdict;
pub mod flaky;
pub mod forecast;
pub mod handle_event;
mod hook_session;
mod iteration_start;
pub mod limits;
mod milestones;
pub mod mutants;
mod next_step;
mod old_iterations;
mod permissions;
pub mod progress;
mod prompt_input;
pub mod questions;
mod regression;
mod removed_document;
mod rollback;
mod rounds;
pub mod sessions;
pub mod shared_limits;
#[cfg(any(test, feature = "simulator"))]
pub mod sim;
pub mod spans;
pub mod spawns;
pub mod takeover;
#[cfg(test)]
mod tests;
pub mod undo;
pub mod unrunnable;
mod user_commands;
mod waits;
pub mod weakening;

pub use crate::loop_state::{
    AgentHold, Breaker, Iteration, IterationFigures, IterationHistory, IterationOutline, LoopState,
    LoopUsage, Pause, Phase, RunningAgent, SAVED_STATE_VERSION, SnapshotFacts, SnapshotRef, StopMode,
    TaskDocuments, VolatileState, Wait,
};
pub use apply::{apply, replay, state_from_first};
pub use earlier_task::earlier_task;
pub use exit::groups;
pub use handle_event::{deadline, decide};
pub use prompt_input::{decisions, sandbox_denies, sandbox_denies_hosts};
pub use rounds::mark_unstable;

use crate::journal::{LoopSpec, PauseReason, Record, RestrictedCommand, Round};
use crate::settings::LoopEvent;
use loopkeeper_agent::acp::client::PermissionAnswer;
use loopkeeper_agent::{AgentExited, AgentRun};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;

/// Input of [`fn@decide`]. Events that do not fit the phase are ignored: they belong to work that was given up.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A new loop with an empty journal.
    Launched {
        spec: Box<LoopSpec>,
        boot: String,
    },
    /// A keeper took over a journal that does not end with `ended`.
    Reopened {
        boot: String,
        version: String,
    },
    /// The records of the previous turn are applied: decide again.
    Continued,
    SnapshotTaken(SnapshotFacts),
    /// `reason`: the disk is full, or the workspace cannot be read.
    SnapshotFailed {
        reason: PauseReason,
        message: Message,
    },
    /// Answer to [`Effect::TakeBranch`].
    BranchTaken(LoopBranch),
    /// Switching would not be safe: nothing was changed.
    BranchRefused {
        message: String,
    },
    /// Answer to [`Effect::Commit`].
    Committed(CommitOutcome),
    TaskRead(Box<TaskDocuments>),
    /// Answer to [`Effect::TakeCallSlot`].
    CallAnswered(CallSlot),
    /// The other answer to [`Effect::TakeCallSlot`]: another loop reached the usage limit of this agent and account; `until`:
    /// when the limit ends.
    UsageLimitShared {
        until: Moment,
        met_by: String,
    },
    AgentStarted {
        pid: u32,
        agent_pid: Option<u32>,
        domain: String,
        /// How the network is restricted, if the settings close it.
        network: Option<String>,
        /// How often its stop hook may still hold it, if the agent has a cap.
        holds: Option<u32>,
    },
    /// Answer to [`Effect::CheckActivity`]: output, CPU use or a file change since the last check.
    ActivityChecked {
        alive: bool,
    },
    /// The agent's process has ended and its kill domain is empty, or its stop hook holds it.
    AgentEnded(Box<AgentRun>),
    /// The agent's output reported a subagent that had no permission request.
    SubagentSeen(spawns::SubagentEvent),
    /// A held agent exited.
    AgentLeft(Box<AgentExited>),
    /// A session that its user opened requests its next prompt.
    SessionOffered(attached::SessionOffer),
    ChecksDone {
        round: Box<Round>,
        wrote: Vec<String>,
        untracked: Vec<String>,
        /// Added files to which nothing refers, where the round could end the loop.
        strays: Vec<String>,
    },
    /// Answer to [`Effect::JudgeFinalTree`].
    FinalVerdict(final_verdict::VerdictReply),
    /// Answer to [`Effect::TestMutants`].
    MutantsTested(mutants::MutantReply),
    /// A round was given up because [`Effect::CancelChecks`] asked for it.
    ChecksCancelled,
    /// Answer to [`Effect::PrepareRollback`]: the current tree is stored as a snapshot.
    RollbackReady {
        to: u32,
        paths: Vec<String>,
        snapshot: SnapshotFacts,
    },
    RolledBack {
        to: u32,
        tree: String,
        from: String,
        /// The tree after the rollback.
        after: String,
        paths: Vec<String>,
        /// Paths that differ from that tree after all; a folder includes everything below it.
        refused: Vec<String>,
    },
    /// A command of `[on]` failed; the reason, phrased to follow the command's name.
    HookFailed {
        event: LoopEvent,
        message: String,
    },
    /// Nothing was restored, or not everything.
    RollbackFailed {
        message: Message,
    },
    /// The state folder's disk is full; the records before this event are durable.
    DiskFilled {
        message: Message,
    },
    /// The time that [`deadline`] returned has come.
    DeadlinePassed,
    UserAsked(UserCommand),
    /// The caller that waited for [`Effect::Permit`] disconnected.
    PermissionCallerDisconnected,
}

/// The branch that a loop works on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopBranch {
    /// `None`: there is no repository.
    pub name: Option<String>,
    /// The branch that was checked out before.
    pub from: Option<String>,
    /// The branch was created, from HEAD.
    pub made: bool,
    /// Why there is no branch.
    pub note: Option<String>,
}

/// Result of [`Effect::Commit`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitOutcome {
    pub iteration: u32,
    /// Id of the commit; `None`: there was nothing to commit, or `note` contains the reason.
    pub commit: Option<String>,
    pub subject: Option<String>,
    /// The changes that were left out, or why nothing was committed.
    pub note: Option<String>,
}

/// Answer of the rate limiter that all loops of this user share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallSlot {
    /// The slot is recorded durably; the answer is the same for an iteration that already has a slot.
    Taken {
        /// This one included.
        this_hour: u32,
    },
    /// `until`: when the oldest counted call leaves the window.
    Full { until: Moment },
    /// The list cannot be read or written.
    Unknown { message: String },
}

/// A command to a running loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserCommand {
    Stop,
    StopNow,
    Pause,
    Resume,
    /// Resumes without the checks that cannot run.
    ResumeAnyway,
    Steer(String),
    /// Answers the question that is open now.
    Answer(String),
    /// Answers this question only; a newer one is not affected.
    AnswerTo {
        question: String,
        text: String,
    },
    /// A permission request of the agent: the complete request, fit to be shown.
    Permission(String),
    ResetBreaker,
    ResetSession,
    AcceptWeakening {
        /// The user who accepts, as the client names them; fit to be stored.
        by: Option<String>,
    },
    /// A hook of the agent requests or reports a subagent.
    Subagent(spawns::SubagentEvent),
    /// A command from a process that does not belong to the user.
    Attempt {
        command: RestrictedCommand,
        from: attempts::AttemptOrigin,
    },
    Check,
    /// The user saves a document of the task: changes found in a document with exactly these bytes are the user's.
    Saved {
        file: String,
        /// Hex of sha256 of the text.
        sum: String,
    },
    Rollback {
        to: u32,
        paths: Vec<String>,
    },
    /// Undoes the last rollback, so that every file is what it was right before it.
    UndoRollback,
}

/// One of the steps that follow an event, in their order.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a handful lives for one turn")]
pub enum Decision {
    Record(Record),
    Effect(Effect),
}

impl Decision {
    /// The record, after which the loop decides again.
    fn record_and_continue(record: Record) -> Vec<Self> {
        vec![Self::Record(record), Self::Effect(Effect::Continue)]
    }
}

/// An action of the keeper, performed after the records are durable.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send [`Event::Continued`].
    Continue,
    TakeSnapshot,
    /// Make or check out this branch, where that is safe.
    TakeBranch {
        name: String,
    },
    /// Commit what iterations changed, then send [`Event::Committed`].
    Commit(Box<commits::CommitPlan>),
    ReadTask,
    /// `repeats`: rounds of the same kind that were discarded right before.
    RunChecks {
        criteria: Vec<Criterion>,
        repeats: u32,
    },
    /// Judge the final tree in a clean room, then send [`Event::FinalVerdict`].
    JudgeFinalTree {
        criteria: Vec<Criterion>,
    },
    /// Run checks on mutants of the final tree in clean rooms, then send [`Event::MutantsTested`].
    TestMutants(mutants::MutantPlan),
    CancelChecks,
    /// Charge this iteration to the calls of this hour, then send [`Event::CallAnswered`].
    TakeCallSlot {
        iteration: u32,
        /// Usage limits reported by other loops apply: the agent is not started under one.
        heeds_limits: bool,
    },
    /// Answer a held agent, otherwise start one.
    SpawnAgent {
        iteration: u32,
        session: String,
        /// The session continues; otherwise the agent begins it.
        resumed: bool,
        /// Tokens the session used before, where the agent counts over all its processes.
        session_tokens: u64,
        prompt: String,
    },
    StopAgent {
        why: loopkeeper_agent::AgentEnding,
        grace: KillMode,
    },
    /// Answer the stop hook so that the agent may exit; its exit is [`Event::AgentLeft`].
    ReleaseAgent {
        /// Message for the user of the session.
        why: String,
    },
    CheckActivity,
    /// Take a snapshot, so that nothing is lost, then send [`Event::RollbackReady`].
    PrepareRollback {
        to: u32,
        paths: Vec<String>,
    },
    Rollback {
        to: u32,
        tree: String,
        paths: Vec<String>,
        /// Only what differs between this tree and `tree`: files that the user has changed elsewhere since are kept.
        since: Option<String>,
    },
    /// The sender of this event's command is answered by [`Effect::Permit`].
    AwaitUser,
    Permit(PermissionAnswer),
    /// Reject the command of this event; `code` is a stable identifier.
    Refuse {
        code: RefusalReason,
        message: Message,
    },
    /// The loop has ended: answer, close, exit.
    Finish,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillMode {
    /// TERM, then KILL after `limits.grace`.
    Given,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// The loop is in the wrong phase for it.
    Conflict,
    /// It did not come from the user.
    Forbidden,
    BadArgument,
}
