//! The decision after an iteration: done, stopped, tripped, paused, over a limit, waiting, or the next iteration. The
//! conditions are tested in the order of their priority.

use crate::journal::{BreakerCause, BreakerState, Outcome, PauseReason, Record, WaitReason};
use crate::loop_state::{LoopState, Preparation, StopMode, VolatileState, Wait};
use loopkeeper_text::moment::Moment;

use super::endings::{pause_or_end, user_end_record};
use super::next_step::NextStep;
use super::{
    Decision, Effect, attached, breaker, commits, exit, final_verdict, flaky, hook_session, limits, mutants,
    questions, regression, takeover, unrunnable, waits, weakening,
};

/// The next step while nothing runs, or while the agent waits in its stop hook.
pub(super) fn next(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    if live.work.rollback().is_some() {
        return Vec::new();
    }
    if !state.agents.hold.is_held {
        return next_step(state, live, now).take(live);
    }
    if live.agent.release_requested {
        return Vec::new();
    }
    let step = next_step(state, live, now);
    if hook_session::must_release_session(state, live, now, &step.decisions) {
        return hook_session::release_agent(live, attached::release_message(state, &step.decisions));
    }
    let decisions = step.take(live);
    hook_session::release_on_pause(state, live, decisions)
}

fn next_step(state: &LoopState, live: &VolatileState, now: Moment) -> NextStep {
    if live.work.is_pinning() && state.stop.is_none() {
        // Criteria that the user changed are being judged: the present results do not decide any more.
        return NextStep::nothing();
    }
    let completed = exit::completed(state, now).and_then(|it| final_verdict::unless_contradicted(state, it));
    let continues = completed.is_none() && state.stop.is_none();
    if let Some(step) = continues.then(|| regression::next(state, live)).flatten() {
        return step;
    }
    if let Some(step) = commits::next(state, live) {
        return step;
    }
    if let Some(outcome) = completed {
        match before_completion(state, live, &outcome) {
            // It ends without the work that is left.
            Some(_) if state.stop == Some(StopMode::Now) => {}
            Some(step) => return step,
            None => {
                let outcome = final_verdict::with_basis(state, outcome);
                return Decision::record_and_continue(Record::Ended { outcome }).into();
            }
        }
    }
    if state.stop.is_some() {
        return vec![user_end_record(state), Decision::Effect(Effect::Continue)].into();
    }
    if let Some(step) = unrunnable::next(state) {
        return step;
    }
    match record_or_wait(state, now) {
        Some(decisions) => decisions.into(),
        None => wait_or_prepare(state, live, now),
    }
}

/// Decisions with which no work begins.
fn record_or_wait(state: &LoopState, now: Moment) -> Option<Vec<Decision>> {
    if let Some(change) = breaker::next_change(state, now) {
        return Some(Decision::record_and_continue(change));
    }
    if state.pause.is_some() {
        return Some(end_if_unattended(state));
    }
    if state.breaker.state == BreakerState::Open {
        return Some(breaker_open(state, now));
    }
    if let Some(message) = weakening::needs_user(state, now) {
        return Some(pause_or_end(state, PauseReason::Agent, message));
    }
    if let Some(outcome) = limits::limit_outcome(state, now) {
        return Some(Decision::record_and_continue(Record::Ended { outcome }));
    }
    if let Some(change) = takeover::takeover_record(state, now) {
        return Some(Decision::record_and_continue(change));
    }
    if let Some(message) = waits::needs_user(state) {
        return Some(pause_or_end(state, PauseReason::Agent, message));
    }
    questions::next(state, now)
}

fn wait_or_prepare(state: &LoopState, live: &VolatileState, now: Moment) -> NextStep {
    match state.phase.wait() {
        Some(wait) if now.awake < wait.until.awake => return NextStep::nothing(),
        Some(_) => {}
        None => {
            if let Some(wait) = waits::before_next(state, now) {
                return questions::begin_wait(state, now, wait).into();
            }
        }
    }
    if live.work.is_checking() || live.work.is_asking() {
        // Checks are running on the tree, or a slot is being requested: nothing else starts, and their results continue
        // the loop.
        return NextStep::nothing();
    }
    prepare_iteration(state, live)
}

/// The work that remains before the loop completes, if any.
fn before_completion(state: &LoopState, live: &VolatileState, outcome: &Outcome) -> Option<NextStep> {
    hook_session::recheck_after_exit(state, live)
        .or_else(|| flaky::once_more(state, live))
        .or_else(|| final_verdict::request(state, live, outcome))
        .or_else(|| mutants::request(state, live, final_verdict::passed_in_room(state, outcome)?))
}

fn prepare_iteration(state: &LoopState, live: &VolatileState) -> NextStep {
    if live.work.preparation == Preparation::Snapshot {
        // Requested again while the snapshot is being taken; its event continues the loop.
        return NextStep::nothing();
    }
    if state.lacks_session() {
        return pause_or_end(state, PauseReason::Session, attached::attach_instructions(state)).into();
    }
    NextStep::snapshot()
}

/// Waits for the trial if the loop is attended; otherwise pauses for its user, or ends.
fn breaker_open(state: &LoopState, now: Moment) -> Vec<Decision> {
    let Some(resumes_at) = state.breaker.resumes_at.filter(|_| state.spec.attended) else {
        return pause_or_end(state, PauseReason::Breaker, breaker::describe_open(&state.breaker));
    };
    let wait = Wait { reason: WaitReason::Breaker, until: resumes_at, met_by: None };
    if let Some(outcome) =
        limits::limit_outcome(state, now).or_else(|| limits::wait_limit_outcome(state, &wait))
    {
        // The trial would never take place.
        return Decision::record_and_continue(Record::Ended { outcome });
    }
    if now.awake < resumes_at.awake {
        return Vec::new();
    }
    Decision::record_and_continue(breaker::half_open(state, BreakerCause::Cooldown))
}

/// A pause for a full disk is recorded whether or not the loop is attended. An unattended loop ends here instead.
fn end_if_unattended(state: &LoopState) -> Vec<Decision> {
    match &state.pause {
        Some(pause) if !state.spec.attended && pause.reason != PauseReason::User => {
            pause_or_end(state, pause.reason, pause.message.clone())
        }
        Some(_) | None => Vec::new(),
    }
}
