//! Handles the documents that were read: after the agent, to detect its edits, and before it, to write its prompt.

use crate::journal::{PauseReason, Record};
use loopkeeper_text::digest::sha256;
use loopkeeper_text::message::Message;
use loopkeeper_text::moment::Moment;

use super::calls::{self, CallSlotUsage};
use super::handle_event::{criteria_of, pause_or_end};
use super::rounds::{iteration_over, nothing_new};
use super::state::{LoopState, Phase, VolatileState};
use super::{Decision, Effect, TaskDocuments, attached, criteria_changes, prompt_input, sessions};

pub(super) fn task_read(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    reading: Box<TaskDocuments>,
) -> Vec<Decision> {
    match state.phase {
        Phase::Checking => {
            live.reading = Some(reading);
            if nothing_new(state, live) {
                return iteration_over(state, live, None);
            }
            vec![Decision::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })]
        }
        Phase::Preparing if state.stop.is_some() || state.pause.is_some() => {
            vec![Decision::Effect(Effect::GoOn)]
        }
        Phase::Preparing => handle_documents(state, live, now, reading),
        _ => Vec::new(),
    }
}

fn handle_documents(
    state: &LoopState,
    live: &mut VolatileState,
    now: Moment,
    reading: Box<TaskDocuments>,
) -> Vec<Decision> {
    if !reading.surfaces.is_empty() {
        return pause_untrusted(state, &reading.surfaces);
    }
    if let Some(pinned) = criteria_changes::with_user_changes(state, &reading.criteria) {
        let unknown = pinned.iter().filter(|it| reading.untrusted.contains(&it.criterion.id));
        let unknown: Vec<String> = unknown.map(|it| it.criterion.name.clone()).collect();
        if !unknown.is_empty() {
            return pause_untrusted(state, &unknown);
        }
        let criteria = pinned.iter().map(|it| it.criterion.clone()).collect();
        live.pinning = Some(pinned);
        live.reading = Some(reading);
        return vec![Decision::Effect(Effect::RunChecks { criteria, repeats: 0 })];
    }
    if is_stale(state) && !std::mem::replace(&mut live.judged_again, true) {
        live.checking_at_rest = true;
        return vec![Decision::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })];
    }
    live.judged_again = false;
    calls::request_slot(state, live, now, reading)
}

/// The slot is taken: the iteration number is used, and the agent starts.
pub(super) fn start_iteration(
    state: &LoopState,
    now: Moment,
    reading: &TaskDocuments,
    call: CallSlotUsage,
) -> Vec<Decision> {
    let iteration = state.iteration + 1;
    let chosen = sessions::choose_session(state, now);
    let (session, session_tokens) = (chosen.id, chosen.tokens);
    // A lent session does not know the task before its first iteration.
    let knows = || !attached::is_wanted(state) || state.history.iter().any(|it| it.session == session);
    let resumed = chosen.resumed && knows();
    let prompt = prompt_input::prompt(state, reading, prompt_input::PromptContext { now, resumed });
    let tree = state.snapshots.last().map(|it| it.tree.clone()).unwrap_or_default();
    let record = Record::IterationIntended {
        iteration,
        session: session.clone(),
        resumed,
        prompt: sha256(prompt.as_bytes()),
        tree,
        calls_this_hour: call.this_hour,
        calls_note: call.note,
    };
    let mut steps: Vec<Decision> = chosen.change.map(Decision::Record).into_iter().collect();
    steps.push(Decision::Record(record));
    steps.push(Decision::Effect(Effect::SpawnAgent { iteration, session, resumed, session_tokens, prompt }));
    steps
}

/// Files were changed since the last round, by hand or by a rollback: its results would mislead the agent, and the task
/// may already be done.
fn is_stale(state: &LoopState) -> bool {
    let is_other = state.snapshots.last().is_some_and(|it| it.tree != state.judged_tree);
    state.has_checks() && (state.is_unjudged || is_other)
}

fn pause_untrusted(state: &LoopState, what: &[String]) -> Vec<Decision> {
    let first = what.first().map_or("", String::as_str);
    let more = if what.len() > 1 { format!(" and {} more", what.len() - 1) } else { String::new() };
    let message = Message::new(format!("not trusted yet: {first}{more}"))
        .with_hint("read it with `loopkeeper trust`, then resume");
    pause_or_end(state, PauseReason::Trust, message)
}
