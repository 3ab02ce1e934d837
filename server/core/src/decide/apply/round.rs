//! Applies rounds of checks: stores the results that are valid from then on.

use crate::check::Status;
use crate::check::fingerprint;
use crate::journal::{PinnedCriterion, Record, Role, Round};
use crate::loop_state::{LoopState, Phase};
use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_task::criterion::CriterionId;

use super::super::{checkpoint, final_verdict, flaky, unrunnable, weakening};
use super::agent;

pub(super) fn apply_baseline(state: &mut LoopState, record: &Record) {
    let Record::Baseline { iteration, criteria, plan, artefacts, round, untracked, seen } = record else {
        return;
    };
    let same_criteria = state.criteria.pinned.iter().map(|it| &it.criterion);
    if !same_criteria.eq(criteria.iter().map(|it| &it.criterion)) {
        final_verdict::discard(state);
    }
    state.criteria.pinned.clone_from(criteria);
    state.plan.clone_from(plan);
    state.tree.artefacts.extend(artefacts.iter().cloned());
    state.criteria.seen = Some(seen.clone());
    if *iteration == 0 {
        state.tree.untracked.clone_from(untracked);
    }
    let is_pinned = |id: &CriterionId| criteria.iter().any(|it| it.criterion.id == *id);
    state.criteria.results.retain(|id, _| is_pinned(id));
    state.criteria.numbers.retain(|id, _| is_pinned(id));
    if let Some(round) = round {
        state.spent.add(round.judging.unwrap_or_default());
        // The user may have changed files together with the criteria.
        weakening::record_removed_tests(state, None, round);
        weakening::resolve_restored(state, None);
        flaky::forget_passes_on_another_tree(state, round);
        take_results(state, round);
        unrunnable::count_unrunnable(state, round);
        state.tree.judged_beside_agent = agent::can_change_files(state);
        weakening::record_first_counts(state, *iteration, round);
        let all = state.criteria.required_checks_pass();
        flaky::update_pass_streak(state, all);
    }
    state.criteria.passing_since = state.criteria.required_checks_pass().then_some(*iteration);
    if state.history.is_empty() {
        state.criteria.held_at_start = state.criteria.required_checks_pass();
        unrunnable::waive_at_start(state);
    }
    checkpoint::add_checkpoint(state);
    state.enter(Phase::Boundary { wait: state.phase.wait().cloned() });
}

pub(super) fn apply_round(state: &mut LoopState, iteration: Option<u32>, round: &Round) {
    let moved = round.tree_before != state.tree.judged;
    state.spent.add(round.judging.unwrap_or_default());
    weakening::record_removed_tests(state, iteration, round);
    weakening::resolve_restored(state, iteration);
    flaky::count_flips(state, round);
    take_results(state, round);
    unrunnable::count_unrunnable(state, round);
    state.tree.judged_beside_agent = agent::can_change_files(state);
    let all = state.criteria.required_checks_pass();
    flaky::update_pass_streak(state, all);
    if state.history.is_empty() && !state.criteria.turned {
        // A check that could not run before the first iteration can run now.
        state.criteria.held_at_start = all;
    }
    if moved && iteration.is_none() {
        // Files may have been changed by hand since: regressions cannot be attributed to the iteration alone.
        state.criteria.passing_before.clear();
    }
    // A round during a pause does not describe the previous iteration.
    if let Some(iteration) = iteration {
        let broken =
            round.results.iter().filter(|it| !matches!(it.status, Status::Pass | Status::Unverified));
        let facts = broken.map(|it| (it.criterion.clone(), it.fact.clone())).collect();
        describe_iteration(state, iteration, facts);
    }
    state.criteria.passing_since = if state.criteria.required_checks_pass() {
        state.criteria.passing_since.or(Some(state.iteration))
    } else {
        None
    };
}

/// Applies a final verdict. Its failures are those of the iteration that it judged.
pub(super) fn apply_verdict(state: &mut LoopState, record: &Record) {
    final_verdict::apply_verdict(state, record);
    let refuted = state.weakening.verdict.as_ref().and_then(|it| it.failed_after);
    if let Some(iteration) = refuted {
        let pinned = state.criteria.pinned.iter().filter(|it| state.is_refuted(&it.criterion));
        let results = pinned.filter_map(|it| state.criteria.results.get(&it.criterion.id));
        let facts = results.map(|it| (it.criterion.clone(), it.fact.clone())).collect();
        describe_iteration(state, iteration, facts);
    }
}

/// Stores the present results with the iteration that they describe.
fn describe_iteration(state: &mut LoopState, iteration: u32, facts: Vec<(CriterionId, String)>) {
    let results = &state.criteria.results;
    let status = |it: &PinnedCriterion| results.get(&it.criterion.id).map(|found| found.status);
    let cell = |it: &PinnedCriterion| status(it).map(|found| (it.criterion.id.clone(), found));
    let row: Vec<(CriterionId, Status)> = state.criteria.pinned.iter().filter_map(cell).collect();
    let failing = failure_fingerprint(state);
    if let Some(last) = state.history.last_mut().filter(|it| it.number == iteration) {
        last.row = row;
        last.failing = failing;
        last.facts = facts;
    }
}

/// Fingerprint of the failing required criteria; optional criteria do not block a loop.
fn failure_fingerprint(state: &LoopState) -> Option<Fingerprint> {
    let results = state.required().filter_map(|it| state.criteria.results.get(&it.criterion.id));
    fingerprint::combined(results.filter(|it| !matches!(it.status, Status::Pass | Status::Unverified)))
}

fn take_results(state: &mut LoopState, round: &Round) {
    state.tree.record_round(&round.tree_after);
    for result in &round.results {
        state.criteria.results.insert(result.criterion.clone(), result.clone());
        state.criteria.record_number(result);
        let Some(pinned) = state.criteria.pinned.iter_mut().find(|it| it.criterion.id == result.criterion)
        else {
            continue;
        };
        let passed = result.status == Status::Pass;
        match pinned.role {
            Role::Open if result.status == Status::Unverified => {}
            // Neither goal nor guard until its check has run.
            Role::Open if result.missing_on_machine().is_some() => {}
            Role::Open => pinned.role = if passed { Role::Guard } else { Role::Goal },
            Role::Goal => state.criteria.turned |= passed,
            Role::Guard => {}
        }
    }
}
