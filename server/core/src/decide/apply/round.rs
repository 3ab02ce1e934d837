//! Applies rounds of checks: stores the results that are valid from then on.

use crate::check::Status;
use crate::check::fingerprint::of_all;
use crate::journal::{Pinned, Record, Role, Round};
use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_task::criterion::CriterionId;

use super::super::state::{LoopState, Phase};
use super::super::{checkpoint, flaky, unrunnable, weakening};
use super::agent;

pub(super) fn apply_baseline(state: &mut LoopState, record: &Record) {
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
        unrunnable::count_unrunnable(state, round, true);
        state.checked_with_agent_alive = agent::is_beside(state);
        weakening::counted_first(state, *iteration, round);
        let all = required_checks_pass(state);
        flaky::update_pass_streak(state, all);
    }
    state.passing_since = required_checks_pass(state).then_some(*iteration);
    if state.history.is_empty() {
        state.held_at_start = required_checks_pass(state);
        unrunnable::waive_at_start(state);
    }
    checkpoint::add_checkpoint(state);
    state.phase = Phase::Boundary;
}

pub(super) fn apply_round(state: &mut LoopState, iteration: Option<u32>, round: &Round) {
    let moved = round.tree_before != state.judged_tree;
    state.spent.add(round.judging.unwrap_or_default());
    weakening::counted_in(state, iteration, round);
    flaky::count_flips(state, round);
    take_results(state, round);
    unrunnable::count_unrunnable(state, round, false);
    state.checked_with_agent_alive = agent::is_beside(state);
    let all = required_checks_pass(state);
    flaky::update_pass_streak(state, all);
    if state.history.is_empty() && !state.turned {
        // A check that could not run before the first iteration can run now.
        state.held_at_start = all;
    }
    let results = &state.results;
    let status = |it: &Pinned| results.get(&it.criterion.id).map(|found| found.status);
    let cell = |it: &Pinned| status(it).map(|found| (it.criterion.id.clone(), found));
    let row: Vec<(CriterionId, Status)> = state.pinned.iter().filter_map(cell).collect();
    let failing = iteration.and_then(|_| failure_fingerprint(state));
    if moved && iteration.is_none() {
        // Files may have been changed by hand since: regressions cannot be attributed to the iteration alone.
        state.passing_before.clear();
    }
    // A round during a pause does not describe the previous iteration.
    if let Some(last) = state.history.last_mut().filter(|it| iteration == Some(it.number)) {
        last.row = row;
        last.failing = failing;
        let broken =
            round.results.iter().filter(|it| !matches!(it.status, Status::Pass | Status::Unverified));
        last.facts = broken.map(|it| (it.criterion.clone(), it.fact.clone())).collect();
    }
    state.passing_since =
        if required_checks_pass(state) { state.passing_since.or(Some(state.iteration)) } else { None };
}

/// Fingerprint of the failing required criteria; optional criteria do not block a loop.
fn failure_fingerprint(state: &LoopState) -> Option<Fingerprint> {
    let results = state.required().filter_map(|it| state.results.get(&it.criterion.id));
    of_all(results.filter(|it| !matches!(it.status, Status::Pass | Status::Unverified)))
}

fn take_results(state: &mut LoopState, round: &Round) {
    state.judged_tree.clone_from(&round.tree_after);
    state.last_tree.clone_from(&round.tree_after);
    state.is_unjudged = false;
    for result in &round.results {
        state.results.insert(result.criterion.clone(), result.clone());
        let Some(pinned) = state.pinned.iter_mut().find(|it| it.criterion.id == result.criterion) else {
            continue;
        };
        let passed = result.status == Status::Pass;
        match pinned.role {
            Role::Open if result.status == Status::Unverified => {}
            // Neither goal nor guard until its check has run.
            Role::Open if result.missing_on_machine().is_some() => {}
            Role::Open => pinned.role = if passed { Role::Guard } else { Role::Goal },
            Role::Goal => state.turned |= passed,
            Role::Guard => {}
        }
    }
}

/// Whether all required criteria with a check passed in the last round, and there is at least one.
fn required_checks_pass(state: &LoopState) -> bool {
    let mut checked = state.required().filter(|it| it.criterion.check.is_some()).peekable();
    checked.peek().is_some() && checked.all(|it| state.status_of(&it.criterion.id) == Some(Status::Pass))
}
