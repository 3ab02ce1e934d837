//! Applies records of an iteration: its intent and its result.

use crate::check::Status;
use crate::journal::{ChangeStats, Claim, Record};
use crate::loop_state::{Iteration, LoopState, Phase, RunningAgent};
use loopkeeper_agent::ProviderClass;
use loopkeeper_agent::claims::Claims;
use loopkeeper_text::moment::Moment;

use super::super::{checkpoint, commits, old_iterations, regression, weakening};

pub(super) fn apply_iteration_intent(state: &mut LoopState, at: Moment, record: &Record) {
    let Record::IterationIntended { iteration, session, resumed, calls_this_hour, calls_note, .. } = record
    else {
        return;
    };
    let iteration = *iteration;
    state.iteration = state.iteration.max(iteration);
    state.enter(Phase::Iterating(RunningAgent { since: at, pid: None }));
    state.spawns.next_iteration(state.agents.hold.is_held);
    state.agents.hold.is_held = false;
    state.spent.calls = state.spent.calls.saturating_add(1);
    state.spent.calls_this_hour = *calls_this_hour;
    state.reported.calls_note.clone_from(calls_note);
    state.delivered_hints = std::mem::take(&mut state.steering);
    state.questions.deliver();
    let without = state.rollback.rolled_back.iter().copied().collect();
    let passing = state.criteria.results.values().filter(|it| it.status == Status::Pass);
    state.criteria.passing_before = passing.map(|it| it.criterion.clone()).collect();
    let agent = state.spec.agent.name.clone();
    state.history.push(Iteration {
        session: session.clone(),
        resumed: *resumed,
        without,
        ..new_row(iteration, agent, at)
    });
    old_iterations::shorten_next(state);
}

/// An iteration that has only begun.
fn new_row(number: u32, agent: String, at: Moment) -> Iteration {
    Iteration {
        number,
        agent,
        started_at: at,
        ended_at: at,
        duration_ms: 0,
        session: String::new(),
        resumed: false,
        session_lost: false,
        program_missing: false,
        cost_micros: None,
        tokens: None,
        ending: None,
        error: None,
        denials: 0,
        denied: Vec::new(),
        closed_paths: Vec::new(),
        read_only_paths: Vec::new(),
        closed_hosts: Vec::new(),
        final_text: String::new(),
        errors: Vec::new(),
        output_bytes: 0,
        tools: Vec::new(),
        commands: Vec::new(),
        changes: ChangeStats::default(),
        drift: None,
        claim: None,
        items_done: 0,
        claims: Claims::default(),
        test_only: false,
        matching: Vec::new(),
        row: Vec::new(),
        facts: Vec::new(),
        failing: None,
        sentence: String::new(),
        milestones: Vec::new(),
        interrupted: false,
        commits: Vec::new(),
        commit: None,
        rolled_back: false,
        broke: None,
        without: Vec::new(),
    }
}

pub(super) fn apply_iteration_end(state: &mut LoopState, at: Moment, record: &Record) {
    let Record::IterationEnded {
        changes, plan, proposed, seen, edited_artefacts, claim, weakened, near, ..
    } = record
    else {
        return;
    };
    state.reported.limits.extend(near);
    state.plan.clone_from(plan);
    state.criteria.proposed.clone_from(proposed);
    if let Some(seen) = seen {
        state.criteria.seen = Some(seen.clone());
    }
    state.weakening.weakened.clone_from(weakened);
    state.weakening.restored.clear();
    for path in edited_artefacts {
        state.tree.artefacts.remove(path);
    }
    weakening::record_allowed_changes(state, changes);
    let mut provider_failed = false;
    if changes.has_progress() {
        state.time.mark_progress();
    }
    if let Some(row) = state.history.last_mut() {
        row.ended_at = at;
        fill_iteration_row(row, record);
        row.items_done = plan.iter().filter(|it| it.done).count() as u32;
        provider_failed = row.is_provider_failure();
    }
    state.streaks.claims = match claim {
        // Completion phrases are unreliable: alone they count only in an iteration without changes.
        Some(Claim::Words) if changes.has_progress() => 0,
        Some(_) => state.streaks.claims.saturating_add(1),
        None => 0,
    };
    count_failure(state, provider_failed);
    if provider_failed && !changes.has_progress() {
        deliver_again(state);
    }
    if regression::is_clean(state) {
        state.streaks.rollbacks = 0;
    }
    commits::add_iteration_changes(state);
    checkpoint::add_checkpoint(state);
    state.enter(Phase::Boundary { wait: None });
}

/// The agent did not work with its prompt: hints and answers of the user belong in the next one, too.
fn deliver_again(state: &mut LoopState) {
    let hints = std::mem::take(&mut state.delivered_hints);
    state.steering.splice(0..0, hints);
    state.questions.deliver_again();
}

/// A provider that rejects requests does not mean a broken agent: each has its own count, across all restarts.
fn count_failure(state: &mut LoopState, provider_failed: bool) {
    let Some(row) = state.history.last() else { return };
    let class = row.error.as_ref().map(|it| it.class);
    let stalled = matches!(class, Some(ProviderClass::Quota | ProviderClass::Transient));
    let changed = row.changes.has_progress();
    state.streaks.stalls = match (stalled, changed) {
        (true, true) => 1,
        (true, false) => state.streaks.stalls.saturating_add(1),
        (false, _) => 0,
    };
    // Only the user can log in or pay, whatever files the agent wrote before it was refused.
    let needs_user = matches!(class, Some(ProviderClass::Login | ProviderClass::Billing));
    state.streaks.failures = match (provider_failed, changed && !needs_user) {
        // Nothing was tried, so the count does not change.
        (true, false) if stalled || row.session_lost || row.interrupted => state.streaks.failures,
        (true, false) => state.streaks.failures.saturating_add(1),
        _ => 0,
    };
}

/// Fills the row of an iteration from the record of its end.
fn fill_iteration_row(row: &mut Iteration, record: &Record) {
    let Record::IterationEnded {
        changes,
        claim,
        claims,
        test_only,
        matching,
        sentence,
        milestones,
        commits,
        drift,
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
    row.drift.clone_from(drift);
}
