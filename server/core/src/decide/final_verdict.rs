//! The final verdict: before a loop completes as verified, its checks run again in a clean room, on the final tree as
//! the agent left it and, where judges changed, with the judges of the start. A pass that needs the changed judges does
//! not count. Without a clean room the round in the work tree decides, and the outcome reports it.

mod basis;
mod clean_room_goals;
mod unrecorded_inputs;
mod weakened_judges;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{CheckResult, Status};
use crate::journal::{CleanRoomCopy, Outcome, OutcomeKind, OutsideFiles, PinnedCriterion, Record, Round};
use crate::loop_state::{LoopState, StopMode, TreeVerdict, VolatileState, runs_in_clean_room};
use crate::settings::SandboxMode;
use crate::tamper::judge_files::{ChangedJudge, JudgeChange};
use loopkeeper_task::criterion::{Check, CriterionId};
use loopkeeper_text::clauses::{append_clause, append_clauses, join_clauses, list};
use loopkeeper_text::tr;
use loopkeeper_text::words::counted;

pub use self::clean_room_goals::{CleanRoomGoals, judged_in_room};
pub use self::unrecorded_inputs::UnrecordedInputs;

use self::basis::{describe_basis, describe_copy, describe_order, describe_unrecorded};
use self::weakened_judges::{patched_files, weakened_by};
use super::next_step::NextStep;
use super::{Decision, Effect, exit, mutants, weakening};

/// Maximum number of judges in one record.
const MAX_JUDGES: usize = 200;
/// Maximum number of programs of checks in one record.
const MAX_PROGRAMS: usize = 20;
/// Maximum number of linked files and folders in one record.
const MAX_LINKED: usize = 20;
/// Maximum number of judges that are named for one criterion that fails with the judges of the start.
const MAX_NAMED: usize = 5;

/// The rounds and findings of the keeper in the clean room.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictRounds {
    /// The final tree as the agent left it.
    pub final_round: Round,
    /// With the judges of the start; `None` where no judge changed.
    pub pinned: Option<Round>,
    pub judges: Vec<ChangedJudge>,
    pub unrecorded: UnrecordedInputs,
    /// The copy in which the rounds ran, if no overlay was available.
    pub copied: Option<CleanRoomCopy>,
    pub order: TestOrder,
}

/// The order of tests in the first round of a clean room.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestOrder {
    /// Variables that changed it, as `name=value`.
    pub seeds: Vec<String>,
    /// Names of criteria that fail in this order, and pass without the variables.
    pub dependent: Vec<String>,
}

/// The answer to [`Effect::JudgeFinalTree`].
#[derive(Debug, Clone, PartialEq)]
pub enum VerdictReply {
    Judged(Box<VerdictRounds>),
    /// Files changed while the checks ran.
    Disturbed,
    Unavailable {
        why: String,
    },
}

/// The outcome of a task that is done, unless the final verdict or a weakened file contradicts it.
pub(super) fn unless_contradicted(state: &LoopState, outcome: Outcome) -> Option<Outcome> {
    Some(outcome).filter(|it| can_be_requested(state, it) || permits_completion(state, it))
}

/// Whether a final verdict on this outcome does not exist yet and can still be requested.
fn can_be_requested(state: &LoopState, outcome: &Outcome) -> bool {
    is_pending(state, outcome) && state.stop != Some(StopMode::Now)
}

fn is_pending(state: &LoopState, outcome: &Outcome) -> bool {
    needs_verdict(state, outcome) && current(state).is_none()
}

/// Whether the loop may complete with this outcome.
fn permits_completion(state: &LoopState, outcome: &Outcome) -> bool {
    if outcome.kind == OutcomeKind::Stopped {
        // `exit.when` stops a loop whether or not its work holds.
        return true;
    }
    if weakening::has_unresolved(state) || (outcome.verified && mutants::has_blocking_survivors(state)) {
        return false;
    }
    !needs_verdict(state, outcome) || current(state).is_some_and(|it| it.holds)
}

/// If nothing was done or nothing can run, there is nothing to confirm; without a sandbox there is no clean room.
fn needs_verdict(state: &LoopState, outcome: &Outcome) -> bool {
    let runs = || state.criteria.pinned.iter().any(|it| runs_in_clean_room(&it.criterion));
    outcome.verified && state.iteration > 0 && state.spec.settings.sandbox != SandboxMode::Off && runs()
}

fn current(state: &LoopState) -> Option<&TreeVerdict> {
    let verdict = state.weakening.verdict.as_ref().filter(|it| it.tree == state.tree.judged);
    verdict.filter(|it| it.failed_after.is_none_or(|failed| failed == state.iteration))
}

/// Requests the verdict, if the outcome needs one.
pub(super) fn request(state: &LoopState, live: &VolatileState, outcome: &Outcome) -> Option<NextStep> {
    if !is_pending(state, outcome) {
        return None;
    }
    if live.work.is_checking() {
        return Some(NextStep::nothing());
    }
    let criteria = state.pinned_criteria();
    Some(NextStep::checks(Effect::JudgeFinalTree { criteria }))
}

/// The criteria that passed in a clean room on the final tree, with their milliseconds, where that verified it.
pub(super) fn passed_in_room<'a>(
    state: &'a LoopState,
    outcome: &Outcome,
) -> Option<&'a BTreeMap<CriterionId, u64>> {
    let verdict = current(state).filter(|it| it.holds && !it.unproven && needs_verdict(state, outcome));
    verdict.map(|it| &it.passed)
}

/// The outcome with the basis of its proof.
pub(super) fn with_basis(state: &LoopState, mut outcome: Outcome) -> Outcome {
    let verdict = current(state).filter(|_| needs_verdict(state, &outcome));
    if outcome.kind == OutcomeKind::Completed {
        outcome.sentence = outcome.sentence.map_fact(|it| append_clauses(it, describe_accepted(state)));
    }
    let basis = verdict.map(|it| it.basis.clone()).filter(|it| !it.is_empty());
    let mut is_claimed = verdict.is_some_and(|it| it.unproven);
    let unmet = mutants::unmet_requirement(state).filter(|_| outcome.verified && !is_claimed);
    is_claimed |= unmet.is_some();
    for part in basis.into_iter().chain(unmet) {
        outcome.sentence = outcome.sentence.map_fact(|it| append_clause(&it, &part));
    }
    if is_claimed {
        outcome.verified = false;
        outcome.sentence = outcome.sentence.map_fact(|it| exit::without_verification(&it));
    }
    outcome
}

/// `you accepted tests/a.py`
fn describe_accepted(state: &LoopState) -> Option<String> {
    let all = &state.weakening.accepted;
    let named: Vec<&str> = all.iter().take(MAX_NAMED).map(String::as_str).collect();
    let files = list(&named);
    match all.len() - named.len() {
        _ if named.is_empty() => None,
        0 => Some(tr!("you accepted {files}", files)),
        more => {
            let others = counted(more as u64, "other file");
            Some(tr!("you accepted {files} and {others}", files, others))
        }
    }
}

pub(super) fn handle_reply(
    state: &LoopState,
    live: &mut VolatileState,
    reply: VerdictReply,
) -> Vec<Decision> {
    if !live.work.end_checks() || !state.is_between_iterations() {
        return Vec::new();
    }
    let record = match reply {
        VerdictReply::Disturbed => {
            if let Some(step) = NextStep::disturbed_round(state, live) {
                return step.take(live);
            }
            let why = tr!("files changed each time while the checks ran").to_owned();
            unavailable_record(state, ClaimOnly::Yes, why)
        }
        VerdictReply::Unavailable { why } => unavailable_record(state, ClaimOnly::No, why),
        VerdictReply::Judged(rounds) => verdict_record(state, *rounds),
    };
    Decision::record_and_continue(record)
}

/// Whether the outcome of a verdict without a clean room is only claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimOnly {
    No,
    Yes,
}

fn unavailable_record(state: &LoopState, unproven: ClaimOnly, why: String) -> Record {
    Record::FinalVerdict {
        iteration: state.iteration,
        tree: state.tree.judged.clone(),
        final_round: None,
        pinned: None,
        judges: Vec::new(),
        judge_count: 0,
        weakened: state.weakening.weakened.clone(),
        basis: tr!("judged in the work tree, without a clean room: {why}", why),
        unproven: unproven == ClaimOnly::Yes,
        programs: Vec::new(),
        copied: None,
        seeds: Vec::new(),
        outside: None,
        unavailable: Some(why),
    }
}

fn verdict_record(state: &LoopState, rounds: VerdictRounds) -> Record {
    let VerdictRounds { mut final_round, mut pinned, judges, unrecorded, copied, order } = rounds;
    state.criteria.judge_numbers(&state.criteria.pinned, &mut final_round);
    // Not the numbers of all criteria: coverage rises with the tests that the loop added.
    if let Some(pinned) = &mut pinned {
        state.criteria.judge_numbers(&measured_by_changed_script(state, &judges), pinned);
    }
    let mut weakened = weakened_by(state, pinned.as_ref(), &judges);
    weakened.extend(patched_files(state, &unrecorded));
    weakened.sort_by(|a, b| a.path.cmp(&b.path));
    let basis = [
        describe_basis(state, pinned.as_ref(), &judges).into_iter().collect(),
        describe_unrecorded(&unrecorded),
        describe_order(&order),
        copied.as_ref().map(describe_copy).into_iter().collect(),
    ];
    let basis = join_clauses(basis.into_iter().flatten());
    let moved = judges.iter().filter(|it| !it.is_new).all(|it| it.change == JudgeChange::OnlyImports);
    let cannot_run = !moved && cannot_run_old(state, pinned.as_ref(), &judges);
    let unproven = weakened.is_empty() && (cannot_run || unrecorded.is_open());
    let judge_count = judges.len() as u64;
    let judges = judges.into_iter().take(MAX_JUDGES).map(|it| it.path).collect();
    Record::FinalVerdict {
        iteration: state.iteration,
        tree: state.tree.judged.clone(),
        final_round: Some(Box::new(final_round)),
        pinned: pinned.map(Box::new),
        judges,
        judge_count,
        weakened,
        basis,
        unproven,
        programs: unrecorded.ran.into_iter().take(MAX_PROGRAMS).collect(),
        copied: copied.map(|mut it| {
            it.linked.truncate(MAX_LINKED);
            Box::new(it)
        }),
        seeds: order.seeds,
        outside: Some(Box::new(unrecorded.outside)).filter(|it| **it != OutsideFiles::default()),
        unavailable: None,
    }
}

/// The criteria whose command names a changed judge: the script that measures.
fn measured_by_changed_script(state: &LoopState, judges: &[ChangedJudge]) -> Vec<PinnedCriterion> {
    let names_one = |it: &&PinnedCriterion| match &it.criterion.check {
        Some(Check::Command { command, .. }) => judges.iter().any(|judge| command.contains(&judge.path)),
        _ => false,
    };
    state.criteria.pinned.iter().filter(names_one).cloned().collect()
}

/// A check fails with changed judges of the start, and that is no evidence about the work.
fn cannot_run_old(state: &LoopState, pinned: Option<&Round>, judges: &[ChangedJudge]) -> bool {
    pinned.is_some_and(|it| !all_required_pass(state, it)) && !judges.iter().all(|it| it.is_new)
}

fn all_required_pass(state: &LoopState, round: &Round) -> bool {
    let mut results = state.required().filter_map(|it| round.result(&it.criterion.id));
    results.all(|it| it.status == Status::Pass)
}

fn ran_tests_at_start(state: &LoopState, id: &CriterionId) -> bool {
    state.weakening.tests.get(id).is_some_and(|it| *it > 0)
}

/// The criteria changed: the last verdict and its mutants were judged by others.
pub(super) fn discard(state: &mut LoopState) {
    state.weakening.verdict = None;
    state.weakening.mutants = None;
    state.weakening.fewest_survivors = None;
}

pub(super) fn apply_verdict(state: &mut LoopState, record: &Record) {
    let Record::FinalVerdict { tree, final_round, weakened, basis, unproven, .. } = record else {
        return;
    };
    let passed = final_round.iter().flat_map(|it| &it.results).filter(|it| it.status == Status::Pass);
    let failed: Vec<&CheckResult> = final_round
        .iter()
        .flat_map(|it| &it.results)
        .filter(|it| !matches!(it.status, Status::Pass | Status::Unverified))
        .collect();
    for result in &failed {
        let fact = tr!("{fact} in a clean room", fact = result.fact);
        let result = CheckResult { fact, fingerprint: None, ..(*result).clone() };
        state.criteria.results.insert(result.criterion.clone(), result);
    }
    let required: BTreeSet<_> = state.required().map(|it| it.criterion.id.clone()).collect();
    let fails = failed.iter().any(|it| required.contains(&it.criterion));
    if fails {
        state.criteria.passing_since = None;
        state.criteria.flaky.passes = 0;
    }
    state.weakening.weakened.clone_from(weakened);
    state.weakening.verdict = Some(TreeVerdict {
        tree: tree.clone(),
        holds: !fails && !weakened.iter().any(|it| it.by_verdict),
        basis: basis.clone(),
        unproven: *unproven,
        failed_after: fails.then_some(state.iteration),
        passed: passed.map(|it| (it.criterion.clone(), it.duration_ms)).collect(),
    });
}
