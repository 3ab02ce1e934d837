//! Extracts the cost and the results of the iterations from the state of one loop.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use loopkeeper_agent::{LoopMode, ProviderClass};
use loopkeeper_core::check::Status;
use loopkeeper_core::decide::{Iteration, LoopState, Phase};
use loopkeeper_core::journal::{OutcomeKind, Role, SnapshotWhen, StopVerdict};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::digest::sha256;
use loopkeeper_text::sanitize;

/// A loop, as far as figures need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopFacts {
    pub project: String,
    /// The same for all loops on the same criteria of the same task.
    pub task: String,
    pub has_ended: bool,
    /// The user's judgement of the moment at which it ended.
    pub feedback: Option<StopVerdict>,
    /// Completed and verified by at least one iteration: a task that already held cost and proved nothing.
    pub is_verified: bool,
    pub cost_micros: u64,
    /// Every cost of the loop is known.
    pub is_cost_known: bool,
    pub iterations: Vec<IterationFacts>,
    /// Waits for a provider, a limit of calls, or as configured.
    pub waited_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationFacts {
    pub agent: String,
    pub model: Option<String>,
    pub result: IterationResult,
    /// Agent and checks.
    pub duration_ms: u64,
    pub cost_micros: Option<u64>,
    pub is_cost_known: bool,
}

/// The result of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IterationResult {
    /// A criterion passed for the first time.
    Turned,
    /// Changes that stayed, and no criterion turned.
    Kept,
    /// No change, or one that was undone.
    Nothing,
    /// The agent could not work: its provider was not available.
    Waited,
}

impl LoopFacts {
    pub fn of(state: &LoopState) -> Self {
        let outcome = state.outcome();
        let running = matches!(state.phase, Phase::Iterating(_) | Phase::Closing | Phase::Checking);
        let finished = state.history.len() - usize::from(running && !state.history.is_empty());
        let mut tracker = ProgressTracker::at_start(state);
        let iterations = state.history.iter().take(finished).map(|row| IterationFacts {
            agent: sanitize::line(&row.agent),
            model: state.models.find(row.number).map(str::to_owned),
            result: tracker.result_of(&row),
            duration_ms: row.ended_at.ms_since(row.started_at),
            cost_micros: row.cost_micros,
            is_cost_known: is_cost_known(state, &row),
        });
        let iterations: Vec<IterationFacts> = iterations.collect();
        Self {
            project: sanitize::line(&state.spec.root),
            task: task_identity(state),
            has_ended: outcome.is_some(),
            feedback: state.feedback.as_ref().map(|it| it.verdict),
            is_verified: state.iteration > 0
                && outcome.is_some_and(|it| it.kind == OutcomeKind::Completed && it.verified),
            cost_micros: state.spent.cost_micros.unwrap_or(0),
            is_cost_known: !running && iterations.iter().all(|it| it.is_cost_known),
            waited_ms: state.time.waited_ms,
            iterations,
        }
    }
}

/// Later tasks often have the file of an earlier one; their criteria differ.
fn task_identity(state: &LoopState) -> String {
    let mut parts = vec![state.spec.root.as_str(), state.spec.task.0.as_str()];
    let ids: BTreeSet<&str> = state.criteria.pinned.iter().map(|it| it.criterion.id.0.as_str()).collect();
    parts.extend(ids);
    sha256(parts.join("\n").as_bytes())
}

/// An agent that its provider turned away costs nothing. A session reports its cost when it ends, for all iterations.
fn is_cost_known(state: &LoopState, row: &Iteration) -> bool {
    let turned_away = row.program_missing
        || row.error.as_ref().is_some_and(|it| {
            matches!(it.class, ProviderClass::Quota | ProviderClass::Login | ProviderClass::Billing)
        });
    let in_session = state.spec.settings.mode != LoopMode::Loop && state.spent.cost_micros.is_some();
    row.cost_micros.is_some() || turned_away || in_session
}

/// What passed and which trees were there before an iteration.
struct ProgressTracker<'a> {
    passed: HashSet<CriterionId>,
    /// The trees after the iterations.
    left: BTreeMap<u32, &'a str>,
    trees: HashSet<&'a str>,
}

impl<'a> ProgressTracker<'a> {
    fn at_start(state: &'a LoopState) -> Self {
        let guards = state.criteria.pinned.iter().filter(|it| it.role == Role::Guard);
        let after = state.tree.snapshots.iter().filter(|it| it.when == SnapshotWhen::After);
        let left: BTreeMap<u32, &str> = after.map(|it| (it.iteration, it.tree)).collect();
        let trees = left.get(&0).copied().into_iter().collect();
        Self { passed: guards.map(|it| it.criterion.id.clone()).collect(), left, trees }
    }

    /// The result of the next iteration.
    fn result_of(&mut self, row: &Iteration) -> IterationResult {
        let passing = row.row.iter().filter(|(_, status)| *status == Status::Pass);
        let mut turned = false;
        if !row.rolled_back {
            for (id, _) in passing {
                turned |= !self.passed.contains(id) && self.passed.insert(id.clone());
            }
        }
        // A tree that existed before: the change was undone.
        let is_new = self.left.get(&row.number).is_none_or(|it| self.trees.insert(*it));
        let kept = !row.rolled_back && row.changes.has_progress() && (is_new || row.changes.committed);
        match (turned, kept) {
            (true, _) => IterationResult::Turned,
            (false, true) => IterationResult::Kept,
            (false, false) if row.is_provider_failure() && !row.changes.has_progress() => without_work(row),
            (false, false) => IterationResult::Nothing,
        }
    }
}

/// The agent failed without a change: only a provider that turned it away made it wait.
fn without_work(row: &Iteration) -> IterationResult {
    match row.error.as_ref().map(|it| it.class) {
        Some(
            ProviderClass::Quota | ProviderClass::Transient | ProviderClass::Login | ProviderClass::Billing,
        ) => IterationResult::Waited,
        Some(ProviderClass::Crash | ProviderClass::Refused | ProviderClass::Unknown) | None => {
            IterationResult::Nothing
        }
    }
}
