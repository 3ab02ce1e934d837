//! Rolls back an iteration that broke criteria that held right before it (`git.on_regression = "rollback"`), then
//! judges the restored files again. User edits are never overwritten: files changed since the iteration are kept.

use crate::check::Status;
use crate::journal::{PauseReason, Pinned, Round};
use crate::jury;
use crate::settings::OnRegression;
use loopkeeper_task::criterion::{Criterion, CriterionId};

use super::handle_event::{begin_rollback, criteria_of, pause_or_end};
use super::state::{LoopState, VolatileState};
use super::{Decision, Effect, SnapshotFacts, flaky};
use loopkeeper_text::message::Message;

/// Maximum consecutive rollbacks; the next iteration is kept, otherwise the loop could never get past it.
const MAX_IN_A_ROW: u32 = 2;
const NAMED: usize = 3;

/// The rollback, if the last iteration must be rolled back.
pub(super) fn next(state: &LoopState, live: &mut VolatileState) -> Option<Vec<Decision>> {
    let row = state.last_iteration().filter(|it| !it.taken_back && it.changes.count > 0)?;
    let is_asked = state.spec.settings.git.on_regression == OnRegression::Rollback;
    let is_held = state.pause.is_some() || live.checking_at_rest || live.kept == Some(row.number);
    if !is_asked || is_held || state.rollbacks >= MAX_IN_A_ROW {
        return None;
    }
    let broken = broken_criteria(state, &row.row, |id| {
        let result = state.results.get(id).filter(|it| it.missing_on_machine().is_none());
        result.is_some_and(|it| is_failure(it.status)) && !flaky::is_flaky(state, id)
    });
    if broken.is_empty() || state.tree_before().is_none() {
        return None;
    }
    if live.judged_twice.replace(row.number) != Some(row.number) {
        // A check that fails only sometimes is no reason to roll back work.
        return Some(vec![judge_again(state, live)]);
    }
    live.rollback_in_progress = true;
    live.taking_back = Some(format!("iteration {} broke {}", row.number, join_names(&broken)));
    let to = state.kept_iterations().map(|it| it.number).filter(|it| *it < row.number).last().unwrap_or(0);
    Some(vec![Decision::Effect(Effect::PrepareRollback { to, paths: Vec::new() })])
}

/// The current tree is stored: is it still the one that was judged?
pub(super) fn handle_snapshot(
    state: &LoopState,
    live: &mut VolatileState,
    to: u32,
    shot: SnapshotFacts,
) -> Vec<Decision> {
    let before = state.tree_before().map(str::to_owned).filter(|_| shot.tree == state.judged_tree);
    let Some(tree) = before else {
        (live.taking_back, live.rollback_in_progress) = (None, false);
        live.kept = Some(state.iteration);
        return vec![Decision::Effect(Effect::GoOn)];
    };
    begin_rollback((state, live), shot, Effect::Rollback { to, tree, paths: Vec::new(), since: None })
}

/// The files are restored: results of other files must not be used for decisions.
pub(super) fn judge_again(state: &LoopState, live: &mut VolatileState) -> Decision {
    live.checking_at_rest = true;
    Decision::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })
}

/// A failed rollback of the user is refused; a failed rollback of the loop needs the user.
pub(super) fn handle_failure(state: &LoopState, live: &mut VolatileState, message: Message) -> Vec<Decision> {
    (live.rollback_in_progress, live.undoing) = (false, None);
    match live.taking_back.take().filter(|_| state.stop.is_none()) {
        Some(reason) => {
            let message =
                message.map_fact(|it| format!("{reason}, and its changes could not be taken back: {it}"));
            pause_or_end(state, PauseReason::Workspace, message)
        }
        None => goes_on(state),
    }
}

/// Commands that arrived during the rollback are carried out now.
pub(super) fn goes_on(state: &LoopState) -> Vec<Decision> {
    let waits = state.stop.is_some() || state.pause.is_none();
    if waits { vec![Decision::Effect(Effect::GoOn)] } else { Vec::new() }
}

/// The suffix for the summary of an iteration whose regression is kept.
pub(super) fn kept_regression_note(state: &LoopState, round: Option<&Round>) -> String {
    let is_asked = state.spec.settings.git.on_regression == OnRegression::Rollback;
    let row: Vec<_> =
        round.iter().flat_map(|it| &it.results).map(|it| (it.criterion.clone(), it.status)).collect();
    if !is_asked || state.rollbacks < MAX_IN_A_ROW || broken_criteria(state, &row, |_| true).is_empty() {
        return String::new();
    }
    format!("; kept all the same, since {MAX_IN_A_ROW} iterations in a row were taken back")
}

/// Whether everything that held before the last iteration still holds.
pub(super) fn is_clean(state: &LoopState) -> bool {
    state
        .last_iteration()
        .is_some_and(|it| !it.row.is_empty() && broken_criteria(state, &it.row, |_| true).is_empty())
}

/// Names of criteria that passed right before the iteration and fail after it.
fn broken_criteria<'a>(
    state: &'a LoopState,
    row: &[(CriterionId, Status)],
    counts: impl Fn(&CriterionId) -> bool,
) -> Vec<&'a str> {
    let fails =
        |id: &CriterionId| row.iter().any(|(of, status)| of == id && is_failure(*status)) && counts(id);
    // A judge that could not be asked proves nothing about the work.
    let unasked = |it: &Criterion| {
        let status = row.iter().find(|(of, _)| *of == it.id).map(|(_, status)| *status);
        jury::quorum(it).is_some() && matches!(status, Some(Status::CouldNotRun | Status::TimedOut))
    };
    let passing = |it: &&Pinned| state.passing_before.contains(&it.criterion.id) && !unasked(&it.criterion);
    let held = state.pinned.iter().filter(passing);
    held.filter(|it| fails(&it.criterion.id)).map(|it| it.criterion.name.as_str()).collect()
}

/// A round that could not be judged is no regression.
fn is_failure(status: Status) -> bool {
    match status {
        Status::Fail | Status::TimedOut | Status::CouldNotRun | Status::NoTestsRan => true,
        Status::Pass | Status::Unstable | Status::Unverified => false,
    }
}

fn join_names(names: &[&str]) -> String {
    let shown = names.iter().copied().take(NAMED).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
