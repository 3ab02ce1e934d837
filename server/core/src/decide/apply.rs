//! Records to state: the only way state changes, live and in replay. Total: a record that makes no sense
//! where it stands changes nothing but the sequence.

mod agent;
mod recovered;

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::ProviderClass;
use crate::check::Status;
use crate::claims::Claims;
use crate::journal::{
    BreakerState, Changes, Claim, Entry, LoopSpec, PauseReason, Pinned, Record, Role, Round, SnapshotWhen,
};
use crate::moment::Moment;
use crate::task::{Criterion, CriterionId};

use super::breaker;
use super::commits::{self, Pending};
use super::flaky::{self, Seen};
use super::fork;
use super::questions::{self, Question, Questions};
use super::regression;
use super::sessions::{Session, SessionChange};
use super::spawns::Spawns;
use super::stand::{self, Stand};
use super::state::{Breaker, Iteration, Loop, Pause, Phase, SnapshotRef, Spent, Stop, Wait};
use super::takeover::{self, Member, Out};
use super::weakening::{self, Kept};

/// The state of a whole journal. `None` when it does not begin with `loop-started`.
pub fn replay(entries: &[Entry]) -> Option<Loop> {
    let (first, rest) = entries.split_first()?;
    let mut state = begin(first)?;
    for entry in rest {
        apply(&mut state, entry);
    }
    Some(state)
}

/// The state after the first record.
pub fn begin(entry: &Entry) -> Option<Loop> {
    match &entry.record {
        Record::LoopStarted { boot, spec } => Some(started(entry, boot, spec)),
        _ => None,
    }
}

/// Folds one more record into the state.
pub fn apply(state: &mut Loop, entry: &Entry) {
    if entry.epoch < state.epoch {
        return;
    }
    pass_time(state, entry);
    state.seq = entry.seq;
    state.epoch = entry.epoch;
    state.last_at = entry.at;
    match &entry.record {
        Record::LoopStarted { .. } | Record::TrustChanged { .. } | Record::Unknown => {}
        Record::RolledBack { .. } => went_back(state, &entry.record),
        Record::HookFailed { event, message } => {
            state.hooks_failed.insert(*event, message.clone());
        }
        Record::BranchTaken { branch, .. } => {
            state.has_branch = true;
            state.stand.begun(branch.as_deref());
        }
        Record::Committed { .. } => commits::told(state, &entry.record),
        Record::Baseline { .. } => baseline(state, &entry.record),
        Record::IterationIntended { .. } => intended(state, entry.at, &entry.record),
        Record::AgentStarted { pid, holds, .. } => agent::started(state, *pid, *holds),
        Record::AgentEnded { run, .. } => agent::ended(state, entry.at, run),
        Record::SubagentAsked { .. } | Record::SubagentStarted { .. } | Record::SubagentEnded { .. } => {
            state.spawns.told(&entry.record);
        }
        Record::AgentLeft { left, .. } => agent::left(state, left),
        Record::SnapshotTaken { .. } => snapshot(state, &entry.record),
        Record::ChecksDone { iteration, round } => judged(state, *iteration, round),
        Record::IterationEnded { .. } => iteration_ended(state, entry.at, &entry.record),
        Record::BreakerChanged { .. } => breaker_changed(state, &entry.record),
        Record::Waiting { reason, until } => waiting(state, Wait { reason: *reason, until: *until }),
        Record::Paused { reason, message } => {
            state.pause = Some(Pause { reason: *reason, message: message.clone() });
        }
        Record::Resumed {} => resumed(state),
        Record::AgentChanged { to, reason, until, .. } => takeover::changed(state, to, *reason, *until),
        Record::Asked { id, kind, text, until } => {
            let (id, kind, text, until) = (id.clone(), *kind, text.clone(), *until);
            state.questions.asked(entry.at, Question { id, kind, text, until }, state.iteration);
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
        Record::Stopping { now } => state.stop = Some(if *now { Stop::Now } else { Stop::AfterIteration }),
        Record::WeakeningAccepted { .. } | Record::ProtectedEdited { .. } => {
            weakening::moved(state, &entry.record);
        }
        Record::Recovered { boot, .. } => recovered::take_over(state, entry.at, boot),
        Record::Ended { outcome } => {
            state.outcome = Some(outcome.clone());
            state.phase = Phase::Ended;
        }
    }
}

fn resumed(state: &mut Loop) {
    state.pause = None;
    state.failures = 0;
    state.kept.resumed = state.iteration;
    state.hooks_failed.clear();
    state.stalls = 0;
    takeover::resumed(state);
}

fn started(entry: &Entry, boot: &str, spec: &LoopSpec) -> Loop {
    Loop {
        spec: spec.clone(),
        crew: spec.agents().map(|plan| Member { plan: plan.clone(), out: Out::No, left: None }).collect(),
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
        spent: Spent::default(),
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
        questions: Questions::default(),
        session: Session::default(),
        spawns: Spawns::default(),
        held: false,
        holds: None,
        beside: false,
        stop: None,
        pause: None,
        wait: None,
        worked_ms: 0,
        paused_ms: 0,
        snapshots: Vec::new(),
        head_before: None,
        passing_before: BTreeSet::new(),
        rollbacks: 0,
        marks: BTreeMap::new(),
        outcome: None,
        kept: Kept::default(),
        flaky: Seen::default(),
        has_branch: false,
        stand: Stand::default(),
        pending: Pending::default(),
    }
}

fn open(criterion: &Criterion) -> Pinned {
    Pinned { criterion: criterion.clone(), role: Role::Open }
}

/// Time between two records belongs to what the loop did meanwhile. A keeper that was dead did nothing.
fn pass_time(state: &mut Loop, entry: &Entry) {
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

fn baseline(state: &mut Loop, record: &Record) {
    let Record::Baseline { iteration, criteria, plan, artefacts, round, untracked, seen } = record else {
        return;
    };
    state.pinned.clone_from(criteria);
    state.plan.clone_from(plan);
    state.artefacts.extend(artefacts.iter().cloned());
    state.seen = Some(seen.clone());
    if *iteration == 0 {
        state.untracked.clone_from(untracked);
    }
    state.results.retain(|id, _| criteria.iter().any(|it| it.criterion.id == *id));
    if let Some(round) = round {
        state.spent.add(round.judging.unwrap_or_default());
        take_results(state, round);
        state.beside = agent::is_beside(state);
        weakening::counted_first(state, *iteration, round);
        let all = passes(state);
        flaky::passed(state, all);
    }
    state.passing_since = passes(state).then_some(*iteration);
    if state.history.is_empty() {
        state.held_at_start = passes(state);
    }
    fork::mark(state);
    state.phase = Phase::Boundary;
}

/// What was prepared is prepared again after the wait.
fn waiting(state: &mut Loop, wait: Wait) {
    state.wait = Some(wait);
    if state.phase == Phase::Preparing {
        state.phase = Phase::Boundary;
    }
}

fn intended(state: &mut Loop, at: Moment, record: &Record) {
    let Record::IterationIntended { iteration, session, resumed, calls_this_hour, calls_note, .. } = record
    else {
        return;
    };
    let iteration = *iteration;
    state.iteration = state.iteration.max(iteration);
    state.phase = Phase::Iterating { since: at, pid: None };
    state.spawns.next_iteration(state.held);
    state.held = false;
    state.spent.calls = state.spent.calls.saturating_add(1);
    state.spent.calls_this_hour = *calls_this_hour;
    state.calls_note.clone_from(calls_note);
    state.steering.clear();
    state.questions.told();
    state.wait = None;
    let without = state.history.iter().filter(|it| it.taken_back).map(|it| it.number).collect();
    let passing = state.results.values().filter(|it| it.status == Status::Pass);
    state.passing_before = passing.map(|it| it.criterion.clone()).collect();
    state.history.push(Iteration {
        number: iteration,
        agent: state.spec.agent.name.clone(),
        started_at: at,
        ended_at: at,
        duration_ms: 0,
        session: session.clone(),
        resumed: *resumed,
        session_lost: false,
        cost_micros: None,
        tokens: None,
        ending: None,
        error: None,
        denials: 0,
        denied: Vec::new(),
        final_text: String::new(),
        errors: Vec::new(),
        output_bytes: 0,
        tools: Vec::new(),
        commands: Vec::new(),
        changes: Changes::default(),
        claim: None,
        items_done: 0,
        claims: Claims::default(),
        test_only: false,
        matching: Vec::new(),
        row: Vec::new(),
        facts: Vec::new(),
        sentence: String::new(),
        milestones: Vec::new(),
        interrupted: false,
        commits: Vec::new(),
        commit: None,
        taken_back: false,
        broke: None,
        without,
    });
}

fn snapshot(state: &mut Loop, record: &Record) {
    let Record::SnapshotTaken { iteration, when, tree, head, .. } = record else { return };
    state.snapshots.push(SnapshotRef { iteration: *iteration, when: *when, tree: tree.clone() });
    stand::looked(state, *when, head.as_ref());
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

fn judged(state: &mut Loop, iteration: Option<u32>, round: &Round) {
    let moved = round.tree_before != state.judged_tree;
    state.spent.add(round.judging.unwrap_or_default());
    weakening::counted_in(state, iteration, round);
    flaky::compared(state, round);
    take_results(state, round);
    state.beside = agent::is_beside(state);
    let all = passes(state);
    flaky::passed(state, all);
    let results = &state.results;
    let status = |it: &Pinned| results.get(&it.criterion.id).map(|found| found.status);
    let cell = |it: &Pinned| status(it).map(|found| (it.criterion.id.clone(), found));
    let row: Vec<(CriterionId, Status)> = state.pinned.iter().filter_map(cell).collect();
    if moved && iteration.is_none() {
        // Somebody may have changed files since: what broke is not the iteration's alone.
        state.passing_before.clear();
    }
    // What was looked at while the loop rested says nothing about the iteration before.
    if let Some(last) = state.history.last_mut().filter(|it| iteration == Some(it.number)) {
        last.row = row;
        let broken =
            round.results.iter().filter(|it| !matches!(it.status, Status::Pass | Status::Unverified));
        last.facts = broken.map(|it| (it.criterion.clone(), it.fact.clone())).collect();
    }
    state.passing_since = if passes(state) { state.passing_since.or(Some(state.iteration)) } else { None };
}

fn take_results(state: &mut Loop, round: &Round) {
    state.judged_tree.clone_from(&round.tree_after);
    state.is_unjudged = false;
    for result in &round.results {
        state.results.insert(result.criterion.clone(), result.clone());
        let Some(pinned) = state.pinned.iter_mut().find(|it| it.criterion.id == result.criterion) else {
            continue;
        };
        let passed = result.status == Status::Pass;
        match pinned.role {
            Role::Open if result.status == Status::Unverified => {}
            Role::Open => pinned.role = if passed { Role::Guard } else { Role::Goal },
            Role::Goal => state.turned |= passed,
            Role::Guard => {}
        }
    }
}

/// Everything required that carries a check passed in the last round, and there is such a thing.
fn passes(state: &Loop) -> bool {
    let mut checked = state.required().filter(|it| it.criterion.check.is_some()).peekable();
    checked.peek().is_some() && checked.all(|it| state.status_of(&it.criterion.id) == Some(Status::Pass))
}

fn iteration_ended(state: &mut Loop, at: Moment, record: &Record) {
    let Record::IterationEnded {
        changes, plan, proposed, seen, edited_artefacts, claim, weakened, near, ..
    } = record
    else {
        return;
    };
    state.warned.extend(near);
    state.plan.clone_from(plan);
    state.proposed.clone_from(proposed);
    if let Some(seen) = seen {
        state.seen = Some(seen.clone());
    }
    state.kept.weakened.clone_from(weakened);
    state.kept.mended.clear();
    for path in edited_artefacts {
        state.artefacts.remove(path);
    }
    let mut trouble = false;
    if let Some(row) = state.history.last_mut() {
        row.ended_at = at;
        fill(row, record);
        row.items_done = plan.iter().filter(|it| it.done).count() as u32;
        trouble = breaker::is_provider_trouble(row);
    }
    state.claims = match claim {
        // Words come easily: alone they count once there is nothing left to do.
        Some(Claim::Words) if changes.any() => 0,
        Some(_) => state.claims.saturating_add(1),
        None => 0,
    };
    count_failure(state, trouble);
    if regression::is_clean(state) {
        state.rollbacks = 0;
    }
    commits::changed(state);
    fork::mark(state);
    state.phase = Phase::Boundary;
}

/// A provider that turns work away is no agent that cannot work: each has a count of its own, over all restarts.
fn count_failure(state: &mut Loop, trouble: bool) {
    let Some(row) = state.history.last() else { return };
    let class = row.error.as_ref().map(|it| it.class);
    let stalled = matches!(class, Some(ProviderClass::Quota | ProviderClass::Transient));
    let changed = row.changes.any();
    state.stalls = match (stalled, changed) {
        (true, true) => 1,
        (true, false) => state.stalls.saturating_add(1),
        (false, _) => 0,
    };
    state.failures = match (trouble, changed) {
        // Nothing was tried: the next one is.
        (true, false) if stalled || row.session_lost => state.failures,
        (true, false) => state.failures.saturating_add(1),
        _ => 0,
    };
}

/// What the end of an iteration says of it.
fn fill(row: &mut Iteration, record: &Record) {
    let Record::IterationEnded {
        changes,
        claim,
        claims,
        test_only,
        matching,
        sentence,
        milestones,
        commits,
        ..
    } = record
    else {
        return;
    };
    row.changes.clone_from(changes);
    row.claim = *claim;
    row.claims = claims.as_deref().cloned().unwrap_or_default();
    row.test_only = *test_only;
    row.matching.clone_from(matching);
    row.sentence.clone_from(sentence);
    row.milestones.clone_from(milestones);
    row.commits.clone_from(commits);
}

fn went_back(state: &mut Loop, record: &Record) {
    let Record::RolledBack { to, tree, from, paths, reason, mended } = record else { return };
    if paths.is_empty() {
        rolled_back(state, *to);
        commits::rolled_back(state, from, tree);
        fork::rolled_back(state, *to, reason.as_deref());
    }
    weakening::rolled_back(state, paths, mended);
    if !paths.is_empty() || *tree != state.judged_tree {
        state.is_unjudged = true;
    }
}

/// What the iterations after it did is no longer in the files.
fn rolled_back(state: &mut Loop, to: u32) {
    let made = state.history.iter().find(|it| it.number == to);
    let without = made.map(|it| it.without.clone()).unwrap_or_default();
    for row in &mut state.history {
        row.taken_back = row.number > to || without.contains(&row.number);
    }
}

fn breaker_changed(state: &mut Loop, record: &Record) {
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
