//! What the user asks of a loop at work. A stop is taken in every phase and never undone.

use crate::agent::AgentEnding;
use crate::journal::{BreakerCause, BreakerState, PauseReason, Record};
use crate::moment::Moment;

use super::machine::{criteria_of, end_agent};
use super::state::{Live, Loop, Phase, Stop};
use super::{
    Effect, Order, RefusalCode, Step, breaker, permissions, questions, sessions, shared_limits, spawns, undo,
    unrunnable, weakening,
};

pub(super) fn follow(state: &Loop, live: &mut Live, now: Moment, order: Order) -> Vec<Step> {
    if state.outcome.is_some() {
        return refuse("the loop has ended");
    }
    match order {
        // A stop is never undone: what would come after it never comes.
        Order::Pause
        | Order::Resume
        | Order::ResumeAnyway
        | Order::Steer(_)
        | Order::Answer(_)
        | Order::AnswerTo { .. }
        | Order::ResetBreaker
        | Order::ResetSession
        | Order::AcceptWeakening
            if state.stop.is_some() =>
        {
            refuse("the loop is stopping. Hint: `loopkeeper run` starts a new one when it has ended")
        }
        Order::Stop => stop(state),
        Order::StopNow => stop_now(state, live),
        Order::Pause => pause(state),
        Order::Resume => resume(state),
        Order::ResumeAnyway => unrunnable::go_on_anyway(state),
        Order::Steer(text) => vec![Step::Record(Record::Steered { text })],
        Order::Answer(text) => questions::answer(state, text),
        Order::AnswerTo { question, text } => questions::answer_to(state, &question, text),
        Order::Permission(text) => permissions::asked(state, now, text),
        Order::ResetBreaker => reset(state),
        Order::ResetSession => sessions::reset(state),
        Order::AcceptWeakening => weakening::accept(state),
        Order::Subagent(told) => spawns::follow(state, told),
        Order::Check => check(state, live),
        Order::Saved { file, sum } => {
            live.saved.insert(file, sum);
            Vec::new()
        }
        Order::Rollback { to, paths } => rollback(state, live, to, paths),
        Order::UndoRollback => undo_rollback(state, live),
    }
}

fn stop(state: &Loop) -> Vec<Step> {
    if state.stop.is_some() {
        return Vec::new();
    }
    let record = Step::Record(Record::Stopping { now: false });
    match state.phase {
        // Nothing has been spent yet: a baseline need not run to its end.
        Phase::Baseline => vec![record, Step::Effect(Effect::CancelChecks)],
        _ => vec![record, Step::Effect(Effect::GoOn)],
    }
}

fn stop_now(state: &Loop, live: &mut Live) -> Vec<Step> {
    if state.stop == Some(Stop::Now) {
        return Vec::new();
    }
    let mut steps = vec![Step::Record(Record::Stopping { now: true })];
    match state.phase {
        Phase::Iterating { .. } => steps.extend(end_agent(live, AgentEnding::Stopped)),
        Phase::Baseline | Phase::Checking => steps.push(Step::Effect(Effect::CancelChecks)),
        Phase::Preparing if live.pinning.is_some() => steps.push(Step::Effect(Effect::CancelChecks)),
        Phase::Boundary | Phase::Preparing if live.checking_at_rest => {
            steps.push(Step::Effect(Effect::CancelChecks));
        }
        Phase::Starting | Phase::Boundary | Phase::Preparing | Phase::Closing | Phase::Ended => {
            steps.push(Step::Effect(Effect::GoOn));
        }
    }
    steps
}

fn pause(state: &Loop) -> Vec<Step> {
    if state.pause.is_some() {
        return Vec::new();
    }
    let message = "paused by the user".to_owned();
    vec![Step::Record(Record::Paused { reason: PauseReason::User, message })]
}

/// Going on after the breaker opened is a trial, also before it has rested: one iteration, then it closes or
/// opens again.
pub(super) fn resume(state: &Loop) -> Vec<Step> {
    let is_open = state.breaker.state == BreakerState::Open;
    let waived = questions::waived(state);
    let is_shared = shared_limits::is_waited_for(state);
    if state.pause.is_none() && waived.is_none() && !is_open && !is_shared {
        return refuse("the loop is not paused. Hint: `loopkeeper status` shows what it does.");
    }
    let mut steps: Vec<Step> = waived.into_iter().collect();
    if state.pause.is_some() || is_shared {
        steps.push(Step::Record(Record::Resumed {}));
    }
    if is_open {
        steps.push(Step::Record(breaker::half_open(state, BreakerCause::User)));
    }
    steps.push(Step::Effect(Effect::GoOn));
    steps
}

fn reset(state: &Loop) -> Vec<Step> {
    vec![Step::Record(breaker::reset(state)), Step::Effect(Effect::GoOn)]
}

fn check(state: &Loop, live: &mut Live) -> Vec<Step> {
    if !state.is_paused_at_rest() {
        // The checks after the running iteration answer it.
        return Vec::new();
    }
    if live.putting_back {
        return being_put_back();
    }
    live.checking_at_rest = true;
    vec![Step::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })]
}

fn rollback(state: &Loop, live: &mut Live, to: u32, paths: Vec<String>) -> Vec<Step> {
    if let Some(refusal) = refuse_rollback(state, live) {
        return refusal;
    }
    if state.tree_after(to).is_none() {
        let message = format!("there is no snapshot of iteration {to}");
        return vec![Step::Effect(Effect::Refuse { code: RefusalCode::BadArgument, message })];
    }
    live.putting_back = true;
    vec![Step::Effect(Effect::PrepareRollback { to, paths })]
}

fn undo_rollback(state: &Loop, live: &mut Live) -> Vec<Step> {
    if let Some(refusal) = refuse_rollback(state, live) {
        return refusal;
    }
    match undo::undoable(state) {
        Err(message) => refuse(&message),
        Ok(last) => {
            (live.putting_back, live.undoing) = (true, Some(last.seq));
            vec![Step::Effect(Effect::PrepareRollback {
                to: last.position_before,
                paths: last.paths.clone(),
            })]
        }
    }
}

/// Files are put back only while nothing else reads or writes them.
fn refuse_rollback(state: &Loop, live: &Live) -> Option<Vec<Step>> {
    if live.putting_back {
        Some(being_put_back())
    } else if !state.is_paused_at_rest() || state.stop.is_some() {
        Some(refuse("the loop is at work. Hint: pause it first"))
    } else if live.checking_at_rest {
        Some(refuse("the checks are running. Hint: ask again when they have ended"))
    } else {
        None
    }
}

fn being_put_back() -> Vec<Step> {
    refuse("files are being put back. Hint: ask again when they are")
}

fn refuse(message: &str) -> Vec<Step> {
    vec![Step::Effect(Effect::Refuse { code: RefusalCode::Conflict, message: message.to_owned() })]
}
