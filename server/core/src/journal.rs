//! The records of a loop's journal: a public format (`server/JOURNAL.md`). Adding a field or a type is
//! compatible, changing the meaning of one is not. Lines and checksums are in [`mod@line`].

mod breaker;
mod changes;
mod drift_share;
mod feedback;
pub mod line;
mod outcome;
mod proposal;
pub mod reading;
mod reasons;
mod restricted_command;
mod round;
#[cfg(test)]
pub(crate) mod samples;
pub mod scanner;
mod spec;
mod tagged;

use serde::{Deserialize, Serialize};

pub use breaker::{
    BreakerCause, BreakerCounts, BreakerState, ErrorOccurrence, FailingCriterion, IterationChanges,
    RecurringTree, TripEvidence,
};
pub use changes::{ChangeStats, LineStats};
pub use drift_share::DriftShare;
pub use feedback::{StopFeedback, StopVerdict};
pub use outcome::{Claim, Outcome, OutcomeKind};
pub use proposal::{Edit, Proposal};
pub use reasons::{LimitName, PauseReason, QuestionKind, SessionReason, TakeoverReason, WaitReason};
pub use restricted_command::{CommandSender, RestrictedCommand};
pub use round::{
    CheckProgram, CleanRoomCopy, HollowTest, OutsideFiles, PinnedCriterion, Role, Round, SurvivingMutant,
    Weakening,
};
pub use spec::{AgentPlan, EarlierTask, LoopSpec, UnacceptedChange};

use crate::settings::LoopEvent;
use loopkeeper_agent::claims::Claims;
use loopkeeper_agent::{AgentExited, AgentRun, ProviderError};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;

/// One line of the journal, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub seq: u64,
    /// Counts keepers of this loop; a record of an older epoch than one before it is ignored.
    pub epoch: u32,
    pub at: Moment,
    pub record: Record,
}

/// What happened. Names of variants and fields are part of the format; in a line the type is a member beside the
/// fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Record {
    LoopStarted {
        boot: String,
        spec: Box<LoopSpec>,
    },
    /// The branch that the loop works on is checked out.
    BranchTaken {
        /// `None`: `note` explains why there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The one that was checked out before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// It was created, at HEAD.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        made: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// `git.commit = "server"`: what the iteration changed is committed, or could not be.
    Committed {
        iteration: u32,
        /// `None`: there was nothing to commit, or `note` explains why not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
        /// What was left out, or why nothing was committed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The pinned criteria and what held before the first iteration; again when the user changed criteria.
    Baseline {
        /// The last iteration before it; 0 at the start.
        iteration: u32,
        criteria: Vec<PinnedCriterion>,
        plan: Vec<PlanItem>,
        #[serde(default)]
        artefacts: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<Box<Round>>,
        /// What `clean` tolerates: untracked at the start.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untracked: Vec<String>,
        /// The criteria in the documents when this was pinned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seen: Vec<Criterion>,
    },
    /// Durable before the agent is started: this number is used up and charged.
    IterationIntended {
        iteration: u32,
        session: String,
        /// It continues the session of an earlier iteration.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        resumed: bool,
        /// sha256 of the prompt, whose text is `prompts/<NNNN>.md`.
        prompt: String,
        tree: String,
        /// Starts of all loops of this user in the last hour, this one included.
        #[serde(default)]
        calls_this_hour: u32,
        /// Why only this loop's own starts were counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        calls_note: Option<String>,
    },
    AgentStarted {
        iteration: u32,
        pid: u32,
        /// The agent's own number outside of any PID namespace; `None`: it ended before it was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_pid: Option<u32>,
        /// `pid-namespace`, `landlock` or `subreaper`.
        domain: String,
        /// Where the settings close the network: `closed`, `no-tcp`, or `open: ` and the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<String>,
        /// How often its stop hook may still hold it, where the agent sets a cap.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holds: Option<u32>,
    },
    /// The process that its stop hook held after this iteration has ended, and its kill domain is empty.
    AgentLeft {
        iteration: u32,
        left: Box<AgentExited>,
    },
    AgentEnded {
        iteration: u32,
        run: Box<AgentRun>,
    },
    /// The agent, or one of its subagents, asks to start a subagent.
    SubagentAsked {
        iteration: u32,
        /// The subagent that asks; `None`: the agent itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The agent's own id of the call of its tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// Its task, as the agent describes it.
        what: String,
        /// Why it was refused, as sent to the agent; `None`: it was allowed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    /// Written again for a subagent that was mistaken for another.
    SubagentStarted {
        iteration: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        id: String,
        /// Its kind or task, as the agent describes it.
        what: String,
    },
    SubagentEnded {
        iteration: u32,
        id: String,
    },
    SnapshotTaken {
        iteration: u32,
        when: SnapshotWhen,
        tree: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<GitHead>,
        /// Paths the snapshot does not hold (too big, unreadable); the first 50.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_covered: Vec<String>,
        /// Right before a rollback is undone: `seq` of what is undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undoes: Option<u64>,
    },
    ChecksDone {
        /// `None`: requested by the user while the loop was paused, or repeated because files had changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iteration: Option<u32>,
        round: Box<Round>,
    },
    IterationEnded {
        iteration: u32,
        changes: Box<ChangeStats>,
        plan: Vec<PlanItem>,
        /// Criteria that the agent added, removed or altered in the documents; shown, never applied.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        proposed: Vec<Proposal>,
        /// The documents' criteria as the agent left them, if they differ from before: later changes are the
        /// user's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Vec<Criterion>>,
        /// Artefacts that the agent edited: they count as work from here on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edited_artefacts: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<Claim>,
        /// Everything that the agent's last message claims, if it claims anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claims: Option<Box<Claims>>,
        /// It did nothing but run tests.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        test_only: bool,
        /// Globs of `exit.when` that files of the tree match.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        matching: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ProviderError>,
        /// Judges that the agent weakened and that were neither restored nor accepted: with any of them, the loop is
        /// not done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weakened: Vec<Weakening>,
        /// One sentence for people: what this iteration did.
        sentence: String,
        /// Criteria that changed to passing and plan items that were completed in it, as text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        milestones: Vec<String>,
        /// Subjects of the commits that it left HEAD at, oldest first; the last 20.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commits: Vec<String>,
        /// Limits that are nearly reached since this iteration; each is reported once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        near: Vec<LimitName>,
        /// Changed sources that the task does not mention; `None` if the task names no source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drift: Option<Box<DriftShare>>,
    },
    BreakerChanged {
        state: BreakerState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What brought the change about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<BreakerCause>,
        #[serde(default)]
        no_progress: u32,
        /// How often it opened since the user last reset it.
        #[serde(default)]
        trips: u32,
        /// How long it stays open before its trial, doubled with every trial that failed; 0 when it closes.
        #[serde(default)]
        cooldown_ms: u64,
        /// When it lets an iteration through automatically; `None`: only at the user's command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resumes_at: Option<Moment>,
        /// The evidence for an opening.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opening: Option<Box<TripEvidence>>,
    },
    Waiting {
        reason: WaitReason,
        until: Moment,
        /// The other loop of this user that met the usage limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        met_by: Option<String>,
    },
    Paused {
        reason: PauseReason,
        message: Message,
    },
    /// The user continues although these checks cannot run.
    ChecksWaived {
        criteria: Vec<CriterionId>,
    },
    Resumed {},
    Steered {
        text: String,
    },
    /// The loop asks its user a question.
    Asked {
        id: String,
        kind: QuestionKind,
        text: String,
        /// How long it waits for an answer; `None`: no user is present, so that it does not wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Moment>,
    },
    Answered {
        id: String,
        /// `None`: it was not answered, and the loop continues without an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The session that iterations continue was replaced (only with `session.continue`).
    SessionChanged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        reason: SessionReason,
    },
    /// The user's own session works from here on (`mode = "attach"`).
    SessionJoined {
        session: String,
        holds: u32,
        /// What it used before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
    },
    /// Another agent of the loop's list works from here on.
    AgentChanged {
        from: String,
        to: String,
        reason: TakeoverReason,
        /// When the previous agent can be tried again; absent: after a request of the user, or at any time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Moment>,
        /// The message of its provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A stop is durable before it is acknowledged; no recovery undoes it.
    Stopping {
        now: bool,
    },
    /// The user accepts weakened files and checks as they are: from here on they are compared with `tree`.
    WeakeningAccepted {
        paths: Vec<String>,
        /// Checks that run fewer tests than at the start.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        criteria: Vec<CriterionId>,
        tree: String,
        /// Who accepted it and where: `alice in a terminal`. Absent in records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The user changed files that the agent must not weaken between two iterations: from here on they are compared
    /// with `tree`.
    ProtectedEdited {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// Too many to be named: all of them.
        #[serde(default)]
        all: bool,
        tree: String,
    },
    /// The checks ran in a clean room, before the loop completes.
    FinalVerdict {
        iteration: u32,
        /// The tree that was judged.
        tree: String,
        /// The tree as the agent left it; `None`: there was no clean room.
        #[serde(default, rename = "asLeft", skip_serializing_if = "Option::is_none")]
        final_round: Option<Box<Round>>,
        /// The same with the judges of the start; `None`: no judge changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<Box<Round>>,
        /// Judges that differ from the start; the first 200.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judges: Vec<String>,
        #[serde(default)]
        judge_count: u64,
        /// All that counts as weakened from here on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weakened: Vec<Weakening>,
        /// The basis of the proof, as the end of the loop's sentence.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        basis: String,
        /// The judges of the start cannot run on the final tree, or something could not be judged, so that the outcome
        /// is claimed, not verified.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unproven: bool,
        /// The programs that the checks ran by name; the first 20.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        programs: Vec<CheckProgram>,
        /// The clean room was a copy of the tree at another path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copied: Option<Box<CleanRoomCopy>>,
        /// Variables that changed the order of tests in the first round, as `name=value`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seeds: Vec<String>,
        /// What was new outside the work tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outside: Option<Box<OutsideFiles>>,
        /// Why there was no clean room.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unavailable: Option<String>,
    },
    /// The checks ran on mutants of the lines that the loop changed, before it completes.
    Mutants {
        iteration: u32,
        /// The tree that the mutants are of.
        tree: String,
        tried: u64,
        /// Mutants with which a check fails.
        noticed: u64,
        /// The others; the first 20.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        survivors: Vec<SurvivingMutant>,
        /// Tests that the loop added and that notice none; the first 20.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hollow: Vec<HollowTest>,
        /// Why none was tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skipped: Option<String>,
    },
    TrustChanged {
        message: String,
    },
    /// A command that only the user may give came from a process of a loop, and was refused.
    #[serde(rename = "order-refused")]
    CommandRefused {
        iteration: u32,
        #[serde(rename = "order")]
        command: RestrictedCommand,
        by: CommandSender,
    },
    /// A command of `[on]` failed; the first time for each since the user last resumed the loop.
    HookFailed {
        event: LoopEvent,
        message: String,
    },
    RolledBack {
        /// The tree after this iteration; 0 is the start.
        to: u32,
        tree: String,
        /// The snapshot of the tree before the rollback.
        from: String,
        /// Only these; empty: everything.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// Why the loop itself did it; `None`: the user asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Weakened files that are equal to their baseline again.
        #[serde(rename = "mended", default, skip_serializing_if = "Vec::is_empty")]
        restored: Vec<String>,
        /// The snapshot of the tree after the rollback, if that is not `tree`: paths were named, or files were left as
        /// they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// `seq` of the rollback that this one undoes, or of the snapshot before it if that rollback was interrupted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undoes: Option<u64>,
    },
    /// Another keeper took over. `interrupted`: the iteration that was in flight.
    Recovered {
        boot: String,
        version: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupted: Option<u32>,
    },
    Ended {
        outcome: Outcome,
    },
    /// The user's judgement of the moment at which the loop ended, after `ended`; the last one counts.
    Feedback {
        verdict: StopVerdict,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A type this version does not know: kept in the chain, otherwise ignored.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnapshotWhen {
    /// Right before the agent starts.
    Before,
    /// After the agent's kill domain is empty; of iteration 0: the start.
    After,
    /// Right before a rollback.
    BeforeRollback,
}

/// HEAD of the user's own repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitHead {
    pub commit: String,
    pub tree: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}
