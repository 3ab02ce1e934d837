//! Rounds of checks: their effect on the baseline, on criteria that the user changed, and on the previous iteration. A
//! round on a tree that changes during it proves nothing.

use crate::check::Status;
use crate::journal::{ChangeStats, Claim, PinnedCriterion, Record, Role, Round};
use crate::jury::JudgeUsage;
use crate::loop_state::{ChangedTask, Iteration, LoopState, Phase, TaskDocuments, VolatileState};
use loopkeeper_agent::claims::Claims;
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::clauses::append_clauses;
use loopkeeper_text::tr;

use super::endings::end_by_user;
use super::{
    Decision, Effect, branch_tracking, criteria_changes, drift, limits, milestones, progress, prompt_input,
    regression, removed_document, weakening,
};

/// A round on a moving tree is repeated this often before it counts as unstable.
const MAX_REPEATS: u32 = 2;

pub(super) struct RoundResult {
    pub(super) round: Box<Round>,
    pub(super) wrote: Vec<String>,
    pub(super) untracked: Vec<String>,
    pub(super) strays: Vec<String>,
}

pub(super) fn checks_done(
    state: &LoopState,
    live: &mut VolatileState,
    mut judged: RoundResult,
) -> Vec<Decision> {
    let before = std::mem::take(&mut live.discarded.judging);
    let asked = judged.round.judging.get_or_insert_default();
    asked.add(before);
    if *asked == JudgeUsage::default() {
        judged.round.judging = None;
    }
    let pinned = live.work.pinning().unwrap_or(&state.criteria.pinned);
    state.criteria.judge_numbers(pinned, &mut judged.round);
    if live.work.end_checks() && state.is_between_iterations() {
        mark_unstable_if_disturbed(state, &mut judged.round, &judged.wrote);
        let round = judged.round;
        return Decision::record_and_continue(Record::ChecksDone { iteration: None, round });
    }
    match state.phase {
        Phase::Baseline => baseline_done(state, judged),
        Phase::Preparing { .. } => record_changed_task(state, live, judged),
        Phase::Checking if is_worth_repeating(state, live, &judged) => {
            live.discarded.count += 1;
            live.discarded.judging.add(judged.round.judging.unwrap_or_default());
            vec![Decision::Effect(Effect::RunChecks {
                criteria: state.pinned_criteria(),
                repeats: live.discarded.count,
            })]
        }
        Phase::Checking => iteration_over(state, live, Some(judged)),
        // The round belongs to work that was given up.
        Phase::Starting | Phase::Boundary { .. } | Phase::Iterating(_) | Phase::Closing | Phase::Ended(_) => {
            Vec::new()
        }
    }
}

fn baseline_done(state: &LoopState, judged: RoundResult) -> Vec<Decision> {
    let record = Record::Baseline {
        iteration: 0,
        criteria: with_roles(state.criteria.pinned.clone(), &judged.round),
        plan: state.plan.clone(),
        artefacts: judged.wrote,
        round: Some(judged.round),
        untracked: if needs_untracked(&state.spec.criteria) { judged.untracked } else { Vec::new() },
        seen: state.spec.criteria.clone(),
    };
    Decision::record_and_continue(record)
}

fn record_changed_task(state: &LoopState, live: &mut VolatileState, judged: RoundResult) -> Vec<Decision> {
    let Some(changed) = live.work.end_pinning() else { return Vec::new() };
    let ChangedTask { pinned, documents } = *changed;
    let RoundResult { mut round, wrote, .. } = judged;
    mark_unstable_if_disturbed(state, &mut round, &wrote);
    let record = Record::Baseline {
        iteration: state.iteration,
        criteria: with_roles(pinned, &round),
        plan: documents.plan,
        artefacts: Vec::new(),
        round: Some(round),
        untracked: Vec::new(),
        seen: documents.criteria,
    };
    Decision::record_and_continue(record)
}

/// Goal or guard: the first result of a criterion decides its role for the rest of the loop.
fn with_roles(mut pinned: Vec<PinnedCriterion>, round: &Round) -> Vec<PinnedCriterion> {
    for it in pinned.iter_mut().filter(|it| it.role == Role::Open) {
        let result = round.result(&it.criterion.id);
        if result.is_some_and(|found| found.missing_on_machine().is_some()) {
            continue;
        }
        match result.map(|found| found.status) {
            Some(Status::Pass) => it.role = Role::Guard,
            Some(Status::Unverified) | None => {}
            Some(_) => it.role = Role::Goal,
        }
    }
    pinned
}

/// The end of an iteration, with or without a round of checks.
pub(super) fn iteration_over(
    state: &LoopState,
    live: &mut VolatileState,
    judged: Option<RoundResult>,
) -> Vec<Decision> {
    let wrote = judged.as_ref().map(|it| it.wrote.clone()).unwrap_or_default();
    let mut work = progress::work_of_iteration(state, live, &wrote);
    work.changes.strays = judged.as_ref().map(|it| first_strays(&it.strays)).unwrap_or_default();
    let documents = live.after_agent.documents.take().unwrap_or_default();
    let round = judged.map(|mut it| {
        mark_unstable_if_disturbed(state, &mut it.round, &it.wrote);
        it.round
    });
    let drift = drift::share_of_iteration(state, &work.paths, &documents);
    let claims = last_claims(state);
    let claim = strongest_claim(state, &claims, &documents);
    let test_only = is_test_only(state, &claims, &work.changes);
    let contradiction = claims.contradiction().filter(|_| claims.exit_signal != Some(false));
    let claim_summary = prompt_input::ClaimSummary { claim, contradiction, test_only };
    let near = limits::newly_near(state);
    let weakened = weakening::weakenings_after(state, live, round.as_deref());
    let commits = live.after_agent.snapshot.commits.clone();
    let notes = weakening::summary_clause(&weakened)
        .into_iter()
        .chain(regression::kept_regression_note(state, round.as_deref()))
        .chain(prompt_input::limits_near_note(&near))
        .chain(prompt_input::commit_unasked(state, &work.changes, &commits))
        .chain(removed_document::removal_clause(state, &work.paths, &documents))
        .chain(branch_tracking::summary_clause(state));
    let sentence = prompt_input::iteration_sentence(state, &work.changes, round.as_deref(), &claim_summary);
    let sentence = append_clauses(sentence, notes);
    let done =
        milestones::IterationWork { changes: &work.changes, weakened: &weakened, plan: &documents.plan };
    let milestones = milestones::name_milestones(state, round.as_deref(), &done);
    let seen = criteria_changes::without_saved(state, &documents, &std::mem::take(&mut live.saved));
    let changed_documents =
        !state.criteria.seen.as_ref().is_some_and(|it| criteria_changes::same_criteria(it, &seen));
    let checks_done = round.map(|round| Record::ChecksDone { iteration: Some(state.iteration), round });
    let iteration_ended = Record::IterationEnded {
        iteration: state.iteration,
        changes: Box::new(work.changes),
        proposed: criteria_changes::agent_proposals(state, &seen),
        claim,
        claims: (claims != Claims::default()).then(|| Box::new(claims)),
        test_only,
        matching: documents.matching,
        seen: changed_documents.then_some(seen),
        plan: documents.plan,
        edited_artefacts: work.edited_artefacts,
        error: state.last_iteration().and_then(|it| it.error.clone()),
        weakened,
        sentence,
        milestones,
        commits,
        near: near.into_iter().map(|(name, _)| name).collect(),
        drift: drift.map(Box::new),
    };
    let records = checks_done.into_iter().chain([iteration_ended]).map(Decision::Record);
    records.chain([Decision::Effect(Effect::Continue)]).collect()
}

fn first_strays(strays: &[String]) -> Vec<String> {
    const MAX: usize = 20;
    strays.iter().take(MAX).cloned().collect()
}

/// The claims in the last message of the iteration. A failed agent claims nothing.
fn last_claims(state: &LoopState) -> Claims {
    let Some(row) = state.last_iteration().filter(|it| !it.is_provider_failure()) else {
        return Claims::default();
    };
    loopkeeper_agent::claims::read(&row.final_text, &state.spec.promise, &state.spec.settings.exit.words)
}

/// The strongest of the claims, unless the agent itself reports that it is not done.
fn strongest_claim(state: &LoopState, claims: &Claims, documents: &TaskDocuments) -> Option<Claim> {
    let provider_failed = state.last_iteration().is_none_or(Iteration::is_provider_failure);
    if provider_failed || claims.exit_signal == Some(false) {
        return None;
    }
    let denies = claims.denies_completion();
    if claims.promise && !denies {
        return Some(Claim::Promise);
    }
    if claims.exit_signal == Some(true) && !denies {
        return Some(Claim::ExitSignal);
    }
    if super::exit::is_worked_off(&documents.plan, &state.spec.plan) || boxes_ticked(state, documents) {
        return Some(Claim::Plan);
    }
    let enough = state.spec.settings.exit.completion_indicators as usize;
    (claims.indicator_count() >= enough).then_some(Claim::Words)
}

/// The box of every required criterion without a check is ticked, and one of them was not at the start.
fn boxes_ticked(state: &LoopState, documents: &TaskDocuments) -> bool {
    let unchecked = || state.required().filter(|it| it.criterion.check.is_none());
    let is_ticked = |it: &PinnedCriterion| {
        let now = documents.criteria.iter().find(|now| now.id == it.criterion.id);
        now.is_some_and(|now| now.ticked == Some(true))
    };
    unchecked().any(|it| it.criterion.ticked != Some(true)) && unchecked().all(is_ticked)
}

fn is_test_only(state: &LoopState, claims: &Claims, changes: &ChangeStats) -> bool {
    let Some(row) = state.last_iteration().filter(|it| !it.is_provider_failure()) else {
        return false;
    };
    let named_all = changes.count == changes.files.len() as u64;
    let work = claims.status.as_ref().and_then(|it| it.work_type.as_ref());
    named_all
        && !changes.committed
        && loopkeeper_agent::claims::is_test_only(&changes.files, &row.commands, work)
}

/// A judge that changed files would do so again, so repeating is pointless.
fn is_worth_repeating(state: &LoopState, live: &VolatileState, judged: &RoundResult) -> bool {
    let by_judge = judged.round.results.iter().any(|it| it.status == Status::Unstable);
    is_disturbed(state, &judged.wrote) && !by_judge && live.discarded.count < MAX_REPEATS
}

fn is_disturbed(state: &LoopState, wrote: &[String]) -> bool {
    !progress::unexpected_writes(state, wrote).is_empty()
}

/// A pass proves nothing if the tree changed during the round.
pub fn mark_unstable(round: &mut Round, moved: &str) {
    for result in round.results.iter_mut().filter(|it| it.status == Status::Pass) {
        result.status = Status::Unstable;
        result.fact = tr!(
            "passed, but {moved} changed while the checks ran: have git ignore it if a check writes it",
            moved
        );
    }
}

fn mark_unstable_if_disturbed(state: &LoopState, round: &mut Round, wrote: &[String]) {
    if let Some(first) = progress::unexpected_writes(state, wrote).first() {
        mark_unstable(round, first);
    }
}

pub(super) fn checks_cancelled(state: &LoopState, live: &mut VolatileState) -> Vec<Decision> {
    if state.outcome().is_some() {
        // The round ended before it could be cancelled, and the stop was handled at the boundary.
        return Vec::new();
    }
    if live.work.end_checks() || live.work.rollback().is_some() || state.stop.is_none() {
        return vec![Decision::Effect(Effect::Continue)];
    }
    end_by_user(state)
}

/// The agent failed and did not change the tree since the last round: the checks would return the same results.
pub(super) fn would_repeat_results(state: &LoopState, live: &VolatileState) -> bool {
    let failed = state.last_iteration().is_some_and(|it| it.error.is_some());
    failed && live.after_agent.snapshot.tree == state.tree.judged
}

fn needs_untracked(criteria: &[Criterion]) -> bool {
    criteria.iter().any(|it| matches!(it.check, Some(Check::Clean)))
}
