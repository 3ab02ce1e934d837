//! Applies the takeover by another keeper: translates deadlines of another boot and ends all work in flight.

use crate::loop_state::{AgentOutage, LoopState, Phase};
use loopkeeper_text::moment::Moment;

use super::super::spans::DAY_MS;

/// Ends the work in flight: the number of the iteration stays used and charged, its tree is still to be judged.
pub(super) fn take_over(state: &mut LoopState, at: Moment, (boot, clock_went_back): (&str, bool)) {
    // Only detached keepers take over, so questions can be answered from here on.
    state.spec.attended = true;
    // The held agent died with its keeper.
    state.agents.hold.is_held = false;
    state.spawns.end_all();
    state.questions.discard_permission();
    if boot != state.position.boot || clock_went_back {
        boot.clone_into(&mut state.position.boot);
        state.session.rebase_clock(at);
        if let Some(until) = state.questions.open.as_mut().and_then(|it| it.until.as_mut()) {
            *until = translate_deadline(*until, at);
        }
        if let Some(Some(wait)) = state.phase.wait_mut() {
            // The clock of the other boot is meaningless here; wall time bridges the gap.
            wait.until = translate_deadline(wait.until, at);
        }
        if let Some(until) = &mut state.agents.limit_overridden {
            *until = translate_deadline(*until, at);
        }
        for member in &mut state.agents.roster {
            if let AgentOutage::Until(until) = &mut member.outage {
                *until = translate_deadline(*until, at);
            }
        }
        if let Some(until) = &mut state.breaker.resumes_at {
            *until = translate_deadline(*until, at);
        }
    }
    state.phase = match std::mem::replace(&mut state.phase, Phase::Starting) {
        Phase::Starting => Phase::Starting,
        Phase::Ended(outcome) => Phase::Ended(outcome),
        Phase::Baseline if state.history.is_empty() => Phase::Starting,
        Phase::Baseline => Phase::Boundary { wait: None },
        Phase::Boundary { wait } | Phase::Preparing { wait } => Phase::Boundary { wait },
        Phase::Iterating(_) => {
            if let Some(row) = state.history.last_mut() {
                row.interrupted = true;
                row.duration_ms = at.ms_since(row.started_at);
            }
            Phase::Closing
        }
        Phase::Closing | Phase::Checking => Phase::Closing,
    };
    if state.phase == Phase::Closing {
        state.criteria.seen = None;
    }
}

/// Translates a deadline of another boot.
fn translate_deadline(until: Moment, at: Moment) -> Moment {
    let remaining = until.wall.saturating_sub(at.wall).min(DAY_MS);
    Moment { awake: at.awake.saturating_add(remaining), ..until }
}
