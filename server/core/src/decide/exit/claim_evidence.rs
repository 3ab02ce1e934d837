//! Weighs the agent's claims where there is no check. Accepted are an explicit signal together with a matching message,
//! the same claim several times in a row, or a completed plan. Too many test-only iterations end the loop as stopped.
//! An `EXIT_SIGNAL: false` has already voided the claim of its iteration.

use std::collections::HashSet;

use crate::journal::{Claim, Outcome};
use crate::loop_state::{Iteration, LoopState};
use loopkeeper_task::PlanItem;
use loopkeeper_text::clauses::{append_clauses, join_with_commas};
use loopkeeper_text::tr;

use super::super::spans::iterations;
use super::{after_iterations, claimed_outcome, claimed_sentence, no_criteria_checked, stopped_outcome};

/// Number of iterations over which the share of test-only ones is computed.
const TEST_WINDOW: usize = 10;

pub(super) fn completed(state: &LoopState, last: &Iteration, unchecked: usize) -> Option<Outcome> {
    if state.open_items().next().is_some() {
        return None;
    }
    let Some(how) = completion_basis(state, last) else { return ended_by_tests(state, last) };
    let fact = after_iterations(&how, &iterations(state.iteration));
    let fact = match unchecked {
        0 => fact,
        n => join_with_commas(&[fact, no_criteria_checked(n)]),
    };
    Some(claimed_outcome(claimed_sentence(&append_clauses(fact, contradiction(last)))))
}

/// The reason why the loop is done, the strongest first.
fn completion_basis(state: &LoopState, last: &Iteration) -> Option<String> {
    let exit = &state.spec.settings.exit;
    let indicators = last.claims.indicator_count();
    let signal = last.claims.exit_signal;
    if last.claim.is_some() && signal == Some(true) && indicators >= exit.completion_indicators as usize {
        return Some(tr!("EXIT_SIGNAL: true and {indicators} indications of completion", indicators));
    }
    if last.claim.is_some() && is_worked_off(&state.plan, &state.spec.plan) {
        return Some(tr!("every plan item is ticked").to_owned());
    }
    if last.claim.is_some() && state.streaks.claims >= exit.done_signals {
        return Some(tr!("the agent says so").to_owned());
    }
    None
}

/// Iterations that only run tests end the loop without any claim.
fn ended_by_tests(state: &LoopState, last: &Iteration) -> Option<Outcome> {
    if last.claims.exit_signal == Some(false) || last.is_provider_failure() {
        return None;
    }
    let why = only_tests(state)?;
    let iterations = iterations(state.iteration);
    Some(stopped_outcome(tr!("stopped, not completed: {why}, after {iterations}", why, iterations)))
}

/// Every blocking item is ticked, and there is at least one.
pub(in super::super) fn is_complete(plan: &[PlanItem]) -> bool {
    let mut blocking = plan.iter().filter(|it| it.blocking).peekable();
    blocking.peek().is_some() && blocking.all(|it| it.done)
}

/// Complete, and not only because open items were deleted: an item is ticked that was not at the start.
pub(in super::super) fn is_worked_off(plan: &[PlanItem], start: &[PlanItem]) -> bool {
    let was_open = start.iter().any(|it| it.blocking && !it.done);
    is_complete(plan) && (!was_open || is_newly_ticked(plan, start))
}

fn is_newly_ticked(plan: &[PlanItem], start: &[PlanItem]) -> bool {
    let done_before: HashSet<&str> = start.iter().filter(|it| it.done).map(|it| it.id.as_str()).collect();
    plan.iter().any(|it| it.blocking && it.done && !done_before.contains(it.id.as_str()))
}

/// Items that were open at the start and disappeared although nothing was ticked: deleting a plan does not complete it.
pub(super) fn deleted_open_items<'a>(plan: &[PlanItem], start: &'a [PlanItem]) -> Vec<&'a str> {
    if is_newly_ticked(plan, start) {
        return Vec::new();
    }
    let there: HashSet<&str> = plan.iter().map(|it| it.id.as_str()).collect();
    let gone = start.iter().filter(|it| it.blocking && !it.done && !there.contains(it.id.as_str()));
    gone.map(|it| it.title.as_str()).collect()
}

/// A message about test-only iterations: a reason to end where no check decides, otherwise advice.
pub(in super::super) fn only_tests(state: &LoopState) -> Option<String> {
    let exit = &state.spec.settings.exit;
    let in_row = state.history.outlines().rev().take_while(|it| it.figures.test_only).count();
    if in_row >= exit.test_loops as usize {
        return Some(tr!("the last {in_row} iterations did nothing but run tests", in_row));
    }
    let window = state.history.newest(TEST_WINDOW);
    if window.len() < TEST_WINDOW {
        return None;
    }
    let of_them = window.iter().filter(|it| it.test_only).count();
    let ends = state.history.last().is_some_and(|it| it.test_only)
        && of_them * 100 > exit.test_percentage as usize * TEST_WINDOW;
    ends.then(|| {
        tr!("{of_them} of the last {all} iterations did nothing but run tests", of_them, all = TEST_WINDOW)
    })
}

/// `the agent claims to be done (promise) at 80 %`, where a claim contradicts itself.
pub(super) fn contradiction(last: &Iteration) -> Option<String> {
    last.claim.filter(|it| *it != Claim::Plan).and_then(|_| last.claims.contradiction())
}
