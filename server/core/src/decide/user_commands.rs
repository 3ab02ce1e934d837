//! Commands of the user to a running loop. A stop is accepted in every phase and never undone.

use crate::journal::{BreakerCause, BreakerState, PauseReason, Record};
use crate::loop_state::{LoopState, Phase, RollbackCause, StopMode, TreeWork, VolatileState};
use loopkeeper_agent::AgentEnding;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::endings::end_agent;
use super::next_step::NextStep;
use super::{
    Decision, Effect, RefusalReason, UserCommand, attempts, breaker, hook_session, permissions, questions,
    sessions, shared_limits, spawns, undo, unrunnable, weakening,
};

pub(super) fn handle_command(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    command: UserCommand,
) -> Vec<Decision> {
    if let UserCommand::Attempt { command, from } = command {
        return attempts::refuse(state, command, from);
    }
    if state.outcome().is_some() {
        return refuse(tr!("the loop has ended"));
    }
    if state.is_paused_between_iterations() {
        // The user may change files, or what checks need outside of them, until the loop continues.
        live.judged_again = false;
    }
    match command {
        // A stop is never undone, so later commands have no effect.
        UserCommand::Pause
        | UserCommand::Resume
        | UserCommand::ResumeAnyway
        | UserCommand::Steer(_)
        | UserCommand::Answer(_)
        | UserCommand::AnswerTo { .. }
        | UserCommand::ResetBreaker
        | UserCommand::ResetSession
        | UserCommand::AcceptWeakening { .. }
            if state.stop.is_some() =>
        {
            refuse(
                Message::new(tr!("the loop is stopping"))
                    .with_hint(tr!("`loopkeeper run` starts a new one when it has ended")),
            )
        }
        UserCommand::Stop => stop(state, live, now),
        UserCommand::StopNow => stop_now(state, live, now),
        UserCommand::Pause => pause(state, live, now),
        UserCommand::Resume => resume(state),
        UserCommand::ResumeAnyway => resume_anyway(state),
        UserCommand::Steer(text) => vec![Decision::Record(Record::Steered { text })],
        UserCommand::Answer(text) => questions::answer(state, live, now, text),
        UserCommand::AnswerTo { question, text } => questions::answer_to((state, live, now), &question, text),
        UserCommand::Permission(text) => permissions::handle_permission_request(state, now, text),
        UserCommand::ResetBreaker => reset_breaker(state),
        UserCommand::ResetSession => sessions::reset(state),
        UserCommand::AcceptWeakening { by } => weakening::accept(state, by),
        UserCommand::Subagent(event) => spawns::handle_subagent(state, event),
        // Handled above, also after the end.
        UserCommand::Attempt { .. } => Vec::new(),
        UserCommand::Check => check(state, live),
        UserCommand::Saved { file, sum } => {
            live.saved.insert(file, sum);
            Vec::new()
        }
        UserCommand::Rollback { to, paths } => rollback(state, live, to, paths),
        UserCommand::UndoRollback => undo_rollback(state, live),
    }
}

fn stop(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    if state.stop.is_some() {
        return Vec::new();
    }
    // Before the first iteration nothing has been spent, so its checks can be cancelled.
    let effect = if state.phase == Phase::Baseline { Effect::CancelChecks } else { Effect::Continue };
    let mut steps = vec![Decision::Record(Record::Stopping { now: false }), Decision::Effect(effect)];
    steps.extend(permissions::withdraw_question(state, live, now));
    steps
}

fn stop_now(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    if state.stop == Some(StopMode::Now) {
        return Vec::new();
    }
    let mut steps = vec![Decision::Record(Record::Stopping { now: true })];
    match state.phase {
        Phase::Iterating(_) => steps.extend(end_agent(live, AgentEnding::Stopped)),
        Phase::Baseline | Phase::Checking => steps.push(Decision::Effect(Effect::CancelChecks)),
        Phase::Preparing { .. } if live.work.is_pinning() => {
            steps.push(Decision::Effect(Effect::CancelChecks));
        }
        Phase::Boundary { .. } | Phase::Preparing { .. } if live.work.is_checking() => {
            steps.push(Decision::Effect(Effect::CancelChecks));
        }
        Phase::Starting
        | Phase::Boundary { .. }
        | Phase::Preparing { .. }
        | Phase::Closing
        | Phase::Ended(_) => {
            steps.push(Decision::Effect(Effect::Continue));
        }
    }
    steps.extend(permissions::withdraw_question(state, live, now));
    steps
}

fn pause(state: &LoopState, live: &mut VolatileState, now: Moment) -> Vec<Decision> {
    if state.pause.is_some() {
        return Vec::new();
    }
    let message = tr!("paused by the user").into();
    let mut steps = vec![Decision::Record(Record::Paused { reason: PauseReason::User, message })];
    steps.extend(permissions::withdraw_question(state, live, now));
    hook_session::release_on_pause(state, live, steps)
}

/// Resuming after the breaker opened is a trial, even before its cooldown is over: one iteration, then it closes or
/// opens again.
fn resume(state: &LoopState) -> Vec<Decision> {
    let is_open = state.breaker.state == BreakerState::Open;
    let waived = questions::waive_question(state);
    let is_shared = shared_limits::is_waited_for(state);
    if state.pause.is_none() && waived.is_none() && !is_open && !is_shared {
        return refuse(
            Message::new(tr!("the loop is not paused"))
                .with_hint(tr!("`loopkeeper status` shows what it does.")),
        );
    }
    let mut steps: Vec<Decision> = waived.into_iter().collect();
    if state.pause.is_some() || is_shared {
        steps.push(Decision::Record(Record::Resumed {}));
    }
    if is_open {
        steps.push(Decision::Record(breaker::half_open(state, BreakerCause::User)));
    }
    steps.push(Decision::Effect(Effect::Continue));
    steps
}

/// Resumes without the checks that the loop is paused for, whether or not they can run now.
fn resume_anyway(state: &LoopState) -> Vec<Decision> {
    let criteria = unrunnable::blocked_ids(state);
    if criteria.is_empty() {
        return resume(state);
    }
    let mut steps = vec![Decision::Record(Record::ChecksWaived { criteria })];
    steps.extend(resume(state));
    steps
}

fn reset_breaker(state: &LoopState) -> Vec<Decision> {
    Decision::record_and_continue(breaker::reset_record(state))
}

fn check(state: &LoopState, live: &mut VolatileState) -> Vec<Decision> {
    if !state.is_paused_between_iterations() {
        // The checks after the running iteration serve as the answer.
        return Vec::new();
    }
    if live.work.rollback().is_some() {
        return refuse_during_rollback();
    }
    if live.work.is_judging() {
        // Its result serves as the answer.
        return Vec::new();
    }
    NextStep::round(state).take(live)
}

fn rollback(state: &LoopState, live: &mut VolatileState, to: u32, paths: Vec<String>) -> Vec<Decision> {
    if let Some(refusal) = refuse_rollback(state, live) {
        return refusal;
    }
    if state.tree_after(to).is_none() {
        let message = tr!("there is no snapshot of iteration {number}", number = to).into();
        return vec![Decision::Effect(Effect::Refuse { code: RefusalReason::BadArgument, message })];
    }
    live.work.tree = TreeWork::Rollback(RollbackCause::Order);
    vec![Decision::Effect(Effect::PrepareRollback { to, paths })]
}

fn undo_rollback(state: &LoopState, live: &mut VolatileState) -> Vec<Decision> {
    if let Some(refusal) = refuse_rollback(state, live) {
        return refusal;
    }
    match undo::undoable_rollback(state) {
        Err(message) => refuse(message),
        Ok(last) => {
            live.work.tree = TreeWork::Rollback(RollbackCause::Undo { seq: last.seq });
            vec![Decision::Effect(Effect::PrepareRollback {
                to: last.position_before,
                paths: last.paths.clone(),
            })]
        }
    }
}

/// Files are restored only while nothing else reads or writes them.
fn refuse_rollback(state: &LoopState, live: &VolatileState) -> Option<Vec<Decision>> {
    if live.work.rollback().is_some() {
        Some(refuse_during_rollback())
    } else if !state.is_paused_between_iterations() || state.stop.is_some() {
        Some(refuse(
            Message::new(tr!("the loop is running"))
                .with_hint(tr!("`loopkeeper pause` pauses it after this iteration")),
        ))
    } else if live.work.is_judging() {
        Some(refuse(
            Message::new(tr!("the checks are running")).with_hint(tr!("try again when they have ended")),
        ))
    } else {
        None
    }
}

fn refuse_during_rollback() -> Vec<Decision> {
    refuse(Message::new(tr!("a rollback is running")).with_hint(tr!("try again when it has ended")))
}

fn refuse(message: impl Into<Message>) -> Vec<Decision> {
    vec![Decision::Effect(Effect::Refuse { code: RefusalReason::Conflict, message: message.into() })]
}
