//! Pauses for checks that cannot run because the machine lacks something that only the user can provide, so that no
//! call of an agent is spent on them. A check that cannot run in the first round pauses the loop before its first
//! iteration; later, the second round in a row does. The user can continue without such checks.

use crate::check::MissingDependency;
use crate::journal::{PauseReason, PinnedCriterion, Role, Round};
use crate::loop_state::{LoopState, UnrunnableChecks};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::clauses::{join_clauses, join_with_and};
use loopkeeper_text::message::Message;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

use super::endings::pause_or_end;
use super::next_step::NextStep;

/// Number of rounds in a row after which another iteration is pointless.
const MAX_ROUNDS: u32 = 2;
const MAX_NAMED: usize = 3;
const NAME_CHARS: usize = 60;

/// Called after the results of a round are stored. A check that has never run blocks the loop at once.
pub(super) fn count_unrunnable(state: &mut LoopState, round: &Round) {
    for result in &round.results {
        let pinned = state.criteria.pinned.iter().find(|it| it.criterion.id == result.criterion);
        let has_run = pinned.is_some_and(|it| it.role != Role::Open);
        let UnrunnableChecks { rounds, waived } = &mut state.criteria.unrunnable;
        if result.missing_on_machine().is_some() {
            let count = rounds.entry(result.criterion.clone()).or_default();
            *count = count.saturating_add(if has_run { 1 } else { MAX_ROUNDS });
        } else {
            rounds.remove(&result.criterion);
            waived.remove(&result.criterion);
        }
    }
}

/// The user continues without the checks that cannot run now.
pub(super) fn waive_criteria(state: &mut LoopState, criteria: &[CriterionId]) {
    state.criteria.unrunnable.waived.extend(criteria.iter().cloned());
}

/// A loop that was started with `--anyway` continues without the checks that could not run at the start.
pub(super) fn waive_at_start(state: &mut LoopState) {
    if state.spec.anyway {
        let all: Vec<_> = state.criteria.unrunnable.rounds.keys().cloned().collect();
        waive_criteria(state, &all);
    }
}

/// Between iterations: pauses the loop, or ends it, if another iteration would be pointless.
pub(super) fn next(state: &LoopState) -> Option<NextStep> {
    if state.pause.is_some() || state.tree.is_unjudged {
        return None;
    }
    let blocked: Vec<(&PinnedCriterion, &MissingDependency)> = blocked_criteria(state).collect();
    if blocked.is_empty() {
        return None;
    }
    Some(pause_or_end(state, PauseReason::Missing, message(state, &blocked)).into())
}

fn blocked_criteria(state: &LoopState) -> impl Iterator<Item = (&PinnedCriterion, &MissingDependency)> {
    let UnrunnableChecks { rounds, waived } = &state.criteria.unrunnable;
    let is_due =
        |id: &CriterionId| rounds.get(id).is_some_and(|it| *it >= MAX_ROUNDS) && !waived.contains(id);
    state.required().filter(move |it| is_due(&it.criterion.id)).filter_map(|it| {
        let result = state.criteria.results.get(&it.criterion.id)?;
        Some((it, result.missing_on_machine()?))
    })
}

/// `"Tests pass" cannot run: Python module "pytest" is not installed`, with the remedy.
fn message(state: &LoopState, blocked: &[(&PinnedCriterion, &MissingDependency)]) -> Message {
    let mut missing: Vec<&MissingDependency> = Vec::new();
    for (_, it) in blocked {
        if !missing.iter().any(|known| known.kind == it.kind && known.name == it.name) {
            missing.push(it);
        }
    }
    let named: Vec<String> = missing.iter().take(MAX_NAMED).map(|it| it.sentence()).collect();
    let named = join_clauses(&named);
    let named = match missing.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => tr!("{clauses}; and {more} more", clauses = named, more),
    };
    let fact = match blocked {
        [(one, _)] => {
            let name = sanitize::line_within(&one.criterion.name, NAME_CHARS);
            tr!("\"{name}\" cannot run: {missing}", name, missing = named)
        }
        many => tr!("{count} criteria cannot run: {missing}", count = many.len(), missing = named),
    };
    let remedies = join_with_and(missing.iter().take(MAX_NAMED).map(|it| it.remedy.as_str()));
    // A task to set up a tool has this state at its start.
    let can_be_work = missing.iter().any(|it| it.is_package());
    Message::new(fact).with_hint(match (state.spec.attended, can_be_work) {
        (true, true) => {
            tr!("{remedies}, then resume; if installing it is the task, resume with `--anyway`", remedies)
        }
        (true, false) => tr!("{remedies}, then resume; resume with `--anyway` to go on without it", remedies),
        (false, true) => {
            tr!("{remedies}, then start again; if installing it is the task, start with `--anyway`", remedies)
        }
        (false, false) => tr!("{remedies}, then start again; `--anyway` starts without it", remedies),
    })
}

/// The criteria that block the loop.
pub(super) fn blocked_ids(state: &LoopState) -> Vec<CriterionId> {
    blocked_criteria(state).map(|(it, _)| it.criterion.id.clone()).collect()
}
