//! Records to state: the only way state changes, live and in replay. Total: a record that makes no sense
//! where it stands changes nothing but the sequence.

mod agent;
mod iteration;
mod recovered;
mod round;

use std::collections::{BTreeMap, BTreeSet};

use crate::criterion::Criterion;
use crate::journal::{
    AgentPlan, BreakerState, Entry, LoopSpec, Outcome, PauseReason, Pinned, Record, Role, SnapshotWhen,
};

use super::branch_tracking::{self, BranchTracking};
use super::checkpoint;
use super::commits::{self, UncommittedWork};
use super::flaky::FlakyState;
use super::questions::{self, PendingQuestion, QuestionState};
use super::sessions::{SessionChange, SessionHistory};
use super::shared_limits::{self, SharedLimit};
use super::spawns::SubagentLineage;
use super::state::{Breaker, LoopState, LoopUsage, Pause, Phase, SnapshotRef, StopMode, Wait};
use super::takeover::{self, AgentSlot, Availability};
use super::undo;
use super::unrunnable::{self, UnrunnableChecks};
use super::weakening::{self, WeakeningState};

/// The state of a whole journal. `None` when it does not begin with `loop-started`.
pub fn replay(entries: &[Entry]) -> Option<LoopState> {
    let (first, rest) = entries.split_first()?;
    let mut state = begin(first)?;
    for entry in rest {
        apply(&mut state, entry);
    }
    Some(state)
}

/// The state after the first record.
pub fn begin(entry: &Entry) -> Option<LoopState> {
    match &entry.record {
        Record::LoopStarted { boot, spec } => Some(started(entry, boot, spec)),
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
        Record::HookFailed { event, message } => {
            state.hooks_failed.insert(*event, message.clone());
        }
        Record::BranchTaken { branch, .. } => {
            state.has_branch = true;
            state.stand.begun(branch.as_deref());
        }
        Record::Committed { .. } => commits::told(state, &entry.record),
        Record::Baseline { .. } => round::baseline(state, &entry.record),
        Record::IterationIntended { .. } => iteration::intended(state, entry.at, &entry.record),
        Record::AgentStarted { pid, holds, .. } => agent::started(state, *pid, *holds),
        Record::AgentEnded { run, .. } => agent::ended(state, entry.at, run),
        Record::SubagentAsked { .. } | Record::SubagentStarted { .. } | Record::SubagentEnded { .. } => {
            state.spawns.told(&entry.record);
        }
        Record::AgentLeft { left, .. } => agent::left(state, left),
        Record::SnapshotTaken { .. } => snapshot(state, entry),
        Record::ChecksDone { iteration, round } => round::judged(state, *iteration, round),
        Record::IterationEnded { .. } => iteration::ended(state, entry.at, &entry.record),
        Record::BreakerChanged { .. } => breaker_changed(state, &entry.record),
        Record::Waiting { .. } => waiting(state, &entry.record),
        Record::Paused { reason, message } => {
            state.pause = Some(Pause { reason: *reason, message: message.clone() });
        }
        Record::ChecksWaived { criteria } => unrunnable::waive(state, criteria),
        Record::Resumed {} => resumed(state),
        Record::AgentChanged { to, reason, until, .. } => takeover::changed(state, to, *reason, *until),
        Record::Asked { id, kind, text, until } => {
            let (id, kind, text, until) = (id.clone(), *kind, text.clone(), *until);
            state.questions.asked(entry.at, PendingQuestion { id, kind, text, until }, state.iteration);
        }
        Record::Answered { id, text } => questions::answered(state, entry.at, id, text.as_deref()),
        Record::SessionChanged { from, to, reason } => {
            let (from, to, reason) = (from.clone(), to.clone(), *reason);
            let iteration = state.iteration;
            state.session.changed(SessionChange { at: entry.at, iteration, from, to, reason });
        }
        Record::SessionJoined { session, holds, tokens } => {
            agent::joined(state, entry.at, (session, *holds, *tokens));
        }
        Record::Steered { text } => state.steering.push(text.clone()),
        Record::Stopping { now } => {
            state.stop = Some(if *now { StopMode::Now } else { StopMode::AfterIteration });
        }
        Record::WeakeningAccepted { .. } | Record::ProtectedEdited { .. } => {
            weakening::moved(state, &entry.record);
        }
        Record::Recovered { boot, .. } => recovered::take_over(state, entry.at, boot),
        Record::Ended { outcome } => ended(state, outcome),
    }
}

fn ended(state: &mut LoopState, outcome: &Outcome) {
    state.outcome = Some(outcome.clone());
    state.phase = Phase::Ended;
}

fn resumed(state: &mut LoopState) {
    // What was missing may be there by now, without a change of the tree.
    let was_missing = state.pause.take().is_some_and(|it| it.reason == PauseReason::Missing);
    state.is_unjudged |= was_missing && state.has_checks();
    state.failures = 0;
    state.kept.resumed = state.iteration;
    state.hooks_failed.clear();
    state.stalls = 0;
    takeover::resumed(state);
    shared_limits::resumed(state);
}

fn started(entry: &Entry, boot: &str, spec: &LoopSpec) -> LoopState {
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
        pinned: spec.criteria.iter().map(open).collect(),
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
        kept: WeakeningState::default(),
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

fn open(criterion: &Criterion) -> Pinned {
    Pinned { criterion: criterion.clone(), role: Role::Open }
}

/// Time between two records belongs to what the loop did meanwhile. A keeper that was dead did nothing.
fn pass_time(state: &mut LoopState, entry: &Entry) {
    if matches!(entry.record, Record::Recovered { .. }) || state.outcome.is_some() {
        return;
    }
    let passed = entry.at.since(state.last_at);
    if state.waits_for_user() {
        state.paused_ms = state.paused_ms.saturating_add(passed);
    } else {
        state.worked_ms = state.worked_ms.saturating_add(passed);
    }
}

/// What was prepared is prepared again after the wait.
fn waiting(state: &mut LoopState, record: &Record) {
    let Record::Waiting { reason, until, met_by } = record else { return };
    state.wait = Some(Wait { reason: *reason, until: *until });
    state.shared_limit.met_by.clone_from(met_by);
    if state.phase == Phase::Preparing {
        state.phase = Phase::Boundary;
    }
}

fn snapshot(state: &mut LoopState, entry: &Entry) {
    let Record::SnapshotTaken { iteration, when, tree, head, undoes, .. } = &entry.record else { return };
    state.last_tree.clone_from(tree);
    if *when == SnapshotWhen::BeforeRollback && undoes.is_none() {
        undo::begun(state, entry.seq, tree);
    }
    state.snapshots.push(SnapshotRef { iteration: *iteration, when: *when, tree: tree.clone() });
    branch_tracking::looked(state, *when, head.as_ref());
    match (when, state.phase) {
        (SnapshotWhen::Before, _) => {
            // Somebody changed files since the last round.
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
    let memory = undo::done(state, entry.seq, &entry.record);
    if paths.is_empty() {
        commits::rolled_back(state, from, after);
        if let Some(memory) = memory {
            checkpoint::restore(state, memory);
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

/// What the iterations after it did is no longer in the files.
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
