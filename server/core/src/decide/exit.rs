//! Decides when a loop is done. Checks decide; a claim only counts where there is no check, and never overrides one.
//! `exit.when` replaces these rules, but does not make an unverified result verified.

mod claim_evidence;
pub mod groups;
pub(super) mod stages;
mod when;

use crate::check::Status;
use crate::journal::{Claim, Outcome, OutcomeKind, PinnedCriterion};
use crate::jury;
use crate::loop_state::{Iteration, LoopState};
use loopkeeper_task::proposal;
use loopkeeper_text::clauses::{append_clauses, list_within};
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::spans::iterations;

pub(super) use claim_evidence::{is_complete, is_worked_off, only_tests};

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
        let fact = tr!("every plan item was ticked before the first iteration");
        return Some(claimed_outcome(claimed_sentence(fact)));
    }
    None
}

/// Checks that already pass are no evidence of the requested work.
fn already_holds(state: &LoopState, checked: usize) -> Message {
    let proposed = proposal::propose_criterion(&state.spec.title, &state.spec.criteria);
    let fact = match checked {
        1 => tr!(
            "already holds, the one required criterion passed before the first iteration, so nothing can show that \
             new work is done"
        )
        .to_owned(),
        n => tr!(
            "already holds, all {n} required criteria passed before the first iteration, so nothing can show that \
             new work is done",
            n
        ),
    };
    Message::new(verified_sentence(&fact)).with_hint(tr!(
        "add a criterion that fails until it is, such as \"- {proposed}\"; `--anyway` starts without one",
        proposed
    ))
}

/// The loop ended because everything held before the first iteration.
pub fn was_satisfied_at_start(state: &LoopState) -> bool {
    let completed = state.outcome().is_some_and(|it| it.kind == OutcomeKind::Completed && it.verified);
    completed && state.criteria.held_at_start && state.iteration == 0
}

fn done_after(state: &LoopState, last: &Iteration) -> Option<Outcome> {
    let (checked, unchecked) = split_by_check(state);
    if checked.is_empty() && last.rolled_back {
        return None;
    }
    if checked.is_empty() {
        return claim_evidence::completed(state, last, unchecked.len());
    }
    if !groups::all_groups_hold(state, &checked) {
        return None;
    }
    let needs_claim = !unchecked.is_empty() || (state.spec.anyway && state.criteria.held_at_start);
    if needs_claim && (last.claim.is_none() || last.rolled_back) {
        return None;
    }
    let open = open_item_names(state);
    // Checks decide; whether a removed item had been ticked before is not recorded, so the agent's word counts.
    let is_reported = state.open_items().next().is_none() && is_said_to_be_done(last);
    if !open.is_empty() && !is_reported && !is_settled(state, last) {
        return None;
    }
    let tail: Vec<String> =
        open_clause(state, &open).into_iter().chain(claim_evidence::contradiction(last)).collect();
    Some(completion_outcome(state, &checked, unchecked.len(), &tail))
}

/// Everything required holds; the outcome names how much of it was verified by our own run. `tail`: further clauses.
fn completion_outcome(
    state: &LoopState,
    checked: &[&PinnedCriterion],
    unchecked: usize,
    tail: &[String],
) -> Outcome {
    let iterations = iterations(state.iteration);
    let failing = checked.iter().filter(|it| !passes(state, it)).count();
    if failing > 0 {
        let (passing, total) = (checked.len() - failing, checked.len());
        let fact = tr!(
            "most of every group, {passing} of {total} required criteria, pass after {iterations}",
            passing,
            total,
            iterations
        );
        return claimed_outcome(unverified_sentence(&append_clauses(fact, tail)));
    }
    let all_pass = || append_clauses(after_iterations(&all_criteria_pass(checked.len()), &iterations), tail);
    if let Some(judged) = judged_by_worker(state, checked) {
        let fact =
            tr!("{fact}, but \"{judged}\" was judged by the agent that worked", fact = all_pass(), judged);
        let message = Message::new(claimed_sentence(&fact));
        return claimed_outcome(message.with_hint(tr!("`criteria.judge` names another agent")));
    }
    if unchecked == 0 {
        return verified_outcome(verified_sentence(&all_pass()));
    }
    let fact = match checked.len() {
        1 => tr!(
            "the one criterion with a check passes, {unchecked} without one only claimed, after {iterations}",
            unchecked,
            iterations
        ),
        n => tr!(
            "all {n} criteria with a check pass, {unchecked} without one only claimed, after {iterations}",
            n,
            unchecked,
            iterations
        ),
    };
    claimed_outcome(claimed_sentence(&append_clauses(fact, tail)))
}

/// A required criterion whose judge is an agent that worked on the task: its pass is only that agent's own claim.
fn judged_by_worker<'a>(state: &'a LoopState, checked: &[&'a PinnedCriterion]) -> Option<&'a str> {
    let judge = state.spec.judge.as_ref()?;
    let has_worked = state.history.has_agent(&judge.name);
    let judged = checked.iter().find(|it| jury::quorum(&it.criterion).is_some());
    judged.filter(|_| has_worked).map(|it| it.criterion.name.as_str())
}

/// The required criteria, with and without a check.
fn split_by_check(state: &LoopState) -> (Vec<&PinnedCriterion>, Vec<&PinnedCriterion>) {
    state.required().partition(|it| it.criterion.check.is_some())
}

fn passes(state: &LoopState, pinned: &PinnedCriterion) -> bool {
    state.status_of(&pinned.criterion.id) == Some(Status::Pass)
}

/// A goal has turned, and a whole further iteration with everything passing changed nothing: the open plan items are
/// stale bookkeeping.
fn is_settled(state: &LoopState, last: &Iteration) -> bool {
    let whole_iteration = state.criteria.passing_since.is_some_and(|since| since < last.number);
    state.criteria.turned
        && whole_iteration
        && !last.changes.has_progress()
        && !last.rolled_back
        && !last.is_provider_failure()
}

fn open_item_names(state: &LoopState) -> Vec<&str> {
    let open: Vec<&str> = state.open_items().map(|it| it.title.as_str()).collect();
    if open.is_empty() { claim_evidence::deleted_open_items(&state.plan, &state.spec.plan) } else { open }
}

/// An explicit claim, not only an empty plan.
fn is_said_to_be_done(last: &Iteration) -> bool {
    matches!(last.claim, Some(Claim::Promise | Claim::ExitSignal | Claim::Words)) && !last.rolled_back
}

fn open_clause(state: &LoopState, open: &[&str]) -> Option<String> {
    if open.is_empty() {
        return None;
    }
    let items = list_within(open, 3);
    Some(if state.open_items().next().is_none() {
        tr!("removed from the plan while open: {items}", items)
    } else {
        tr!("still open in the plan: {items}", items)
    })
}

/// The progress of a loop that ends before it is done; `None` without checks.
pub(super) fn progress_clause(state: &LoopState) -> Option<String> {
    let (checked, _) = split_by_check(state);
    let passing = checked.iter().filter(|it| passes(state, it)).count();
    let fact = match (passing, checked.len()) {
        (_, 0) => return None,
        (1, 1) => tr!("the one required criterion passes").to_owned(),
        (0, 1) => tr!("the one required criterion does not pass").to_owned(),
        (passing, total) => tr!("{passing} of {total} required criteria pass", passing, total),
    };
    let is_unstable = |it: &&&PinnedCriterion| state.status_of(&it.criterion.id) == Some(Status::Unstable);
    let unstable = checked.iter().filter(is_unstable).count();
    // Only the results of the last verdict, which the next round replaces.
    let passes_here = |it: &PinnedCriterion| {
        let verdict = state.weakening.verdict.as_ref().and_then(|it| it.failed_after);
        verdict == Some(state.iteration) || state.status_of(&it.criterion.id) == Some(Status::Pass)
    };
    let is_refuted =
        |it: &&&PinnedCriterion| !passes(state, it) && state.is_refuted(&it.criterion) && passes_here(it);
    let refuted = checked.iter().filter(is_refuted).count();
    Some(match (unstable, refuted, checked.len()) {
        (0, 0, _) => fact,
        (0, _, 1) => tr!("the one required criterion passes here and fails in a clean room").to_owned(),
        (0, 1, _) => tr!("{fact}, 1 passes here and fails in a clean room", fact),
        (0, n, _) => tr!("{fact}, {n} pass here and fail in a clean room", fact, n),
        (_, _, 1) => tr!("{fact}: files change while it is checked", fact),
        (n, ..) => tr!("{fact}, {n} unstable: files change while they are checked", fact, n),
    })
}

fn all_criteria_pass(n: usize) -> String {
    match n {
        1 => tr!("the one required criterion passes").to_owned(),
        n => tr!("all {n} required criteria pass", n),
    }
}

fn no_criteria_checked(n: usize) -> String {
    match n {
        1 => tr!("the one required criterion has no check").to_owned(),
        n => tr!("all {n} required criteria have no check", n),
    }
}

fn after_iterations(fact: &str, iterations: &str) -> String {
    tr!("{fact} after {iterations}", fact, iterations)
}

fn verified_sentence(fact: &str) -> String {
    tr!("completed, verified: {fact}", fact)
}

fn unverified_sentence(fact: &str) -> String {
    tr!("completed, not verified: {fact}", fact)
}

fn claimed_sentence(fact: &str) -> String {
    tr!("completed, claimed, not verified: {fact}", fact)
}

/// The sentence of a verified completion, for one that turned out to be only claimed.
pub(super) fn without_verification(verified: &str) -> String {
    verified.strip_prefix(&verified_sentence("")).map_or_else(|| verified.to_owned(), claimed_sentence)
}

fn verified_outcome(sentence: impl Into<Message>) -> Outcome {
    Outcome { kind: OutcomeKind::Completed, verified: true, sentence: sentence.into(), cause: None }
}

fn claimed_outcome(sentence: impl Into<Message>) -> Outcome {
    Outcome { kind: OutcomeKind::Completed, verified: false, sentence: sentence.into(), cause: None }
}

/// Stopped by the rules of `[exit]`, although the task is neither proven nor claimed to be done.
fn stopped_outcome(sentence: impl Into<Message>) -> Outcome {
    Outcome { kind: OutcomeKind::Stopped, verified: false, sentence: sentence.into(), cause: None }
}

#[cfg(test)]
mod tests {
    use super::{verified_sentence, without_verification};
    use loopkeeper_text::language::Language;

    #[test]
    fn a_verified_completion_becomes_a_claimed_one() {
        let claimed = || without_verification(&verified_sentence("x; not verified"));
        assert_eq!(claimed(), "completed, claimed, not verified: x; not verified");
        let chinese = Language::SimplifiedChinese.during(claimed);
        assert_eq!(chinese, "声称完成，未验证：x; not verified");
        assert_eq!(without_verification("stopped"), "stopped");
    }
}
