//! Mutants: after a positive final verdict, and before the loop completes, the checks run on small faults in the lines
//! that the loop changed. A fault that no check notices is recorded. Without a clean room nothing is tried.

use std::collections::BTreeMap;

use crate::check::Status;
use crate::journal::{HollowTest, PinnedCriterion, Record, SurvivingMutant};
use crate::loop_state::{FewestSurvivors, LoopState, MutantRun, VolatileState};
use crate::settings::MutantPolicy;
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::next_step::NextStep;
use super::{Decision, Effect};

/// Maximum number of mutants in one run.
const MAX_MUTANTS: usize = 30;
/// Maximum number of survivors in one record.
const MAX_SURVIVORS: usize = 20;
/// Maximum number of hollow tests in one record.
const MAX_HOLLOW: usize = 20;
/// With `tell`, a longer round of the checks is not repeated.
const MAX_ROUND_MS: u64 = 3_000;
/// Duration of a run, in rounds of the checks.
const RUN_ROUNDS: u64 = 10;
const MIN_RUN_MS: u64 = 10_000;
const MAX_RUN_MS: u64 = 60_000;
/// The same with `require`.
const MAX_REQUIRED_RUN_MS: u64 = 600_000;
/// With `require`, the number of iterations without fewer survivors after which the loop ends as claimed.
const MAX_STALLED: usize = 2;

/// The run that is requested from the keeper.
#[derive(Debug, Clone, PartialEq)]
pub struct MutantPlan {
    /// Commands that passed on the final tree.
    pub criteria: Vec<Criterion>,
    pub max: usize,
    pub budget_ms: u64,
}

/// The answer to [`Effect::TestMutants`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutantReply {
    Tested(MutantCounts),
    /// Files changed in the meantime.
    Disturbed,
    Skipped {
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MutantCounts {
    pub tried: u64,
    pub noticed: u64,
    /// Fit to be stored.
    pub survivors: Vec<SurvivingMutant>,
    pub hollow: Vec<HollowTest>,
}

/// Requests mutants of the final tree, if none were tried yet. `passed`: the criteria that passed in a clean room
/// on it, with their milliseconds.
pub(super) fn request(
    state: &LoopState,
    live: &VolatileState,
    passed: &BTreeMap<CriterionId, u64>,
) -> Option<NextStep> {
    let policy = state.spec.settings.mutants;
    let is_done = current(state).is_some();
    if policy == MutantPolicy::Off || is_done || state.stop.is_some() {
        return None;
    }
    let pinned = |it: &&PinnedCriterion| {
        matches!(it.criterion.check, Some(Check::Command { .. })) && passed.contains_key(&it.criterion.id)
    };
    let criteria: Vec<Criterion> =
        state.criteria.pinned.iter().filter(pinned).map(|it| it.criterion.clone()).collect();
    let round_ms: u64 = criteria.iter().filter_map(|it| passed.get(&it.id)).sum();
    if criteria.is_empty() {
        return None;
    }
    if policy == MutantPolicy::Tell && round_ms > MAX_ROUND_MS {
        let why = tr!("one round of the checks takes {duration}", duration = words::duration(round_ms));
        return Some(Decision::record_and_continue(skipped_record(state, why)).into());
    }
    if live.work.is_checking() {
        return Some(NextStep::nothing());
    }
    let longest = if policy == MutantPolicy::Require { MAX_REQUIRED_RUN_MS } else { MAX_RUN_MS };
    let budget_ms = round_ms.saturating_mul(RUN_ROUNDS).clamp(MIN_RUN_MS, longest);
    Some(NextStep::checks(Effect::TestMutants(MutantPlan { criteria, max: MAX_MUTANTS, budget_ms })))
}

/// The run on the current tree.
pub fn current(state: &LoopState) -> Option<&MutantRun> {
    state.weakening.mutants.as_ref().filter(|it| it.tree == state.tree.judged)
}

pub(super) fn handle_reply(state: &LoopState, live: &mut VolatileState, reply: MutantReply) -> Vec<Decision> {
    if !live.work.end_checks() || !state.is_between_iterations() {
        return Vec::new();
    }
    let record = match reply {
        MutantReply::Disturbed => {
            if let Some(step) = NextStep::disturbed_round(state, live) {
                return step.take(live);
            }
            skipped_record(state, tr!("files changed each time while the checks ran").to_owned())
        }
        MutantReply::Skipped { why } => skipped_record(state, why),
        MutantReply::Tested(MutantCounts { tried, noticed, mut survivors, mut hollow }) => {
            survivors.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
            survivors.truncate(MAX_SURVIVORS);
            hollow.truncate(MAX_HOLLOW);
            let (iteration, tree) = (state.iteration, state.tree.judged.clone());
            Record::Mutants { iteration, tree, tried, noticed, survivors, hollow, skipped: None }
        }
    };
    Decision::record_and_continue(record)
}

fn skipped_record(state: &LoopState, why: String) -> Record {
    Record::Mutants {
        iteration: state.iteration,
        tree: state.tree.judged.clone(),
        tried: 0,
        noticed: 0,
        survivors: Vec::new(),
        hollow: Vec::new(),
        skipped: Some(why),
    }
}

pub(super) fn apply_mutants(state: &mut LoopState, record: &Record) {
    let run = MutantRun::of_record(record);
    if let Some(run) = run.as_ref().filter(|it| it.tried > 0) {
        let fewest = state.weakening.fewest_survivors.map(|it| it.count);
        if fewest.is_none_or(|it| run.survived() < it) {
            let best = FewestSurvivors { count: run.survived(), iteration: state.iteration };
            state.weakening.fewest_survivors = Some(best);
        }
    }
    state.weakening.mutants = run;
}

/// Whether the loop must not complete because of survivors.
pub(super) fn has_blocking_survivors(state: &LoopState) -> bool {
    let has_survivors = current(state).is_some_and(|it| it.survived() > 0);
    is_required(state) && has_survivors && stalled_iterations(state) < MAX_STALLED
}

/// Iterations since the one that left the fewest survivors.
fn stalled_iterations(state: &LoopState) -> usize {
    let since = state.weakening.fewest_survivors.map_or(state.iteration, |it| it.iteration);
    let later = state.history.outlines().rev().take_while(|it| it.figures.number > since);
    later.filter(|it| !it.figures.is_provider_failure).count()
}

fn is_required(state: &LoopState) -> bool {
    state.spec.settings.mutants == MutantPolicy::Require
}

/// The survivors that the next iteration has to kill, as sentences.
pub(super) fn required_survivors(state: &LoopState) -> Vec<String> {
    let run = state.weakening.mutants.as_ref().filter(|_| is_required(state));
    run.map(|it| it.survivors.iter().map(SurvivingMutant::sentence).collect()).unwrap_or_default()
}

/// The survivors that kept the loop from completing, for the sentence of a loop that reaches a limit. Those of an earlier
/// tree are left out: their lines may be gone.
pub(super) fn survivors_clause(state: &LoopState) -> Option<String> {
    current(state).filter(|_| is_required(state)).and_then(MutantRun::describe_survivors)
}

/// Why the outcome is not verified although every check passes, where mutants are required.
pub(super) fn unmet_requirement(state: &LoopState) -> Option<String> {
    let is_command = |it: &PinnedCriterion| matches!(it.criterion.check, Some(Check::Command { .. }));
    if !is_required(state) || state.iteration == 0 || !state.required().any(is_command) {
        return None;
    }
    let Some(run) = current(state) else {
        return Some(tr!("criteria.mutants requires mutants, and none were tried").to_owned());
    };
    let not_tried = || run.skipped.as_ref().map(|why| tr!("no mutants were tried: {why}", why));
    run.describe_survivors().or_else(not_tried)
}

/// The timeout of a check on a mutant: a fault that makes it hang is noticed.
pub fn mutant_timeout_ms(unmutated_ms: u64, timeout_ms: u64) -> u64 {
    const TIMEOUT_FACTOR: u64 = 3;
    const MIN_TIMEOUT_MS: u64 = 1_000;
    unmutated_ms.saturating_mul(TIMEOUT_FACTOR).max(MIN_TIMEOUT_MS).min(timeout_ms)
}

/// Whether a check that passes without the fault noticed it.
pub fn is_noticed(status: Status) -> bool {
    status != Status::Pass
}

impl SurvivingMutant {
    /// "calc.py:3: no check notices `return a - b`"
    pub fn sentence(&self) -> String {
        let Self { path, line, before, after } = self;
        if self.is_removal() {
            return tr!("{path}:{line}: no check notices that `{before}` is removed", path, line, before);
        }
        tr!("{path}:{line}: no check notices `{after}` in place of `{before}`", path, line, after, before)
    }

    pub fn is_removal(&self) -> bool {
        matches!(self.after.as_str(), "" | ";" | "pass" | ":")
    }
}

impl HollowTest {
    /// "tests/test_calc.py:7: no fault makes test_runs fail"
    pub fn sentence(&self) -> String {
        let Self { path, line, name } = self;
        tr!("{path}:{line}: no fault makes {name} fail", path, line, name)
    }
}
