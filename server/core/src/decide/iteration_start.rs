//! The start of an iteration whose documents are read and whose call slot is taken.

use crate::journal::Record;
use crate::loop_state::{LoopState, TaskDocuments};
use loopkeeper_text::digest::sha256;
use loopkeeper_text::moment::Moment;

use super::{Decision, Effect, prompt_input, sessions};

/// Slot usage recorded with the start of an iteration.
pub(super) struct CallSlotUsage {
    pub(super) this_hour: u32,
    pub(super) note: Option<String>,
}

/// The slot is taken: the iteration number is used, and the agent starts.
pub(super) fn start_iteration(
    state: &LoopState,
    now: Moment,
    documents: &TaskDocuments,
    call: CallSlotUsage,
) -> Vec<Decision> {
    let iteration = state.iteration + 1;
    let chosen = sessions::choose_session(state, now);
    let (session, session_tokens) = (chosen.id, chosen.tokens);
    // An attached session did not receive the task before its first iteration.
    let has_task = || !state.is_attached() || state.history.iter().rev().any(|it| it.session == session);
    let resumed = chosen.resumed && has_task();
    let prompt = prompt_input::prompt(state, documents, prompt_input::PromptContext { now, resumed });
    let tree = state.tree.snapshots.last().map(|it| it.tree.to_owned()).unwrap_or_default();
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
