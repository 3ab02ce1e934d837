//! Folds records into the state: the only way state changes, live and in replay. Total: a record that does not fit the
//! current state changes nothing but the sequence.

mod agent;
mod iteration;
mod recovered;
mod round;

use std::collections::{BTreeMap, BTreeSet};

use crate::journal::{
    AgentPlan, BreakerState, Entry, LoopSpec, Outcome, PauseReason, Pinned, Record, Role, SnapshotWhen,
};
use loopkeeper_task::criterion::Criterion;

use super::attempts::Attempts;
use super::branch_tracking::{self, BranchTracking};
use super::checkpoint;
use super::commits::{self, UncommittedWork};
use super::final_verdict;
use super::flaky::FlakyState;
use super::mutants;
use super::questions::{self, PendingQuestion, QuestionState};
use super::sessions::{SessionChange, SessionHistory};
use super::shared_limits::{self, SharedLimit};
use super::spawns::SubagentLineage;
use super::state::{Breaker, LoopState, LoopUsage, Pause, Phase, SnapshotRef, StopMode, Wait};
use super::takeover::{self, AgentSlot, Availability};
use super::undo;
use super::unrunnable::{self, UnrunnableChecks};
use super::weakening::{self, WeakeningState};

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
    match &entry.record {
        Record::LoopStarted { boot, spec } => Some(initial_state(entry, boot, spec)),
        _ => None,
    }
}

/// Folds one more record into the state.
pub fn apply(state: &mut LoopState, entry: &Entry) {
    if entry.epoch < state.epoch {
        return;
    }
    pass_time(state, entry);
    state.seq = entry.seq;
    state.epoch = entry.epoch;
    state.last_at = entry.at;
    match &entry.record {
        Record::LoopStarted { .. } | Record::TrustChanged { .. } | Record::Unknown => {}
        Record::RolledBack { .. } => went_back(state, entry),
        Record::OrderRefused { order, by, .. } => state.attempts.record(*order, *by),
        Record::HookFailed { event, message } => {
            state.hooks_failed.insert(*event, message.clone());
        }
        Record::BranchTaken { branch, .. } => {
            state.has_branch = true;
            state.stand.set_home_branch(branch.as_deref());
        }
        Record::Committed { .. } => commits::apply_commit_record(state, &entry.record),
        Record::Baseline { .. } => round::apply_baseline(state, &entry.record),
        Record::IterationIntended { .. } => iteration::apply_iteration_intent(state, entry.at, &entry.record),
        Record::AgentStarted { pid, holds, .. } => {
            state.attempts.agent = Some(*pid);
            agent::apply_agent_start(state, *pid, *holds);
        }
        Record::AgentEnded { run, .. } => agent::apply_agent_run(state, entry.at, run),
        Record::SubagentAsked { .. } | Record::SubagentStarted { .. } | Record::SubagentEnded { .. } => {
            state.spawns.apply_record(&entry.record);
        }
        Record::AgentLeft { left, .. } => agent::apply_agent_exit(state, left),
        Record::SnapshotTaken { .. } => apply_snapshot(state, entry),
        Record::ChecksDone { iteration, round } => round::apply_round(state, *iteration, round),
        Record::IterationEnded { .. } => iteration::apply_iteration_end(state, entry.at, &entry.record),
        Record::BreakerChanged { .. } => breaker_changed(state, &entry.record),
        Record::Waiting { .. } => apply_wait(state, &entry.record),
        Record::Paused { reason, message } => {
            state.pause = Some(Pause { reason: *reason, message: message.clone() });
        }
        Record::ChecksWaived { criteria } => unrunnable::waive_criteria(state, criteria),
        Record::Resumed {} => apply_resume(state),
        Record::AgentChanged { to, reason, until, .. } => {
            takeover::apply_takeover(state, to, *reason, *until);
        }
        Record::Asked { .. } | Record::Answered { .. } => apply_question(state, entry),
        Record::SessionChanged { .. } => apply_session_change(state, entry),
        Record::SessionJoined { session, holds, tokens } => {
            agent::apply_session_join(state, entry.at, (session, *holds, *tokens));
        }
        Record::Steered { text } => state.steering.push(text.clone()),
        Record::Stopping { now } => {
            state.stop = Some(if *now { StopMode::Now } else { StopMode::AfterIteration });
        }
        Record::WeakeningAccepted { .. } | Record::ProtectedEdited { .. } => {
            weakening::apply_weakening_record(state, &entry.record);
        }
        Record::FinalVerdict { .. } => final_verdict::apply_verdict(state, &entry.record),
        Record::Mutants { .. } => mutants::apply_mutants(state, &entry.record),
        Record::Recovered { boot, .. } => recovered::take_over(state, entry.at, boot),
        Record::Ended { outcome } => apply_outcome(state, outcome),
    }
}

fn apply_question(state: &mut LoopState, entry: &Entry) {
    match &entry.record {
        Record::Asked { id, kind, text, until } => {
            let (id, kind, text, until) = (id.clone(), *kind, text.clone(), *until);
            let question = PendingQuestion { id, kind, text, until };
            state.questions.record_question(entry.at, question, state.iteration);
        }
        Record::Answered { id, text } => questions::apply_answer(state, entry.at, id, text.as_deref()),
        _ => {}
    }
}

fn apply_session_change(state: &mut LoopState, entry: &Entry) {
    if let Record::SessionChanged { from, to, reason } = &entry.record {
        let (from, to, reason) = (from.clone(), to.clone(), *reason);
        let iteration = state.iteration;
        state.session.record_change(SessionChange { at: entry.at, iteration, from, to, reason });
    }
}

fn apply_outcome(state: &mut LoopState, outcome: &Outcome) {
    state.outcome = Some(outcome.clone());
    state.phase = Phase::Ended;
}

fn apply_resume(state: &mut LoopState) {
    // The missing dependency may be installed now, without a change of the tree.
    let was_missing = state.pause.take().is_some_and(|it| it.reason == PauseReason::Missing);
    state.is_unjudged |= was_missing && state.has_checks();
    state.failures = 0;
    state.kept.resumed = state.iteration;
    state.hooks_failed.clear();
    state.stalls = 0;
    takeover::clear_unavailability(state);
    shared_limits::clear_shared_limit(state);
}

fn initial_state(entry: &Entry, boot: &str, spec: &LoopSpec) -> LoopState {
    LoopState {
        spec: spec.clone(),
        crew: spec.agents().map(available).collect(),
        boot: boot.to_owned(),
        epoch: entry.epoch,
        seq: entry.seq,
        started_at: entry.at,
        last_at: entry.at,
        phase: Phase::Starting,
        iteration: 0,
        pinned: spec.criteria.iter().map(pin_criterion).collect(),
        held_at_start: false,
        plan: spec.plan.clone(),
        artefacts: BTreeSet::new(),
        untracked: Vec::new(),
        seen: Some(spec.criteria.clone()),
        proposed: Vec::new(),
        results: BTreeMap::new(),
        judged_tree: String::new(),
        is_unjudged: false,
        history: Vec::new(),
        spent: LoopUsage::default(),
        breaker: Breaker::default(),
        failures: 0,
        stalls: 0,
        warned: BTreeSet::new(),
        calls_note: None,
        hooks_failed: BTreeMap::new(),
        attempts: Attempts::default(),
        claims: 0,
        turned: false,
        passing_since: None,
        steering: Vec::new(),
        questions: QuestionState::default(),
        session: SessionHistory::default(),
        spawns: SubagentLineage::default(),
        held: false,
        holds: None,
        checked_with_agent_alive: false,
        stop: None,
        pause: None,
        wait: None,
        worked_ms: 0,
        paused_ms: 0,
        snapshots: Vec::new(),
        last_tree: String::new(),
        undo: None,
        head_before: None,
        passing_before: BTreeSet::new(),
        rollbacks: 0,
        marks: BTreeMap::new(),
        outcome: None,
        shared_limit: SharedLimit::default(),
        kept: WeakeningState::inherit(&spec.unaccepted),
        flaky: FlakyState::default(),
        unrunnable: UnrunnableChecks::default(),
        has_branch: false,
        stand: BranchTracking::default(),
        pending: UncommittedWork::default(),
    }
}

fn available(plan: &AgentPlan) -> AgentSlot {
    AgentSlot { plan: plan.clone(), out: Availability::No, left: None }
}

fn pin_criterion(criterion: &Criterion) -> Pinned {
    Pinned { criterion: criterion.clone(), role: Role::Open }
}

/// Accounts for the time between two records according to the current phase. The time of a dead keeper does not count.
fn pass_time(state: &mut LoopState, entry: &Entry) {
    if matches!(entry.record, Record::Recovered { .. }) || state.outcome.is_some() {
        return;
    }
    let passed = entry.at.ms_since(state.last_at);
    if state.waits_for_user() {
        state.paused_ms = state.paused_ms.saturating_add(passed);
    } else {
        state.worked_ms = state.worked_ms.saturating_add(passed);
    }
}

/// Anything prepared before the wait is prepared again after it.
fn apply_wait(state: &mut LoopState, record: &Record) {
    let Record::Waiting { reason, until, met_by } = record else { return };
    state.wait = Some(Wait { reason: *reason, until: *until });
    state.shared_limit.met_by.clone_from(met_by);
    if state.phase == Phase::Preparing {
        state.phase = Phase::Boundary;
    }
}

fn apply_snapshot(state: &mut LoopState, entry: &Entry) {
    let Record::SnapshotTaken { iteration, when, tree, head, undoes, .. } = &entry.record else { return };
    state.last_tree.clone_from(tree);
    if *when == SnapshotWhen::BeforeRollback && undoes.is_none() {
        undo::record_pending_rollback(state, entry.seq, tree);
    }
    state.snapshots.push(SnapshotRef { iteration: *iteration, when: *when, tree: tree.clone() });
    branch_tracking::record_snapshot_head(state, *when, head.as_ref());
    match (when, state.phase) {
        (SnapshotWhen::Before, _) => {
            // Files were changed outside of an iteration since the last round.
            state.is_unjudged |= *tree != state.judged_tree;
            state.head_before.clone_from(head);
            state.phase = Phase::Preparing;
        }
        (SnapshotWhen::After, Phase::Starting) => state.phase = Phase::Baseline,
        (SnapshotWhen::After, Phase::Closing) => {
            state.kept.left.clone_from(tree);
            state.phase = Phase::Checking;
        }
        (SnapshotWhen::After | SnapshotWhen::BeforeRollback, _) => {}
    }
}

fn went_back(state: &mut LoopState, entry: &Entry) {
    let Record::RolledBack { to, tree, from, paths, reason, mended, after, .. } = &entry.record else {
        return;
    };
    let after = after.as_ref().unwrap_or(tree);
    let memory = undo::record_rollback(state, entry.seq, &entry.record);
    if paths.is_empty() {
        commits::rolled_back(state, from, after);
        if let Some(memory) = memory {
            checkpoint::restore_memory(state, memory);
        } else {
            rolled_back(state, *to);
            checkpoint::rolled_back(state, *to, reason.as_deref());
        }
    }
    state.last_tree.clone_from(after);
    weakening::rolled_back(state, paths, mended);
    if !paths.is_empty() || *after != state.judged_tree {
        state.is_unjudged = true;
    }
}

/// The changes of the iterations after it are no longer in the files.
fn rolled_back(state: &mut LoopState, to: u32) {
    let made = state.history.iter().find(|it| it.number == to);
    let without = made.map(|it| it.without.clone()).unwrap_or_default();
    for row in &mut state.history {
        row.taken_back = row.number > to || without.contains(&row.number);
    }
}

fn breaker_changed(state: &mut LoopState, record: &Record) {
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
    let of_breaker = |it: &Pause| it.reason == PauseReason::Breaker;
    if is_closed && state.pause.as_ref().is_some_and(of_breaker) {
        state.pause = None;
    }
}
