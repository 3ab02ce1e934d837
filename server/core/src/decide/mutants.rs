//! Mutants: after a positive final verdict, and before the loop completes, the checks run on small faults in the lines
//! that the loop changed. A fault that no check notices is recorded. Without a clean room nothing is tried.

use crate::check::Status;
use crate::journal::{HollowTest, Outcome, Pinned, Record, Survivor};
use crate::settings::MutantPolicy;
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::words;

use super::state::{LoopState, VolatileState};
use super::{Decision, Effect, final_verdict};

/// Mutants of one run.
const MAX_MUTANTS: usize = 30;
/// Survivors in one record.
const MAX_SURVIVORS: usize = 20;
/// Hollow tests in one record.
const MAX_HOLLOW: usize = 20;
/// With `tell`, a longer round of the checks is not repeated.
const LONGEST_ROUND_MS: u64 = 3_000;
/// How many rounds the run may take.
const ROUNDS: u64 = 10;
const SHORTEST_RUN_MS: u64 = 10_000;
const LONGEST_RUN_MS: u64 = 60_000;

/// The last run in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutantRun {
    /// The tree that the mutants are of.
    pub tree: String,
    pub tried: u64,
    pub noticed: u64,
    pub survivors: Vec<Survivor>,
    pub hollow: Vec<HollowTest>,
    /// Why none was tried.
    pub skipped: Option<String>,
}

/// What the keeper is to run.
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
    /// Files changed meanwhile.
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
    pub survivors: Vec<Survivor>,
    pub hollow: Vec<HollowTest>,
}

/// Asks for the mutants of the final tree, where that is not done yet.
pub(super) fn request(
    state: &LoopState,
    live: &mut VolatileState,
    outcome: &Outcome,
) -> Option<Vec<Decision>> {
    let policy = state.spec.settings.mutants;
    let is_done = current(state).is_some();
    if policy == MutantPolicy::Off || is_done || state.stop.is_some() {
        return None;
    }
    let passed = final_verdict::passed_in_room(state, outcome)?;
    let pinned = |it: &&Pinned| {
        matches!(it.criterion.check, Some(Check::Command { .. })) && passed.contains_key(&it.criterion.id)
    };
    let criteria: Vec<Criterion> =
        state.pinned.iter().filter(pinned).map(|it| it.criterion.clone()).collect();
    let round_ms: u64 = criteria.iter().filter_map(|it| passed.get(&it.id)).sum();
    if criteria.is_empty() {
        return None;
    }
    if policy == MutantPolicy::Tell && round_ms > LONGEST_ROUND_MS {
        let why = format!("one round of the checks takes {}", words::duration(round_ms));
        return Some(vec![Decision::Record(skipped_record(state, why)), Decision::Effect(Effect::GoOn)]);
    }
    if std::mem::replace(&mut live.checking_at_rest, true) {
        return Some(Vec::new());
    }
    let budget_ms = (round_ms * ROUNDS).clamp(SHORTEST_RUN_MS, LONGEST_RUN_MS);
    Some(vec![Decision::Effect(Effect::TestMutants(MutantPlan { criteria, max: MAX_MUTANTS, budget_ms }))])
}

/// The run on the tree as it is.
pub fn current(state: &LoopState) -> Option<&MutantRun> {
    state.kept.mutants.as_ref().filter(|it| it.tree == state.judged_tree)
}

pub(super) fn handle_reply(state: &LoopState, live: &mut VolatileState, reply: MutantReply) -> Vec<Decision> {
    if !std::mem::take(&mut live.checking_at_rest) || !state.at_rest() {
        return Vec::new();
    }
    let record = match reply {
        MutantReply::Disturbed => {
            live.checking_at_rest = true;
            let criteria = super::handle_event::criteria_of(state);
            return vec![Decision::Effect(Effect::RunChecks { criteria, repeats: 0 })];
        }
        MutantReply::Skipped { why } => skipped_record(state, why),
        MutantReply::Tested(MutantCounts { tried, noticed, mut survivors, mut hollow }) => {
            survivors.truncate(MAX_SURVIVORS);
            hollow.truncate(MAX_HOLLOW);
            let (iteration, tree) = (state.iteration, state.judged_tree.clone());
            Record::Mutants { iteration, tree, tried, noticed, survivors, hollow, skipped: None }
        }
    };
    vec![Decision::Record(record), Decision::Effect(Effect::GoOn)]
}

fn skipped_record(state: &LoopState, why: String) -> Record {
    Record::Mutants {
        iteration: state.iteration,
        tree: state.judged_tree.clone(),
        tried: 0,
        noticed: 0,
        survivors: Vec::new(),
        hollow: Vec::new(),
        skipped: Some(why),
    }
}

pub(super) fn apply_mutants(state: &mut LoopState, record: &Record) {
    state.kept.mutants = MutantRun::of_record(record);
}

/// The timeout of a check on a mutant: a fault that makes it hang is noticed.
pub fn mutant_timeout_ms(unmutated_ms: u64, timeout_ms: u64) -> u64 {
    const SLOWER: u64 = 3;
    const LEAST_MS: u64 = 1_000;
    (unmutated_ms * SLOWER).max(LEAST_MS).min(timeout_ms)
}

/// Whether a check that passes without the fault noticed it.
pub fn is_noticed(status: Status) -> bool {
    status != Status::Pass
}

impl MutantRun {
    pub fn of_record(record: &Record) -> Option<Self> {
        let Record::Mutants { tree, tried, noticed, survivors, hollow, skipped, .. } = record else {
            return None;
        };
        Some(Self {
            tree: tree.clone(),
            tried: *tried,
            noticed: *noticed,
            survivors: survivors.clone(),
            hollow: hollow.clone(),
            skipped: skipped.clone(),
        })
    }

    /// `12 of 14 noticed`
    pub fn summary(&self) -> String {
        match &self.skipped {
            Some(why) => format!("none tried, {why}"),
            None if self.tried == 0 => "none, no changed line can be mutated".to_owned(),
            None => format!("{} of {} noticed", self.noticed, self.tried),
        }
    }
}

impl Survivor {
    /// "calc.py:3: no check notices `return a - b`"
    pub fn sentence(&self) -> String {
        let Self { path, line, before, after } = self;
        if self.is_removal() {
            return format!("{path}:{line}: no check notices that `{before}` is removed");
        }
        format!("{path}:{line}: no check notices `{after}` in place of `{before}`")
    }

    pub fn is_removal(&self) -> bool {
        matches!(self.after.as_str(), "" | ";" | "pass")
    }
}

impl HollowTest {
    /// "tests/test_calc.py:7: no fault makes test_runs fail"
    pub fn sentence(&self) -> String {
        let Self { path, line, name } = self;
        format!("{path}:{line}: no fault makes {name} fail")
    }
}
