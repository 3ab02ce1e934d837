//! Another keeper took over: deadlines of another boot are bridged, and what was in flight is over.

use loopkeeper_text::moment::Moment;

use super::super::limits::DAY_MS;
use super::super::state::{LoopState, Phase};
use super::super::takeover::Availability;

/// What was in flight is over: its number stays used up and charged, its tree is still to be judged.
pub(super) fn take_over(state: &mut LoopState, at: Moment, boot: &str) {
    // Only detached keepers take over: from here on somebody can answer.
    state.spec.attended = true;
    // It went with its keeper.
    state.held = false;
    state.spawns.end_all();
    state.questions.discard_permission();
    if boot != state.boot {
        boot.clone_into(&mut state.boot);
        state.session.rebase_clock(at);
        if let Some(until) = state.questions.open.as_mut().and_then(|it| it.until.as_mut()) {
            *until = translate_deadline(*until, at);
        }
        if let Some(wait) = &mut state.wait {
            // The other boot's clock means nothing here; wall time bridges the gap.
            wait.until = translate_deadline(wait.until, at);
        }
        if let Some(until) = &mut state.shared_limit.overridden {
            *until = translate_deadline(*until, at);
        }
        for member in &mut state.crew {
            if let Availability::Until(until) = &mut member.out {
                *until = translate_deadline(*until, at);
            }
        }
        if let Some(until) = &mut state.breaker.resumes_at {
            *until = translate_deadline(*until, at);
        }
    }
    state.phase = match state.phase {
        Phase::Starting => Phase::Starting,
        Phase::Ended => Phase::Ended,
        Phase::Baseline if state.history.is_empty() => Phase::Starting,
        Phase::Baseline | Phase::Boundary | Phase::Preparing => Phase::Boundary,
        Phase::Iterating { .. } => {
            if let Some(row) = state.history.last_mut() {
                row.interrupted = true;
                row.duration_ms = at.ms_since(row.started_at);
            }
            Phase::Closing
        }
        Phase::Closing | Phase::Checking => Phase::Closing,
    };
    if state.phase == Phase::Closing {
        state.seen = None;
    }
}

/// A deadline of another boot.
fn translate_deadline(until: Moment, at: Moment) -> Moment {
    let left = until.wall.saturating_sub(at.wall).min(DAY_MS);
    Moment { awake: at.awake.saturating_add(left), ..until }
}
