//! When a loop is done. Checks decide; a claim only stands in where there is no check, and never beats one.

use crate::check::Status;
use crate::journal::{Outcome, OutcomeKind, Pinned};

use super::limits::iterations;
use super::state::{Iteration, Loop};

/// The outcome if the task is done now, judged by the last round alone.
pub(super) fn completed(state: &Loop) -> Option<Outcome> {
    match state.last_iteration() {
        None => already_holds(state),
        Some(last) => done_after(state, last),
    }
}

/// Before the first iteration: nothing to do, and the user did not insist.
fn already_holds(state: &Loop) -> Option<Outcome> {
    let all_checked = state.required().all(|it| it.criterion.check.is_some());
    let holds = state.held_at_start && all_checked && state.open_items().next().is_none();
    if !holds || state.spec.anyway {
        return None;
    }
    let n = state.required().count();
    Some(verified(format!(
        "completed, verified: already holds, {} before the first iteration",
        criteria(n, "passed", "passed")
    )))
}

fn done_after(state: &Loop, last: &Iteration) -> Option<Outcome> {
    let (checked, unchecked): (Vec<&Pinned>, Vec<&Pinned>) =
        state.required().partition(|it| it.criterion.check.is_some());
    if checked.is_empty() {
        return claimed_only(state, last, unchecked.len());
    }
    let holds = |it: &&Pinned| state.status_of(&it.criterion.id) == Some(Status::Pass);
    if !checked.iter().all(holds) {
        return None;
    }
    let needs_claim = !unchecked.is_empty() || (state.spec.anyway && state.held_at_start);
    if needs_claim && last.claim.is_none() {
        return None;
    }
    let open = open_item_names(state);
    if !open.is_empty() && !rests(state, last) {
        return None;
    }
    let after = iterations(state.iteration);
    let tail = open_tail(&open);
    Some(if unchecked.is_empty() {
        let n = criteria(checked.len(), "passes", "pass");
        verified(format!("completed, verified: {n} by loopkeeper's own run after {after}{tail}"))
    } else {
        let n = match checked.len() {
            1 => "the one criterion with a check passes".to_owned(),
            n => format!("all {n} criteria with a check pass"),
        };
        let m = unchecked.len();
        claimed(format!(
            "completed, claimed, not verified: {n}, {m} without one only claimed, after {after}{tail}"
        ))
    })
}

/// No check anywhere: the agent's word, given in a row, or a plan worked off.
fn claimed_only(state: &Loop, last: &Iteration, unchecked: usize) -> Option<Outcome> {
    let claim = last.claim?;
    let by_plan = claim == crate::journal::Claim::Plan;
    let enough = by_plan || state.claims >= state.spec.settings.exit.done_signals;
    if !enough || state.open_items().next().is_some() {
        return None;
    }
    let after = iterations(state.iteration);
    let how = if by_plan { "every plan item is ticked" } else { "the agent says so" };
    let what = match unchecked {
        0 => String::new(),
        n => format!(", {}", criteria(n, "has no check", "have no check")),
    };
    Some(claimed(format!("completed, claimed, not verified: {how} after {after}{what}")))
}

/// A goal has turned, and a whole further iteration with everything passing changed nothing: the open plan
/// items are bookkeeping that nobody will do.
fn rests(state: &Loop, last: &Iteration) -> bool {
    let whole_iteration = state.passing_since.is_some_and(|since| since < last.number);
    state.turned && whole_iteration && !last.changes.any() && !super::breaker::is_provider_trouble(last)
}

fn open_item_names(state: &Loop) -> Vec<&str> {
    state.open_items().map(|it| it.title.as_str()).collect()
}

fn open_tail(open: &[&str]) -> String {
    if open.is_empty() {
        return String::new();
    }
    let shown: Vec<&str> = open.iter().copied().take(3).collect();
    let more = open.len().saturating_sub(shown.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("; still open in the plan: {}{more}", shown.join(", "))
}

/// `all 3 required criteria pass`, in the verb that is asked for.
fn criteria(n: usize, one: &str, many: &str) -> String {
    match n {
        1 => format!("the one required criterion {one}"),
        n => format!("all {n} required criteria {many}"),
    }
}

fn verified(sentence: String) -> Outcome {
    Outcome { kind: OutcomeKind::Completed, verified: true, sentence, cause: None }
}

fn claimed(sentence: String) -> Outcome {
    Outcome { kind: OutcomeKind::Completed, verified: false, sentence, cause: None }
}
