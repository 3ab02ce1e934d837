//! Weighs the agent's claims where there is no check. Accepted are an explicit signal together with a matching message,
//! the same claim several times in a row, or a completed plan. Too many test-only iterations end the loop as stopped.
//! An `EXIT_SIGNAL: false` has already voided the claim of its iteration.

use std::collections::HashSet;

use crate::journal::{Claim, Outcome};
use crate::loop_state::{Iteration, LoopState};
use loopkeeper_task::PlanItem;

use super::super::spans::iterations;
use super::{claimed_outcome, criteria, stopped_outcome};

/// Number of iterations over which the share of test-only ones is computed.
const TEST_WINDOW: usize = 10;

pub(super) fn completed(state: &LoopState, last: &Iteration, unchecked: usize) -> Option<Outcome> {
    if state.open_items().next().is_some() {
        return None;
    }
    let Some(how) = completion_basis(state, last) else { return ended_by_tests(state, last) };
    let after = iterations(state.iteration);
    let what = match unchecked {
        0 => String::new(),
        n => format!(", {}", criteria(n, "has no check", "have no check")),
    };
    let but = contradiction(last);
    Some(claimed_outcome(format!("completed, claimed, not verified: {how} after {after}{what}{but}")))
}

/// The reason why the loop is done, the strongest first.
fn completion_basis(state: &LoopState, last: &Iteration) -> Option<String> {
    let exit = &state.spec.settings.exit;
    let indicators = last.claims.indicator_count();
    let signal = last.claims.exit_signal;
    if last.claim.is_some() && signal == Some(true) && indicators >= exit.completion_indicators as usize {
        return Some(format!("EXIT_SIGNAL: true and {indicators} indications of it"));
    }
    if last.claim.is_some() && is_worked_off(&state.plan, &state.spec.plan) {
        return Some("every plan item is ticked".to_owned());
    }
    if last.claim.is_some() && state.streaks.claims >= exit.done_signals {
        return Some("the agent says so".to_owned());
    }
    None
}

/// Iterations that only run tests end the loop without any claim.
fn ended_by_tests(state: &LoopState, last: &Iteration) -> Option<Outcome> {
    if last.claims.exit_signal == Some(false) || super::super::breaker::is_provider_trouble(last) {
        return None;
    }
    let why = only_tests(state)?;
    Some(stopped_outcome(format!("stopped, not completed: {why}, after {}", iterations(state.iteration))))
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

/// Items that were open at the start and are gone although nothing was ticked: deleting a plan does not complete it.
pub(super) fn struck_out<'a>(plan: &[PlanItem], start: &'a [PlanItem]) -> Vec<&'a str> {
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
        return Some(format!("the last {in_row} iterations did nothing but run tests"));
    }
    let window = state.history.newest(TEST_WINDOW);
    if window.len() < TEST_WINDOW {
        return None;
    }
    let of_them = window.iter().filter(|it| it.test_only).count();
    let ends = state.history.last().is_some_and(|it| it.test_only)
        && of_them * 100 > exit.test_percentage as usize * TEST_WINDOW;
    ends.then(|| format!("{of_them} of the last {TEST_WINDOW} iterations did nothing but run tests"))
}

/// `; the agent claims to be done (promise) at 80 %`, where a claim contradicts itself.
pub(super) fn contradiction(last: &Iteration) -> String {
    let contradicted_claim =
        last.claim.filter(|it| *it != Claim::Plan).and_then(|_| last.claims.contradiction());
    contradicted_claim.map_or_else(String::new, |it| format!("; {it}"))
}
