//! The hourly call limit: before an agent starts, its iteration takes a slot in the list that all loops of this user
//! share. The keeper stores the list; if it cannot be used, the loop counts its own starts.

use crate::journal::WaitReason;
use crate::loop_state::{LoopState, Phase, Preparation, TaskDocuments, VolatileState, Wait};
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::iteration_start::CallSlotUsage;
use super::spans::HOUR_MS;
use super::{CallSlot, Decision, Effect, iteration_start, questions, shared_limits};

/// Requests the slot once everything else is ready; the documents are kept until the answer arrives.
pub(super) fn request_slot(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    documents: Box<TaskDocuments>,
) -> Vec<Decision> {
    live.work.preparation = Preparation::CallSlot(documents);
    let heeds_limits = shared_limits::is_applicable(state, now);
    vec![Decision::Effect(Effect::TakeCallSlot { iteration: state.iteration + 1, heeds_limits })]
}

pub(super) fn handle_slot(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    slot: CallSlot,
) -> Vec<Decision> {
    let documents = match take_awaited_documents(state, live) {
        Ok(documents) => documents,
        Err(steps) => return steps,
    };
    match slot {
        CallSlot::Taken { this_hour } => {
            iteration_start::start_iteration(state, now, &documents, CallSlotUsage { this_hour, note: None })
        }
        CallSlot::Full { until } => wait_for_slot(state, now, until),
        CallSlot::Unknown { message } => proceed_without_list(state, now, &documents, &message),
    }
}

/// No slot was taken, because another loop reached the usage limit of the agent.
pub(super) fn handle_usage_limit(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    (until, met_by): (Moment, String),
) -> Vec<Decision> {
    match take_awaited_documents(state, live) {
        Ok(_) => shared_limits::handle_shared_limit(state, now, until, met_by),
        Err(steps) => steps,
    }
}

/// The documents read for the iteration that the answer belongs to, otherwise the steps to take without it.
fn take_awaited_documents(
    state: &LoopState,
    live: &mut VolatileState,
) -> Result<Box<TaskDocuments>, Vec<Decision>> {
    let Some(documents) = live.work.end_asking().filter(|_| matches!(state.phase, Phase::Preparing { .. }))
    else {
        return Err(Vec::new());
    };
    let is_held_up = state.stop.is_some() || state.pause.is_some() || live.work.is_checking();
    if is_held_up || state.lacks_session() {
        return Err(vec![Decision::Effect(Effect::Continue)]);
    }
    Ok(documents)
}

fn wait_for_slot(state: &LoopState, now: Moment, until: Moment) -> Vec<Decision> {
    questions::begin_wait(state, now, Wait { reason: WaitReason::Calls, until, met_by: None })
}

/// If the list cannot be read, a loop must neither start unbounded nor be blocked by it.
fn proceed_without_list(
    state: &LoopState,
    now: Moment,
    documents: &TaskDocuments,
    message: &str,
) -> Vec<Decision> {
    let limit = state.spec.settings.limits.calls_per_hour as usize;
    let mut ages: Vec<u64> =
        state.history.outlines().filter_map(|it| age_within_hour(it.figures.started_at, now)).collect();
    ages.sort_unstable();
    if let Some(oldest) = limit.checked_sub(1).and_then(|it| ages.get(it)) {
        return wait_for_slot(state, now, now.plus_ms(HOUR_MS - oldest));
    }
    let this_hour = u32::try_from(ages.len()).unwrap_or(u32::MAX).saturating_add(1);
    let note = Some(tr!("{message}: the calls of other loops are not counted", message));
    iteration_start::start_iteration(state, now, documents, CallSlotUsage { this_hour, note })
}

/// The age of a start within the last hour. Wall time is used only if the start was in another boot.
fn age_within_hour(then: Moment, now: Moment) -> Option<u64> {
    let awake = now.awake.checked_sub(then.awake);
    awake.or_else(|| now.wall.checked_sub(then.wall)).filter(|it| *it < HOUR_MS)
}
