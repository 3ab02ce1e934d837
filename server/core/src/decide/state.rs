//! The state of one loop: what its records contain, and separately what only the running keeper knows.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{CheckResult, Status};
use crate::claims::Claims;
use crate::journal::{
    BreakerState, ChangeStats, Claim, GitHead, LimitName, LoopSpec, Outcome, PauseReason, Pinned, Proposal,
    Role, SnapshotWhen, WaitReason,
};
use crate::jury::JudgeUsage;
use crate::settings::LoopEvent;
use loopkeeper_agent::errors::{Fingerprint, SeenError};
use loopkeeper_agent::{AgentEnding, ProviderError};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;

use super::TaskDocuments;
use super::attempts::Attempts;
use super::branch_tracking::BranchTracking;
use super::checkpoint::Checkpoint;
use super::commits::UncommittedWork;
use super::flaky::FlakyState;
use super::questions::QuestionState;
use super::sessions::SessionHistory;
use super::shared_limits::SharedLimit;
use super::takeover::AgentSlot;
use super::undo::UndoableRollback;
use super::unrunnable::UnrunnableChecks;
use super::weakening::WeakeningState;

/// Everything that the journal contains about a loop. Only `apply` changes it.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude each other")]
pub struct LoopState {
    pub spec: LoopSpec,
    /// All agents of the loop, in the order of the list; `spec.agent` is the one at work.
    pub crew: Vec<AgentSlot>,
    pub boot: String,
    pub epoch: u32,
    pub seq: u64,
    pub started_at: Moment,
    /// When the last record was written.
    pub last_at: Moment,
    pub phase: Phase,
    /// The last iteration that was started; 0 before the first.
    pub iteration: u32,
    pub pinned: Vec<Pinned>,
    /// Everything required held before the first iteration.
    pub held_at_start: bool,
    pub plan: Vec<PlanItem>,
    /// Paths that the baseline round wrote: no work of the agent's.
    pub artefacts: BTreeSet<String>,
    pub untracked: Vec<String>,
    /// The documents' criteria as last seen before the user could change them; `None` after a crash.
    pub seen: Option<Vec<Criterion>>,
    pub proposed: Vec<Proposal>,
    /// The last result of each criterion.
    pub results: BTreeMap<CriterionId, CheckResult>,
    /// The tree of the last round.
    pub judged_tree: String,
    /// Files were put back or changed since: the results are those of files that are gone.
    pub is_unjudged: bool,
    pub history: Vec<Iteration>,
    pub spent: LoopUsage,
    pub breaker: Breaker,
    /// Agent failures in a row without any change of the tree.
    pub failures: u32,
    /// Iterations in a row that the provider turned away or failed for the moment, since anything changed.
    pub stalls: u32,
    /// Limits whose small rest an iteration has reported.
    pub warned: BTreeSet<LimitName>,
    /// Why the calls of other loops were not counted at the last start.
    pub calls_note: Option<String>,
    /// Commands of `[on]` that failed since the user last resumed the loop, and how.
    pub hooks_failed: BTreeMap<LoopEvent, String>,
    /// Orders of processes that are not the user's.
    pub attempts: Attempts,
    /// Done signals in a row: iterations that ended with a claim. Words alone are one only where nothing changed.
    pub claims: u32,
    /// A goal has turned at some time.
    pub turned: bool,
    /// First iteration of the present row of rounds in which everything required with a check passed.
    pub passing_since: Option<u32>,
    pub steering: Vec<String>,
    pub questions: QuestionState,
    pub session: SessionHistory,
    pub spawns: super::spawns::SubagentLineage,
    /// The agent's process is alive and held by its stop hook: the next iteration can be its answer.
    pub held: bool,
    /// How often its stop hook may still hold it; `None`: as often as is wanted.
    pub holds: Option<u32>,
    /// The last round ran while the agent was still alive, so it cannot complete the loop.
    pub checked_with_agent_alive: bool,
    pub stop: Option<StopMode>,
    pub pause: Option<Pause>,
    pub wait: Option<Wait>,
    /// A usage limit that another loop met.
    pub shared_limit: SharedLimit,
    /// Milliseconds at work or waiting for the provider, up to `last_at`; pauses and dead keepers left out.
    pub worked_ms: u64,
    pub paused_ms: u64,
    pub snapshots: Vec<SnapshotRef>,
    /// The tree as it was last seen: by a snapshot, a round of checks, or after a rollback.
    pub last_tree: String,
    /// The last rollback.
    pub undo: Option<UndoableRollback>,
    /// Where the user's repository stood before the present iteration.
    pub head_before: Option<GitHead>,
    /// What passed right before the present iteration.
    pub passing_before: BTreeSet<CriterionId>,
    /// Iterations in a row that the loop itself took back.
    pub rollbacks: u32,
    /// How things stood after each iteration, for a way back to it.
    pub marks: BTreeMap<u32, Checkpoint>,
    pub outcome: Option<Outcome>,
    pub kept: WeakeningState,
    pub flaky: FlakyState,
    pub unrunnable: UnrunnableChecks,
    /// The loop's own branch is checked out, or it has none.
    pub has_branch: bool,
    pub stand: BranchTracking,
    pub pending: UncommittedWork,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The start's snapshot is being taken.
    Starting,
    /// Checks before the first iteration, or after the user changed criteria.
    Baseline,
    /// Between iterations.
    Boundary,
    /// The snapshot before the next iteration is taken, its task is being read.
    Preparing,
    Iterating {
        since: Moment,
        pid: Option<u32>,
    },
    /// The agent is gone, the snapshot after it is being taken.
    Closing,
    Checking,
    Ended,
}

/// One row of the history.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude each other")]
pub struct Iteration {
    pub number: u32,
    /// Its name.
    pub agent: String,
    pub started_at: Moment,
    /// When all of it was over, checks included.
    pub ended_at: Moment,
    pub duration_ms: u64,
    pub session: String,
    /// It went on with the session of one before it.
    pub resumed: bool,
    /// And the agent did not know it any more: nothing was worked on.
    pub session_lost: bool,
    /// There is no such program.
    pub program_missing: bool,
    pub cost_micros: Option<u64>,
    pub tokens: Option<u64>,
    pub ending: Option<AgentEnding>,
    pub error: Option<ProviderError>,
    pub denials: u32,
    /// What was denied, in words.
    pub denied: Vec<String>,
    /// Paths that the sandbox closed to it.
    pub closed_paths: Vec<String>,
    pub final_text: String,
    /// Names of the tools it used; empty where the agent does not report them.
    pub tools: Vec<String>,
    /// Commands that its tools ran.
    pub commands: Vec<String>,
    /// The last errors that the agent and its tools printed.
    pub errors: Vec<SeenError>,
    /// Bytes of the agent's own words.
    pub output_bytes: u64,
    pub changes: ChangeStats,
    pub claim: Option<Claim>,
    pub claims: Claims,
    /// It did nothing but run tests.
    pub test_only: bool,
    /// Globs of `exit.when` that files of the tree matched after it.
    pub matching: Vec<String>,
    /// Plan items done after it.
    pub items_done: u32,
    /// In the order of the pinned criteria of that time.
    pub row: Vec<(CriterionId, Status)>,
    /// What was found where a criterion did not pass, in words.
    pub facts: Vec<(CriterionId, String)>,
    /// How the required criteria that do not pass fail, all together; `None` where all of them pass.
    pub failing: Option<Fingerprint>,
    pub sentence: String,
    /// What turned or got done in it.
    pub milestones: Vec<String>,
    /// Its keeper died while the agent ran.
    pub interrupted: bool,
    /// Subjects of its commits, oldest first.
    pub commits: Vec<String>,
    /// The commit that loopkeeper made of it.
    pub commit: Option<String>,
    /// Its changes were rolled back.
    pub taken_back: bool,
    /// What it broke, where the loop itself took it back for that.
    pub broke: Option<String>,
    /// Iterations before it whose changes were rolled back when it began: its tree was made without them.
    pub without: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoopUsage {
    /// `None`: the agent never reported it.
    pub cost_micros: Option<u64>,
    pub tokens: Option<u64>,
    /// Agent starts.
    pub calls: u32,
    /// Agent starts of all loops of this user in the hour up to the last one of this loop.
    pub calls_this_hour: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Breaker {
    pub state: BreakerState,
    /// Why it opened; `None` while it is closed.
    pub reason: Option<String>,
    /// Iterations after this one count.
    pub since: u32,
    /// Half-open: the iteration after this one is the trial.
    pub trial_after: Option<u32>,
    /// How often it opened since the user last reset it.
    pub trips: u32,
    /// The duration of its last cooldown.
    pub cooldown_ms: u64,
    /// Open: when it permits a trial iteration automatically.
    pub resumes_at: Option<Moment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopMode {
    AfterIteration,
    Now,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub reason: PauseReason,
    pub message: Message,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    pub reason: WaitReason,
    pub until: Moment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRef {
    pub iteration: u32,
    pub when: SnapshotWhen,
    pub tree: String,
}

/// What only the living keeper knows. Never read by a decision that ends, charges or trips.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what runs beside each other")]
pub struct VolatileState {
    /// When a scan last found output, CPU use or a file change of the running agent.
    pub last_sign: Moment,
    /// When signs of life were last looked for.
    pub last_look: Moment,
    /// Why the agent was released.
    pub ending: Option<AgentEnding>,
    /// Rounds of the present check phase that were thrown away.
    pub repeats: u32,
    /// What judges were asked in those rounds.
    pub judging: JudgeUsage,
    /// What the agent changed in this iteration, artefacts included.
    pub shot: super::SnapshotFacts,
    /// The documents after the agent.
    pub reading: Option<Box<TaskDocuments>>,
    /// Documents that the user saved since the last iteration ended, with the sums of what was saved.
    pub saved: BTreeMap<String, String>,
    /// The criteria that the running baseline round is about.
    pub pinning: Option<Vec<Pinned>>,
    pub checking_at_rest: bool,
    /// The tree had changed since the last round, and was judged again for the coming iteration.
    pub judged_again: bool,
    /// The snapshot before the next iteration is being taken.
    pub preparing: bool,
    /// The held agent was released.
    pub release_requested: bool,
    /// Task documents of the next iteration while the rate limiter is being asked.
    pub asking: Option<Box<TaskDocuments>>,
    /// Files are being put back: nothing is decided until they are.
    pub rollback_in_progress: bool,
    /// `seq` of the rollback that is being undone.
    pub undoing: Option<u64>,
    /// Why the last iteration is being taken back.
    pub taking_back: Option<String>,
    /// The iteration whose regression is judged once more.
    pub judged_twice: Option<u32>,
    /// The iteration that is not taken back, since the user changed files after it.
    pub kept: Option<u32>,
    /// The commit of the last iteration is being made.
    pub committing: bool,
}

impl LoopUsage {
    /// What judges cost is spent like what the agent costs.
    pub(super) fn add(&mut self, asked: JudgeUsage) {
        let mut all = JudgeUsage { calls: self.calls, cost_micros: self.cost_micros, tokens: self.tokens };
        all.add(asked);
        (self.calls, self.cost_micros, self.tokens) = (all.calls, all.cost_micros, all.tokens);
    }
}

impl LoopState {
    pub(super) fn has_checks(&self) -> bool {
        self.pinned.iter().any(|it| it.criterion.check.is_some())
    }

    /// The tree after an iteration; of iteration 0 the start.
    pub fn tree_after(&self, iteration: u32) -> Option<&str> {
        self.tree_at(iteration, SnapshotWhen::After)
    }

    /// The tree right before the present iteration.
    pub fn tree_before(&self) -> Option<&str> {
        self.tree_at(self.iteration, SnapshotWhen::Before)
    }

    /// The last of them, where there are several.
    pub(super) fn tree_at(&self, iteration: u32, when: SnapshotWhen) -> Option<&str> {
        let later = self.snapshots.partition_point(|it| it.iteration <= iteration);
        let until = self.snapshots.get(..later).unwrap_or_default().iter().rev();
        let mut its = until.take_while(|it| it.iteration == iteration);
        its.find(|it| it.when == when).map(|it| it.tree.as_str())
    }

    /// Milliseconds that count against `limits.duration`, at `now`.
    pub fn elapsed_ms(&self, now: Moment) -> u64 {
        let running = self.outcome.is_none() && !self.waits_for_user();
        self.worked_ms + if running { now.ms_since(self.last_at) } else { 0 }
    }

    /// Nothing runs; a pause holds it, or a question to its user.
    pub fn is_paused_at_rest(&self) -> bool {
        (self.pause.is_some() || self.questions.blocking_question().is_some()) && self.at_rest()
    }

    /// Its time is its user's: nothing of it counts as work.
    pub fn waits_for_user(&self) -> bool {
        self.is_paused_at_rest() || self.questions.permission().is_some()
    }

    pub fn at_rest(&self) -> bool {
        matches!(self.phase, Phase::Boundary | Phase::Preparing)
    }

    pub(crate) fn status_of(&self, id: &CriterionId) -> Option<Status> {
        self.results.get(id).map(|it| it.status)
    }

    /// It passed when it was first judged, or after one of the iterations.
    pub fn held_before(&self, id: &CriterionId) -> bool {
        let is_guard = |it: &Pinned| it.role == Role::Guard && it.criterion.id == *id;
        let passed = |(of, status): &(CriterionId, Status)| of == id && *status == Status::Pass;
        self.pinned.iter().any(is_guard) || self.kept_iterations().any(|it| it.row.iter().any(passed))
    }

    pub fn required(&self) -> impl Iterator<Item = &Pinned> {
        self.pinned.iter().filter(|it| it.criterion.required)
    }

    /// Blocking plan items that the agent has not ticked.
    pub fn open_items(&self) -> impl Iterator<Item = &PlanItem> {
        self.plan.iter().filter(|it| it.blocking && !it.done)
    }

    /// Those whose work was not taken back.
    pub fn kept_iterations(&self) -> impl Iterator<Item = &Iteration> {
        self.history.iter().filter(|it| !it.taken_back)
    }

    pub fn last_iteration(&self) -> Option<&Iteration> {
        self.history.last()
    }
}
