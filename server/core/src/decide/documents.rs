//! Handles the documents that were read: after the agent, to detect its edits, and before it, to write its prompt.

use std::collections::BTreeSet;

use crate::journal::{PauseReason, PinnedCriterion};
use crate::loop_state::{ChangedTask, LoopState, Phase, Preparation, TaskDocuments, VolatileState};
use loopkeeper_task::PlanItem;
use loopkeeper_text::clauses::list_within;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::calls;
use super::endings::pause_or_end;
use super::next_step::NextStep;
use super::rounds::{iteration_over, would_repeat_results};
use super::{Decision, Effect, criteria_changes, hook_session, waits};

pub(super) fn task_read(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    documents: Box<TaskDocuments>,
) -> Vec<Decision> {
    match state.phase {
        Phase::Checking => {
            live.after_agent.documents = Some(documents);
            if would_repeat_results(state, live) {
                return iteration_over(state, live, None);
            }
            vec![Decision::Effect(Effect::RunChecks { criteria: state.pinned_criteria(), repeats: 0 })]
        }
        // Checks that the user started in a pause use the files.
        Phase::Preparing { .. }
            if state.stop.is_some() || state.pause.is_some() || live.work.is_checking() =>
        {
            vec![Decision::Effect(Effect::Continue)]
        }
        Phase::Preparing { .. } => handle_documents(state, live, now, documents),
        // They were requested for an earlier phase.
        Phase::Starting
        | Phase::Baseline
        | Phase::Boundary { .. }
        | Phase::Iterating(_)
        | Phase::Closing
        | Phase::Ended(_) => Vec::new(),
    }
}

fn handle_documents(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    documents: Box<TaskDocuments>,
) -> Vec<Decision> {
    if let Some(why) = &documents.unreadable {
        return pause_unreadable(state, live, why);
    }
    if !documents.without_trust.is_empty() {
        return pause_untrusted(state, live, &documents.without_trust);
    }
    if let Some(pinned) = criteria_changes::with_user_changes(state, &documents.criteria) {
        let unknown = pinned.iter().filter(|it| documents.untrusted.contains(&it.criterion.id));
        let unknown: Vec<String> = unknown.map(|it| it.criterion.name.clone()).collect();
        if !unknown.is_empty() {
            return pause_untrusted(state, live, &unknown);
        }
        return judge_changed_task(live, pinned, *documents);
    }
    if !has_same_items(&state.plan, &documents.plan) {
        return judge_changed_task(live, state.criteria.pinned.clone(), *documents);
    }
    if is_stale(state) && !std::mem::replace(&mut live.judged_again, true) {
        return NextStep::round(state).take(live);
    }
    live.judged_again = false;
    calls::request_slot(state, live, now, documents)
}

/// The user changed the criteria or the plan: the task may be done by now, or no longer.
fn judge_changed_task(
    live: &mut VolatileState,
    pinned: Vec<PinnedCriterion>,
    documents: TaskDocuments,
) -> Vec<Decision> {
    let criteria = pinned.iter().map(|it| it.criterion.clone()).collect();
    live.work.preparation = Preparation::Pinning(Box::new(ChangedTask { pinned, documents }));
    vec![Decision::Effect(Effect::RunChecks { criteria, repeats: 0 })]
}

/// Whether the same items are open, done and skipped.
fn has_same_items(before: &[PlanItem], now: &[PlanItem]) -> bool {
    let items = |plan: &[PlanItem]| -> BTreeSet<(String, bool, bool)> {
        plan.iter().map(|it| (it.id.clone(), it.done, it.blocking)).collect()
    };
    before.len() == now.len() && items(before) == items(now)
}

/// Files were changed since the last round, by hand or by a rollback: its results would mislead the agent, and the task
/// may already be done.
fn is_stale(state: &LoopState) -> bool {
    let has_changed = state.tree.snapshots.last().is_some_and(|it| it.tree != state.tree.judged);
    state.has_checks() && (state.tree.is_unjudged || has_changed)
}

/// An agent without its task would do anything.
fn pause_unreadable(state: &LoopState, live: &mut VolatileState, why: &str) -> Vec<Decision> {
    let message = Message::new(why).with_hint(waits::then_resume(state, tr!("restore the document")));
    let steps = pause_or_end(state, PauseReason::Workspace, message);
    hook_session::release_on_pause(state, live, steps)
}

fn pause_untrusted(state: &LoopState, live: &mut VolatileState, untrusted: &[String]) -> Vec<Decision> {
    let message = Message::new(tr!("not trusted yet: {names}", names = list_within(untrusted, 1)))
        .with_hint(waits::then_resume(state, tr!("read it with `loopkeeper trust`")));
    let steps = pause_or_end(state, PauseReason::Trust, message);
    hook_session::release_on_pause(state, live, steps)
}
