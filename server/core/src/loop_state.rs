//! The state of one loop: the sum of its records ([`LoopState`]), and separately the facts that only the running keeper
//! has ([`VolatileState`]). The parts are in one file per concern.

mod agent_roster;
mod agent_slot;
mod attempts;
mod branch_tracking;
mod checkpoint;
mod checkpoint_list;
mod criteria_state;
mod documents;
mod flaky_state;
mod git_state;
mod iteration;
mod iteration_history;
mod iteration_outline;
mod model_history;
mod mutant_run;
mod packed_iterations;
mod phase;
mod question_state;
mod reported_problems;
mod rollback_history;
mod session_history;
mod snapshot_list;
mod streaks;
mod subagent_lineage;
mod time_account;
mod tree_state;
mod tree_verdict;
mod uncommitted_work;
mod undoable_rollback;
mod unrunnable_checks;
mod usage;
mod volatile;
mod weakening_state;

use crate::check::Status;
use crate::journal::{
    BreakerState, LoopSpec, Outcome, PauseReason, PinnedCriterion, Role, SnapshotWhen, StopFeedback,
};
use loopkeeper_agent::LoopMode;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

pub use agent_roster::{AgentHold, AgentRoster};
pub use agent_slot::{AgentOutage, AgentSlot};
pub use attempts::CommandAttempts;
pub use branch_tracking::{BranchTracking, HeadTarget};
pub(crate) use checkpoint::{Checkpoint, LoopMemory};
pub use criteria_state::CriteriaState;
pub use documents::{SnapshotFacts, TaskDocuments};
pub use flaky_state::FlakyState;
pub use git_state::GitState;
pub use iteration::Iteration;
pub use iteration_history::IterationHistory;
pub use iteration_outline::{IterationFigures, IterationOutline};
pub use model_history::ModelHistory;
pub use mutant_run::{FewestSurvivors, MutantRun};
pub use phase::{Phase, RunningAgent, Wait};
pub(crate) use question_state::ALWAYS;
pub use question_state::{AnsweredQuestion, PendingQuestion, QuestionState};
pub use reported_problems::ReportedProblems;
pub use rollback_history::RollbackHistory;
pub(crate) use session_history::SessionIdOwner;
pub use session_history::{CurrentSession, SessionChange, SessionHistory};
pub use snapshot_list::{SnapshotList, SnapshotRef};
pub use streaks::Streaks;
pub use subagent_lineage::{SubagentLineage, SubagentRecord};
pub use time_account::TimeAccount;
pub use tree_state::TreeState;
pub use tree_verdict::{TreeVerdict, runs_in_clean_room};
pub use uncommitted_work::{SnapshotRange, UncommittedWork};
pub use undoable_rollback::UndoableRollback;
pub use unrunnable_checks::UnrunnableChecks;
pub use usage::LoopUsage;
pub use volatile::{
    AgentResult, AgentWatch, BoundaryWork, ChangedTask, DiscardedRounds, Preparation, RegressionReview,
    RollbackCause, TreeWork, VolatileState,
};
pub use weakening_state::{PartialRollback, WeakeningState};

/// The version of a stored [`LoopState`]: another one is not read. It changes with the fields of the state and with what
/// `apply` makes of the records.
pub const SAVED_STATE_VERSION: u32 = 7;

/// The state that the records of a loop add up to. Only `apply` changes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopState {
    pub spec: LoopSpec,
    pub position: JournalPosition,
    pub time: TimeAccount,
    pub phase: Phase,
    /// The last iteration that was started; 0 before the first.
    pub iteration: u32,
    pub criteria: CriteriaState,
    pub plan: Vec<PlanItem>,
    pub tree: TreeState,
    pub history: IterationHistory,
    pub models: ModelHistory,
    pub spent: LoopUsage,
    pub breaker: Breaker,
    pub streaks: Streaks,
    pub reported: ReportedProblems,
    pub agents: AgentRoster,
    pub session: SessionHistory,
    pub spawns: SubagentLineage,
    /// Hints for the next prompt.
    pub steering: Vec<String>,
    /// The hints in the last prompt.
    pub(crate) delivered_hints: Vec<String>,
    pub questions: QuestionState,
    pub stop: Option<StopMode>,
    pub stop_ordered_at: Option<Moment>,
    pub pause: Option<Pause>,
    pub rollback: RollbackHistory,
    pub weakening: WeakeningState,
    pub git: GitState,
    /// The user's feedback on an ended loop.
    pub feedback: Option<StopFeedback>,
}

/// The last record that was applied, and the boot whose clock its moments count in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalPosition {
    pub boot: String,
    pub epoch: u32,
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopMode {
    AfterIteration,
    Now,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    pub reason: PauseReason,
    pub message: Message,
}

impl LoopState {
    pub(crate) fn has_checks(&self) -> bool {
        self.criteria.has_checks()
    }

    /// The tree after an iteration; of iteration 0 the start.
    pub fn tree_after(&self, iteration: u32) -> Option<&str> {
        self.tree_at(iteration, SnapshotWhen::After)
    }

    /// Files that the loop added, that nothing refers to and that are still there, as far as the records say.
    pub fn strays(&self) -> Vec<&str> {
        let last = self.history.last().filter(|it| !it.rolled_back);
        let found = last.map_or(&[][..], |it| it.changes.strays.as_slice());
        let rollback = self.rollback.last.as_ref().filter(|it| !it.is_undo && it.is_after(self.iteration));
        let removed = rollback.map_or(&[][..], |it| it.paths.as_slice());
        found.iter().filter(|it| !removed.contains(it)).map(String::as_str).collect()
    }

    /// The tree right before the present iteration.
    pub fn tree_before(&self) -> Option<&str> {
        self.tree_at(self.iteration, SnapshotWhen::Before)
    }

    pub(crate) fn tree_at(&self, iteration: u32, when: SnapshotWhen) -> Option<&str> {
        self.tree.snapshots.find(iteration, when)
    }

    /// Milliseconds that count against `limits.duration`, at `now`.
    pub fn elapsed_ms(&self, now: Moment) -> u64 {
        let running = self.outcome().is_none() && !self.waits_for_user();
        self.time.worked_ms.saturating_add(if running { now.ms_since(self.time.last_at) } else { 0 })
    }

    /// No agent runs, and a pause or a question to the user blocks the loop.
    pub fn is_paused_between_iterations(&self) -> bool {
        (self.pause.is_some() || self.questions.blocking_question().is_some()) && self.is_between_iterations()
    }

    /// Whether the loop waits for its user. That time does not count as work.
    pub fn waits_for_user(&self) -> bool {
        self.is_paused_between_iterations() || self.questions.permission().is_some()
    }

    pub fn is_between_iterations(&self) -> bool {
        self.phase.is_between_iterations()
    }

    /// The end is final: no record after it begins another phase.
    pub(crate) fn enter(&mut self, phase: Phase) {
        if self.outcome().is_none() {
            self.phase = phase;
        }
    }

    /// `None`: it has not ended.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.phase.outcome()
    }

    pub fn pinned_criteria(&self) -> Vec<Criterion> {
        self.criteria.pinned.iter().map(|it| it.criterion.clone()).collect()
    }

    /// Whether it fails in the clean room of the last verdict, although it passed in the work tree.
    pub(crate) fn is_refuted(&self, criterion: &Criterion) -> bool {
        self.weakening.verdict.as_ref().is_some_and(|it| it.refutes(criterion))
    }

    pub(crate) fn status_of(&self, id: &CriterionId) -> Option<Status> {
        self.criteria.status_of(id)
    }

    /// It passed when it was first judged, or after one of the iterations.
    pub fn held_before(&self, id: &CriterionId) -> bool {
        let is_guard = |it: &PinnedCriterion| it.role == Role::Guard && it.criterion.id == *id;
        self.criteria.pinned.iter().any(is_guard) || self.history.has_passed(id)
    }

    pub fn required(&self) -> impl Iterator<Item = &PinnedCriterion> {
        self.criteria.required()
    }

    /// Blocking plan items that the agent has not ticked.
    pub fn open_items(&self) -> impl Iterator<Item = &PlanItem> {
        self.plan.iter().filter(|it| it.blocking && !it.done)
    }

    pub fn last_iteration(&self) -> Option<&Iteration> {
        self.history.last()
    }

    /// The time before which the current agent must not start; `None` if its own last iteration decides.
    pub(crate) fn unavailable_until(&self) -> Option<Moment> {
        let own = &self.spec.agent.name;
        let is_own = self.last_iteration().is_some_and(|it| it.agent == *own);
        let slot = self.agents.roster.iter().find(|it| it.plan.name == *own);
        slot.filter(|_| !is_own).and_then(|it| it.outage.until())
    }

    /// It works in a session that its user opened.
    pub(crate) fn is_attached(&self) -> bool {
        self.spec.settings.mode == LoopMode::Attach
    }

    /// No session is attached that could work on the next iteration.
    pub(crate) fn lacks_session(&self) -> bool {
        self.is_attached() && !self.agents.hold.is_held
    }
}
