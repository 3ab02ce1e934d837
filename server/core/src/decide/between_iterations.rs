//! The decision after an iteration: done, stopped, tripped, paused, over a limit, waiting, or the next iteration. The
//! conditions are tested in the order of their priority.

use crate::journal::{BreakerCause, BreakerState, Outcome, PauseReason, Record, WaitReason};
use crate::loop_state::{LoopState, Preparation, VolatileState, Wait};
use loopkeeper_text::moment::Moment;

use super::endings::{pause_or_end, user_end_record};
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
        return next_step(state, live, now);
    }
    if live.agent.release_requested {
        return Vec::new();
    }
    let mut tried = live.clone();
    let steps = next_step(state, &mut tried, now);
    if hook_session::has_to_go(state, live, now, &steps) {
        return hook_session::release_agent(live, attached::release_message(state, &steps));
    }
    *live = tried;
    hook_session::release_on_pause(state, live, steps)
}

fn next_step(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    let completed = exit::completed(state, now).and_then(|it| final_verdict::unopposed(state, it));
    let continues = completed.is_none() && state.stop.is_none();
    if let Some(steps) = continues.then(|| regression::next(state, live)).flatten() {
        return steps;
    }
    if let Some(steps) = commits::next(state, live) {
        return steps;
    }
    if let Some(outcome) = completed {
        if let Some(steps) = before_completion(state, live, &outcome) {
            return steps;
        }
        let outcome = final_verdict::with_basis(state, outcome);
        return vec![Decision::Record(Record::Ended { outcome }), Decision::Effect(Effect::Continue)];
    }
    if state.stop.is_some() {
        return vec![user_end_record(state), Decision::Effect(Effect::Continue)];
    }
    if let Some(steps) = unrunnable::next(state, live) {
        return steps;
    }
    if let Some(change) = breaker::next_change(state, now) {
        return vec![Decision::Record(change), Decision::Effect(Effect::Continue)];
    }
    if state.pause.is_some() {
        return hold_if_unattended(state);
    }
    if state.breaker.state == BreakerState::Open {
        return breaker_open(state, now);
    }
    if let Some(message) = weakening::needs_user(state, now) {
        return pause_or_end(state, PauseReason::Agent, message);
    }
    if let Some(outcome) = limits::limit_outcome(state, now) {
        return vec![Decision::Record(Record::Ended { outcome }), Decision::Effect(Effect::Continue)];
    }
    if let Some(change) = takeover::takeover_record(state, now) {
        return vec![Decision::Record(change), Decision::Effect(Effect::Continue)];
    }
    if let Some(message) = waits::needs_user(state) {
        return pause_or_end(state, PauseReason::Agent, message);
    }
    if let Some(steps) = questions::next(state, now) {
        return steps;
    }
    wait_or_prepare(state, live, now)
}

fn wait_or_prepare(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    match state.phase.wait() {
        Some(wait) if now.awake < wait.until.awake => return Vec::new(),
        Some(_) => {}
        None => {
            if let Some(wait) = waits::before_next(state, now) {
                return begin_wait(state, now, wait);
            }
        }
    }
    if live.work.is_checking() || live.work.is_pinning() || live.work.is_asking() {
        // Checks are running on the tree, or a slot is being requested: nothing else starts, their results continue the
        // loop.
        return Vec::new();
    }
    prepare_iteration(state, live)
}

/// What still has to run before the loop completes.
fn before_completion(
    state: &LoopState,
    live: &mut VolatileState,
    outcome: &Outcome,
) -> Option<Vec<Decision>> {
    hook_session::recheck_after_exit(state, live)
        .or_else(|| flaky::once_more(state, live))
        .or_else(|| final_verdict::request(state, live, outcome))
        .or_else(|| mutants::request(state, live, final_verdict::passed_in_room(state, outcome)?))
}

fn prepare_iteration(state: &LoopState, live: &mut VolatileState) -> Vec<Decision> {
    if live.work.preparation == Preparation::Snapshot {
        // Requested again while the snapshot is being taken; its event continues the loop.
        return Vec::new();
    }
    if state.lacks_session() {
        return pause_or_end(state, PauseReason::Session, attached::attach_instructions(state));
    }
    live.work.preparation = Preparation::Snapshot;
    vec![Decision::Effect(Effect::TakeSnapshot)]
}

fn begin_wait(state: &LoopState, now: Moment, wait: Wait) -> Vec<Decision> {
    match limits::wait_limit_outcome(state, &wait) {
        Some(outcome) => {
            vec![Decision::Record(Record::Ended { outcome }), Decision::Effect(Effect::Continue)]
        }
        None => questions::before_wait(state, now, wait),
    }
}

/// Waits for the trial if the loop is attended; otherwise pauses for its user, or ends.
fn breaker_open(state: &LoopState, now: Moment) -> Vec<Decision> {
    let Some(resumes_at) = state.breaker.resumes_at.filter(|_| state.spec.attended) else {
        return pause_or_end(state, PauseReason::Breaker, breaker::describe_open(&state.breaker));
    };
    let rest = Wait { reason: WaitReason::Breaker, until: resumes_at, met_by: None };
    if let Some(outcome) =
        limits::limit_outcome(state, now).or_else(|| limits::wait_limit_outcome(state, &rest))
    {
        // The trial would never take place.
        return vec![Decision::Record(Record::Ended { outcome }), Decision::Effect(Effect::Continue)];
    }
    if now.awake < resumes_at.awake {
        return Vec::new();
    }
    vec![
        Decision::Record(breaker::half_open(state, BreakerCause::Cooldown)),
        Decision::Effect(Effect::Continue),
    ]
}

/// A pause for a full disk is recorded without regard to whether the loop is attended; that is handled here.
fn hold_if_unattended(state: &LoopState) -> Vec<Decision> {
    match &state.pause {
        Some(pause) if !state.spec.attended && pause.reason != PauseReason::User => {
            pause_or_end(state, pause.reason, pause.message.clone())
        }
        Some(_) | None => Vec::new(),
    }
}
