//! The heart: what a loop does next. `decide` says what to record and what to do, [`fn@apply`] is the only way
//! state changes, live and in replay, [`deadline`] says when to ask again.
//!
//! The keeper's turn: select one [`Event`], `decide`, append and sync every [`Record`], `apply` them, then
//! perform the [`Effect`]s. What is not worth a record lives in [`VolatileState`] and is lost with the keeper.

pub mod apply;
pub mod attached;
pub mod attempts;
mod between_iterations;
pub mod branch_tracking;
pub mod breaker;
mod calls;
mod checkpoint;
pub mod commits;
pub mod criteria_changes;
mod documents;
pub mod exit;
pub mod final_verdict;
pub mod flaky;
pub mod forecast;
pub mod handle_event;
mod hook_session;
pub mod limits;
mod milestones;
mod orders;
mod permissions;
pub mod progress;
mod prompt_input;
pub mod questions;
mod regression;
mod rounds;
pub mod sessions;
pub mod shared_limits;
#[cfg(any(test, feature = "simulator"))]
pub mod sim;
pub mod spawns;
pub mod state;
pub mod takeover;
#[cfg(test)]
mod tests;
pub mod undo;
pub mod unrunnable;
mod waits;
pub mod weakening;

pub use apply::{apply, replay, state_from_first};
pub use exit::groups;
pub use handle_event::{deadline, decide};
pub use rounds::mark_unstable;
pub use state::{
    Breaker, Iteration, LoopState, LoopUsage, Pause, Phase, SnapshotRef, StopMode, VolatileState, Wait,
};

use std::collections::BTreeMap;

use crate::journal::{GitHead, GuardedOrder, LineStats, LoopSpec, PauseReason, Record, Round};
use crate::prompt::{MemoryFiles, PromptTemplate};
use crate::settings::LoopEvent;
use crate::tamper::WeakeningFinding;
use loopkeeper_agent::acp::talk::PermissionAnswer;
use loopkeeper_agent::{AgentExited, AgentRun};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::moment::Moment;

/// What happened. Events that do not fit the phase are ignored: they are echoes of something given up.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A new loop with an empty journal.
    Launched {
        spec: Box<LoopSpec>,
        boot: String,
    },
    /// A keeper took over a journal that has no end.
    Reopened {
        boot: String,
        version: String,
    },
    /// The records of the turn before are applied: look again.
    WentOn,
    SnapshotTaken(SnapshotFacts),
    /// `reason`: the disk is full, or the workspace cannot be read.
    SnapshotFailed {
        reason: PauseReason,
        message: String,
    },
    /// Answer to [`Effect::TakeBranch`].
    BranchTaken(LoopBranch),
    /// It would not be safe: nothing was changed.
    BranchRefused {
        message: String,
    },
    /// Answer to [`Effect::Commit`].
    Committed(CommitOutcome),
    TaskRead(Box<TaskDocuments>),
    /// Answer to [`Effect::TakeCall`].
    CallAnswered(CallSlot),
    /// The other answer: another loop met the usage limit of this agent and account, which lasts until then.
    LimitKnown {
        until: Moment,
        met_by: String,
    },
    AgentStarted {
        pid: u32,
        agent_pid: Option<u32>,
        domain: String,
        holds: Option<u32>,
    },
    /// Answer to [`Effect::LookForLife`]: output, CPU or a file change since the last look.
    LifeSeen {
        alive: bool,
    },
    /// The agent's process is gone and its kill domain is empty, or its stop hook holds it.
    AgentEnded(Box<AgentRun>),
    /// Its output told of a subagent that nobody was asked about.
    SubagentSeen(spawns::SubagentEvent),
    /// One that was held is gone.
    AgentLeft(Box<AgentExited>),
    /// A session that its user opened asks for work.
    SessionCame(attached::SessionOffer),
    ChecksDone {
        round: Box<Round>,
        wrote: Vec<String>,
        untracked: Vec<String>,
    },
    /// Answer to [`Effect::JudgeFinalTree`].
    FinalVerdict(final_verdict::VerdictReply),
    /// A round was given up because [`Effect::CancelChecks`] asked for it.
    ChecksCancelled,
    /// Answer to [`Effect::PrepareRollback`]: the tree as it is now is kept.
    RollbackReady {
        to: u32,
        paths: Vec<String>,
        shot: SnapshotFacts,
    },
    RolledBack {
        to: u32,
        tree: String,
        from: String,
        /// The tree that was left.
        after: String,
        paths: Vec<String>,
        /// What is not as it is in that tree after all; a folder stands for all below it.
        refused: Vec<String>,
    },
    /// A command of `[on]` did not do what it should; why, in words that follow its name.
    HookFailed {
        event: LoopEvent,
        message: String,
    },
    /// Nothing was put back, or not all of it.
    RollbackFailed {
        message: String,
    },
    /// The state folder's disk is full; the records before this event are durable.
    DiskFilled {
        message: String,
    },
    /// The time that [`deadline`] named has come.
    DeadlinePassed,
    UserAsked(UserCommand),
    /// Whoever waited for [`Effect::Permit`] waits no more.
    AskerLeft,
}

/// A snapshot that is durable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapshotFacts {
    pub tree: String,
    pub head: Option<GitHead>,
    pub not_covered: Vec<String>,
    /// Every path that differs from the snapshot before the iteration; empty for other snapshots.
    pub changed: Vec<String>,
    /// Lines of each of these; `None` where too much changed to be counted.
    pub lines: Option<BTreeMap<String, LineStats>>,
    /// After the agent: what is weaker than at the pinned start.
    pub weakened: Vec<WeakeningFinding>,
    /// Before the agent: protected files that the user changed since the last iteration.
    pub edited: Vec<String>,
    /// Subjects of the commits since HEAD before the iteration, oldest first.
    pub commits: Vec<String>,
}

/// The branch that a loop works on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopBranch {
    /// `None`: there is no repository.
    pub name: Option<String>,
    /// The one that was checked out before.
    pub from: Option<String>,
    /// It was made, from where HEAD stood.
    pub made: bool,
    /// Why there is none.
    pub note: Option<String>,
}

/// What came of [`Effect::Commit`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitOutcome {
    pub iteration: u32,
    /// Its id; `None`: there was nothing to commit, or `note` says why not.
    pub commit: Option<String>,
    pub subject: Option<String>,
    /// What was left out, or why nothing was committed.
    pub note: Option<String>,
}

/// The task's documents as they are now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskDocuments {
    pub prompt: String,
    pub context: Vec<String>,
    pub criteria: Vec<Criterion>,
    pub plan: Vec<PlanItem>,
    /// Of each document, hex of sha256 of its text.
    pub sums: BTreeMap<String, String>,
    /// Criteria whose commands nobody trusted.
    pub untrusted: Vec<CriterionId>,
    /// Files of the agent's own (hooks, servers, settings) that nobody trusted as they are; fit to be shown.
    pub surfaces: Vec<String>,
    /// Globs of `exit.when` that files of the tree match.
    pub matching: Vec<String>,
    pub notes: MemoryFiles,
    /// Of the prompt, as the user has it now.
    pub template: Option<PromptTemplate>,
}

/// What the list of calls that all loops of this user share says to one more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallSlot {
    /// The iteration is on it, durably; again for an iteration that was on it already.
    Taken {
        /// This one included.
        this_hour: u32,
    },
    /// `until`: when the oldest call that counts leaves the window.
    Full { until: Moment },
    /// It cannot be read or written.
    Unknown { message: String },
}

/// What a user asks of a loop at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserCommand {
    Stop,
    StopNow,
    Pause,
    Resume,
    /// Without the checks that cannot run.
    ResumeAnyway,
    Steer(String),
    /// To the question that the loop asks.
    Answer(String),
    /// To this one; another that came since is none of it.
    AnswerTo {
        question: String,
        text: String,
    },
    /// The agent waits to be allowed something: all of it, in words fit to be shown.
    Permission(String),
    ResetBreaker,
    ResetSession,
    AcceptWeakening,
    /// A hook of the agent's asks or tells of a subagent.
    Subagent(spawns::SubagentEvent),
    /// An order from a process that is not the user's.
    Attempt {
        order: GuardedOrder,
        from: attempts::AttemptOrigin,
    },
    Check,
    /// The user saves a document of the task: what is then found in it with exactly these bytes is the user's.
    Saved {
        file: String,
        /// Hex of sha256 of the text.
        sum: String,
    },
    Rollback {
        to: u32,
        paths: Vec<String>,
    },
    /// The last rollback, so that every file is what it was right before it.
    UndoRollback,
}

/// What to do next, in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a handful lives for one turn")]
pub enum Decision {
    Record(Record),
    Effect(Effect),
}

/// What the shell does after the records are durable.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send [`Event::WentOn`].
    GoOn,
    TakeSnapshot,
    /// Make or check out this branch, where that is safe.
    TakeBranch {
        name: String,
    },
    /// Commit what iterations changed, then send [`Event::Committed`].
    Commit(Box<commits::CommitPlan>),
    ReadTask,
    /// `repeats`: rounds of the same kind that were thrown away right before.
    RunChecks {
        criteria: Vec<Criterion>,
        repeats: u32,
    },
    /// Judge the final tree in a clean room, then send [`Event::FinalVerdict`].
    JudgeFinalTree {
        criteria: Vec<Criterion>,
    },
    CancelChecks,
    /// Charge this iteration to the calls of this hour, then send [`Event::CallAnswered`].
    TakeCall {
        iteration: u32,
        /// Usage limits that other loops met count: the agent is not started under one.
        heeds_limits: bool,
    },
    /// The answer to an agent that is held, else a start.
    SpawnAgent {
        iteration: u32,
        session: String,
        /// The session goes on; otherwise the agent begins it.
        resumed: bool,
        /// What it used before, where the agent counts over all its processes.
        session_tokens: u64,
        prompt: String,
    },
    StopAgent {
        why: loopkeeper_agent::AgentEnding,
        grace: KillMode,
    },
    /// Answer the stop hook that the agent may go; its end is [`Event::AgentLeft`].
    LetAgentGo {
        /// For whoever sits at its session.
        why: String,
    },
    LookForLife,
    /// Take a snapshot, so that nothing is lost, then send [`Event::RollbackReady`].
    PrepareRollback {
        to: u32,
        paths: Vec<String>,
    },
    Rollback {
        to: u32,
        tree: String,
        paths: Vec<String>,
        /// Only what differs between this tree and `tree`: what the user changed elsewhere since stays.
        since: Option<String>,
    },
    /// Who gave the order of this event is answered by [`Effect::Permit`].
    AwaitUser,
    Permit(PermissionAnswer),
    /// The order of this event cannot be followed; `code` is a stable word.
    Refuse {
        code: RefusalReason,
        message: String,
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
