//! Decides when a loop is done. Checks decide; a claim only counts where there is no check, and never overrides one.
//! `exit.when` replaces these rules, but does not make an unverified result verified.

mod claimed;
pub mod groups;
pub(super) mod stages;
mod when;

use crate::check::Status;
use crate::journal::{Outcome, OutcomeKind, Pinned};
use crate::jury;
use crate::loop_state::{Iteration, LoopState};
use loopkeeper_task::proposal;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;

use super::spans::iterations;

pub(super) use claimed::{is_complete, is_worked_off, only_tests};

/// The outcome if the task is done now, judged by the last round alone.
pub(super) fn completed(state: &LoopState, now: Moment) -> Option<Outcome> {
    if state.tree.is_unjudged && state.has_checks() {
        return None;
    }
    if let Some(condition) = when::exit_condition(state) {
        return when::evaluate_condition(state, &condition, now);
    }
    match state.last_iteration() {
        None => nothing_to_do(state),
        Some(last) => done_after(state, last),
    }
}

/// Before the first iteration: nothing to do, and the user did not request a start anyway.
fn nothing_to_do(state: &LoopState) -> Option<Outcome> {
    if state.spec.anyway || state.open_items().next().is_some() {
        return None;
    }
    let (checked, unchecked) = split_by_check(state);
    // A judge's opinion without any other check does not prove that there is nothing to do.
    let only_judges = !checked.is_empty() && checked.iter().all(|it| jury::quorum(&it.criterion).is_some());
    if state.criteria.held_at_start && unchecked.is_empty() && !only_judges {
        return Some(verified_outcome(already_holds(state, checked.len())));
    }
    if checked.is_empty() && is_complete(&state.plan) {
        let sentence =
            "completed, claimed, not verified: every plan item was ticked before the first iteration";
        return Some(claimed_outcome(sentence.to_owned()));
    }
    None
}

/// Checks that already pass are no evidence of the requested work.
fn already_holds(state: &LoopState, checked: usize) -> Message {
    let proposed = proposal::propose_criterion(&state.spec.title, &state.spec.criteria);
    let passed = criteria(checked, "passed", "passed");
    let fact = format!(
        "completed, verified: already holds, {passed} before the first iteration, so nothing can show that new work \
         is done"
    );
    Message::new(fact).with_hint(format!(
        "add a criterion that fails until it is, such as \"- {proposed}\"; `--anyway` starts without one"
    ))
}

/// The loop ended because everything held before the first iteration.
pub fn held_already(state: &LoopState) -> bool {
    let completed = state.outcome().is_some_and(|it| it.kind == OutcomeKind::Completed && it.verified);
    completed && state.criteria.held_at_start && state.iteration == 0
}

fn done_after(state: &LoopState, last: &Iteration) -> Option<Outcome> {
    let (checked, unchecked) = split_by_check(state);
    if checked.is_empty() && last.taken_back {
        return None;
    }
    if checked.is_empty() {
        return claimed::completed(state, last, unchecked.len());
    }
    if !groups::all_groups_hold(state, &checked) {
        return None;
    }
    let needs_claim = !unchecked.is_empty() || (state.spec.anyway && state.criteria.held_at_start);
    if needs_claim && (last.claim.is_none() || last.taken_back) {
        return None;
    }
    let open = open_item_names(state);
    if !open.is_empty() && !is_settled(state, last) {
        return None;
    }
    let tail = format!("{}{}", open_tail(&open), claimed::contradiction(last));
    Some(completion_outcome(state, &checked, unchecked.len(), &tail))
}

/// Everything required holds; the outcome names how much of it was verified by our own run.
fn completion_outcome(state: &LoopState, checked: &[&Pinned], unchecked: usize, tail: &str) -> Outcome {
    let after = iterations(state.iteration);
    let failing = checked.iter().filter(|it| !passes(state, it)).count();
    if failing > 0 {
        let (passing, total) = (checked.len() - failing, checked.len());
        return claimed_outcome(format!(
            "completed, not verified: most of every group, {passing} of {total} required criteria, pass after \
             {after}{tail}"
        ));
    }
    if let Some(judged) = judged_by_worker(state, checked) {
        let n = criteria(checked.len(), "passes", "pass");
        let fact = format!(
            "completed, claimed, not verified: {n} after {after}{tail}, but \"{judged}\" was judged by the agent that \
             worked"
        );
        return claimed_outcome(Message::new(fact).with_hint("`criteria.judge` names another agent"));
    }
    if unchecked == 0 {
        let n = criteria(checked.len(), "passes", "pass");
        return verified_outcome(format!("completed, verified: {n} after {after}{tail}"));
    }
    let n = match checked.len() {
        1 => "the one criterion with a check passes".to_owned(),
        n => format!("all {n} criteria with a check pass"),
    };
    claimed_outcome(format!(
        "completed, claimed, not verified: {n}, {unchecked} without one only claimed, after {after}{tail}"
    ))
}

/// A required criterion whose judge is an agent that worked on the task: its pass is only that agent's own claim.
fn judged_by_worker<'a>(state: &'a LoopState, checked: &[&'a Pinned]) -> Option<&'a str> {
    let judge = state.spec.judge.as_ref()?;
    let has_worked = state.history.has_agent(&judge.name);
    let judged = checked.iter().find(|it| jury::quorum(&it.criterion).is_some());
    judged.filter(|_| has_worked).map(|it| it.criterion.name.as_str())
}

/// The required criteria, with and without a check.
fn split_by_check(state: &LoopState) -> (Vec<&Pinned>, Vec<&Pinned>) {
    state.required().partition(|it| it.criterion.check.is_some())
}

fn passes(state: &LoopState, pinned: &Pinned) -> bool {
    state.status_of(&pinned.criterion.id) == Some(Status::Pass)
}

/// A goal has turned, and a whole further iteration with everything passing changed nothing: the open plan items are
/// stale bookkeeping.
fn is_settled(state: &LoopState, last: &Iteration) -> bool {
    let whole_iteration = state.criteria.passing_since.is_some_and(|since| since < last.number);
    state.criteria.turned
        && whole_iteration
        && !last.changes.has_progress()
        && !last.taken_back
        && !super::breaker::is_provider_trouble(last)
}

fn open_item_names(state: &LoopState) -> Vec<&str> {
    let open: Vec<&str> = state.open_items().map(|it| it.title.as_str()).collect();
    if open.is_empty() { claimed::struck_out(&state.plan, &state.spec.plan) } else { open }
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

/// The progress of a loop that ends before it is done; empty without checks.
pub(super) fn progress_suffix(state: &LoopState) -> String {
    let (checked, _) = split_by_check(state);
    let passing = checked.iter().filter(|it| passes(state, it)).count();
    let fact = match (passing, checked.len()) {
        (_, 0) => return String::new(),
        (1, 1) => "the one required criterion passes".to_owned(),
        (0, 1) => "the one required criterion does not pass".to_owned(),
        (passing, total) => format!("{passing} of {total} required criteria pass"),
    };
    let is_unstable = |it: &&&Pinned| state.status_of(&it.criterion.id) == Some(Status::Unstable);
    match (checked.iter().filter(is_unstable).count(), checked.len()) {
        (0, _) => format!("; {fact}"),
        (_, 1) => format!("; {fact}: files change while it is checked"),
        (n, _) => format!("; {fact}, {n} unstable: files change while they are checked"),
    }
}

/// `all 3 required criteria pass`, with the given verb.
fn criteria(n: usize, one: &str, many: &str) -> String {
    match n {
        1 => format!("the one required criterion {one}"),
        n => format!("all {n} required criteria {many}"),
    }
}

fn verified_outcome(sentence: impl Into<Message>) -> Outcome {
    Outcome { kind: OutcomeKind::Completed, verified: true, sentence: sentence.into(), cause: None }
}

fn claimed_outcome(sentence: impl Into<Message>) -> Outcome {
    Outcome { kind: OutcomeKind::Completed, verified: false, sentence: sentence.into(), cause: None }
}

/// Stopped for a special reason: the task is neither proven nor claimed to be done.
fn stopped_outcome(sentence: impl Into<Message>) -> Outcome {
    Outcome { kind: OutcomeKind::Stopped, verified: false, sentence: sentence.into(), cause: None }
}
