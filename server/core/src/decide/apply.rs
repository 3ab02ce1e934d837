//! Folds records into the state: the only way state changes, live and in replay. Total: a record that does not fit the
//! current state changes nothing but the sequence.

mod agent;
mod iteration;
mod keeper_takeover;
mod round;

use crate::check::number_history::NumberHistory;
use crate::journal::{
    BreakerState, Entry, LoopSpec, Outcome, PauseReason, Record, SnapshotWhen, StopFeedback,
};
use crate::loop_state::{
    AgentRoster, Breaker, CriteriaState, GitState, IterationHistory, JournalPosition, LoopState, LoopUsage,
    ModelHistory, Pause, PendingQuestion, Phase, QuestionState, ReportedProblems, RollbackHistory,
    SessionChange, SessionHistory, StopMode, Streaks, SubagentLineage, TimeAccount, TreeState, Wait,
    WeakeningState,
};
use crate::settings::LoopEvent;

use super::branch_tracking;
use super::checkpoint;
use super::commits;
use super::mutants;
use super::questions;
use super::shared_limits;
use super::takeover;
use super::undo;
use super::unrunnable;
use super::weakening;

/// The state of a whole journal; `None` when the journal does not begin with `loop-started`.
pub fn replay(entries: &[Entry]) -> Option<LoopState> {
    let (first, rest) = entries.split_first()?;
    let mut state = state_from_first(first)?;
    for entry in rest {
        apply(&mut state, entry);
    }
    Some(state)
}

/// The state after the first record.
pub fn state_from_first(entry: &Entry) -> Option<LoopState> {
    let Record::LoopStarted { boot, spec } = &entry.record else { return None };
    Some(initial_state(entry, boot, spec))
}

/// Folds one more record into the state.
pub fn apply(state: &mut LoopState, entry: &Entry) {
    if entry.epoch < state.position.epoch {
        return;
    }
    let clock_went_back = advance(state, entry);
    match &entry.record {
        Record::LoopStarted { .. } | Record::TrustChanged { .. } | Record::Unknown => {}
        Record::RolledBack { .. } => apply_rollback(state, entry),
        Record::CommandRefused { command, by, .. } => state.reported.attempts.record(*command, *by),
        Record::HookFailed { event, message } => apply_hook_failure(state, *event, message),
        Record::BranchTaken { branch, .. } => {
            state.git.has_branch = true;
            state.git.branch.set_home_branch(branch.as_deref());
        }
        Record::Committed { .. } => commits::apply_commit_record(state, &entry.record),
        Record::Baseline { .. } => round::apply_baseline(state, &entry.record),
        Record::IterationIntended { .. } => iteration::apply_iteration_intent(state, entry.at, &entry.record),
        Record::AgentStarted { pid, holds, .. } => agent::apply_agent_start(state, *pid, *holds),
        Record::AgentEnded { iteration, run } => agent::apply_agent_run(state, entry.at, *iteration, run),
        Record::SubagentAsked { .. } | Record::SubagentStarted { .. } | Record::SubagentEnded { .. } => {
            state.spawns.apply_record(&entry.record);
        }
        Record::AgentLeft { left, .. } => agent::apply_agent_exit(state, left),
        Record::SnapshotTaken { .. } => apply_snapshot(state, entry),
        Record::ChecksDone { iteration, round } => round::apply_round(state, *iteration, round),
        Record::IterationEnded { .. } => iteration::apply_iteration_end(state, entry.at, &entry.record),
        Record::BreakerChanged { .. } => apply_breaker_change(state, &entry.record),
        Record::Waiting { .. } => apply_wait(state, entry),
        Record::Paused { reason, message } => {
            state.pause = Some(Pause { reason: *reason, message: message.clone() });
        }
        Record::ChecksWaived { criteria } => unrunnable::waive_criteria(state, criteria),
        Record::Resumed {} => apply_resume(state),
        Record::AgentChanged { to, reason, until, .. } => {
            takeover::apply_takeover(state, to, *reason, *until);
        }
        Record::Asked { .. } => apply_question(state, entry),
        Record::Answered { id, text } => questions::apply_answer(state, entry.at, id, text.as_deref()),
        Record::SessionChanged { .. } => apply_session_change(state, entry),
        Record::SessionJoined { session, holds, tokens } => {
            agent::apply_session_join(state, entry.at, (session, *holds, *tokens));
        }
        Record::Steered { text } => state.steering.push(text.clone()),
        Record::Stopping { now } => apply_stop(state, entry, *now),
        Record::WeakeningAccepted { .. } | Record::ProtectedEdited { .. } => {
            weakening::apply_record(state, &entry.record);
        }
        Record::FinalVerdict { .. } => round::apply_verdict(state, &entry.record),
        Record::Mutants { .. } => mutants::apply_mutants(state, &entry.record),
        Record::Recovered { boot, .. } => {
            keeper_takeover::take_over(state, entry.at, (boot, clock_went_back));
        }
        Record::Ended { outcome } => apply_outcome(state, outcome),
        Record::Feedback { verdict, text } => {
            state.feedback = Some(StopFeedback { verdict: *verdict, text: text.clone() });
        }
    }
}

/// Moves time and position to those of the record. `true`: the clock counts from another start, on a restored machine or
/// in another time namespace.
fn advance(state: &mut LoopState, entry: &Entry) -> bool {
    let clock_went_back = entry.at.awake < state.time.last_at.awake;
    pass_time(state, entry);
    state.time.end_wait(entry.at, entry.epoch);
    state.position.seq = entry.seq;
    state.position.epoch = entry.epoch;
    state.time.last_at = entry.at;
    clock_went_back
}

fn apply_stop(state: &mut LoopState, entry: &Entry, now: bool) {
    state.stop = Some(if now { StopMode::Now } else { StopMode::AfterIteration });
    state.stop_ordered_at = Some(entry.at);
}

fn apply_hook_failure(state: &mut LoopState, event: LoopEvent, message: &str) {
    state.reported.hooks_failed.insert(event, message.to_owned());
}

fn apply_question(state: &mut LoopState, entry: &Entry) {
    let Record::Asked { id, kind, text, until } = &entry.record else { return };
    let question = PendingQuestion { id: id.clone(), kind: *kind, text: text.clone(), until: *until };
    state.questions.record_question(entry.at, question, state.iteration);
}

fn apply_session_change(state: &mut LoopState, entry: &Entry) {
    if let Record::SessionChanged { from, to, reason } = &entry.record {
        let (from, to, reason) = (from.clone(), to.clone(), *reason);
        let iteration = state.iteration;
        state.session.record_change(SessionChange { at: entry.at, iteration, from, to, reason });
    }
}

fn apply_outcome(state: &mut LoopState, outcome: &Outcome) {
    state.phase = Phase::Ended(outcome.clone());
}

fn apply_resume(state: &mut LoopState) {
    // The missing dependency may be installed now, without a change of the tree.
    let was_missing = state.pause.take().is_some_and(|it| it.reason == PauseReason::Missing);
    state.tree.is_unjudged |= was_missing && state.has_checks();
    state.streaks.clear_agent_failures();
    state.weakening.resumed = state.iteration;
    state.reported.hooks_failed.clear();
    takeover::clear_unavailability(state);
    shared_limits::clear_shared_limit(state);
}

fn initial_state(entry: &Entry, boot: &str, spec: &LoopSpec) -> LoopState {
    let position = JournalPosition { boot: boot.to_owned(), epoch: entry.epoch, seq: entry.seq };
    LoopState {
        spec: spec.clone(),
        position,
        time: TimeAccount::starting(entry.at),
        phase: Phase::Starting,
        iteration: 0,
        criteria: CriteriaState::starting(&spec.criteria),
        plan: spec.plan.clone(),
        tree: TreeState::default(),
        history: IterationHistory::default(),
        models: ModelHistory::default(),
        spent: LoopUsage::default(),
        breaker: Breaker::default(),
        streaks: Streaks::default(),
        reported: ReportedProblems::default(),
        agents: AgentRoster::starting(spec),
        session: SessionHistory::default(),
        spawns: SubagentLineage::default(),
        steering: Vec::new(),
        delivered_hints: Vec::new(),
        questions: QuestionState::default(),
        stop: None,
        stop_ordered_at: None,
        pause: None,
        rollback: RollbackHistory::default(),
        weakening: WeakeningState::inherit(&spec.unaccepted),
        git: GitState::default(),
        feedback: None,
    }
}

/// Accounts for the time between two records according to the current phase. The time of a dead keeper does not count.
fn pass_time(state: &mut LoopState, entry: &Entry) {
    if matches!(entry.record, Record::Recovered { .. }) || state.outcome().is_some() {
        return;
    }
    state.time.pass(entry.at, state.waits_for_user());
}

/// Anything prepared before the wait is prepared again after it.
fn apply_wait(state: &mut LoopState, entry: &Entry) {
    let Record::Waiting { reason, until, met_by } = &entry.record else { return };
    state.time.begin_wait(entry.at, entry.epoch);
    if state.is_between_iterations() {
        let wait = Wait { reason: *reason, until: *until, met_by: met_by.clone() };
        state.enter(Phase::Boundary { wait: Some(wait) });
    }
}

fn apply_snapshot(state: &mut LoopState, entry: &Entry) {
    let Record::SnapshotTaken { iteration, when, tree, head, undoes, .. } = &entry.record else { return };
    state.tree.last.clone_from(tree);
    if *when == SnapshotWhen::BeforeRollback && undoes.is_none() {
        undo::record_pending_rollback(state, entry.seq, tree);
    }
    state.tree.snapshots.add(*iteration, *when, tree);
    branch_tracking::record_snapshot_head(state, *when, head.as_ref());
    match (when, &state.phase) {
        (SnapshotWhen::Before, phase) => {
            let wait = phase.wait().cloned();
            // Files were changed outside of an iteration since the last round.
            state.tree.is_unjudged |= *tree != state.tree.judged;
            state.git.head_before.clone_from(head);
            state.enter(Phase::Preparing { wait });
        }
        (SnapshotWhen::After, Phase::Starting) => state.enter(Phase::Baseline),
        (SnapshotWhen::After, Phase::Closing) => {
            state.weakening.set_last_tree(tree);
            state.enter(Phase::Checking);
        }
        (SnapshotWhen::After | SnapshotWhen::BeforeRollback, _) => {}
    }
}

fn apply_rollback(state: &mut LoopState, entry: &Entry) {
    let Record::RolledBack { to, tree, from, paths, reason, restored, after, .. } = &entry.record else {
        return;
    };
    let after = after.as_ref().unwrap_or(tree);
    let memory = undo::record_rollback(state, entry.seq, &entry.record);
    if paths.is_empty() {
        commits::rolled_back(state, from, after);
        if let Some(memory) = memory {
            checkpoint::restore_memory(state, memory);
        } else {
            mark_later_iterations(state, *to);
            checkpoint::rolled_back(state, *to, reason.as_deref());
        }
    }
    state.criteria.numbers.values_mut().for_each(NumberHistory::forget_best);
    state.tree.last.clone_from(after);
    weakening::rolled_back(state, (paths, restored), (from, after));
    if !paths.is_empty() || *after != state.tree.judged {
        state.tree.is_unjudged = true;
    }
}

/// Marks the iterations after `to` as rolled back: their changes are no longer in the files.
fn mark_later_iterations(state: &mut LoopState, to: u32) {
    let without = state.history.find(to).map(|it| it.without.clone()).unwrap_or_default();
    let later = state.history.outlines().map(|it| it.figures.number).filter(|it| *it > to);
    let numbers = later.chain(without).collect();
    checkpoint::mark_rolled_back(state, numbers);
}

fn apply_breaker_change(state: &mut LoopState, record: &Record) {
    let Record::BreakerChanged { state: to, reason, trips, cooldown_ms, resumes_at, .. } = record else {
        return;
    };
    let is_closed = *to == BreakerState::Closed;
    state.breaker = Breaker {
        state: *to,
        reason: reason.clone().filter(|_| !is_closed),
        since: if is_closed { state.iteration } else { state.breaker.since },
        trial_after: (*to == BreakerState::HalfOpen).then_some(state.iteration),
        trips: *trips,
        cooldown_ms: *cooldown_ms,
        resumes_at: *resumes_at,
    };
    if is_closed {
        state.pause.take_if(|it| it.reason == PauseReason::Breaker);
    }
}
