//! Undoes a rollback: files and state return to what they were right before it. The undo of an undo is an ordinary
//! rollback, so that it can be redone. Once another iteration has started, the files contain its changes as well, and
//! the rollback can no longer be undone.

use crate::journal::Record;
use crate::loop_state::{LoopMemory, LoopState, UndoableRollback};

use super::checkpoint;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

/// The rollback that would be undone, or why there is none, with a hint.
pub fn undoable_rollback(state: &LoopState) -> Result<&UndoableRollback, Message> {
    let id = &state.spec.loop_id;
    let Some(last) = &state.rollback.last else {
        let hint = tr!("`loopkeeper rollback {id} --list` shows the iterations you can go back to.", id);
        return Err(Message::new(tr!("there is no rollback of loop {id} to undo", id)).with_hint(hint));
    };
    if last.iteration == state.iteration {
        return Ok(last);
    }
    let (next, before) = (last.iteration + 1, last.position_before);
    let fact =
        tr!("iteration {number} was started after the rollback, so it cannot be undone", number = next);
    Err(Message::new(fact).with_hint(tr!(
        "`loopkeeper rollback {id} {before}` restores the files of iteration {before}; the files right before the rollback are kept as snapshot {snapshot}.",
        id,
        before,
        snapshot = last.from
    )))
}

/// Whether the last rollback was interrupted: some files may have been restored.
pub(super) fn is_interrupted(state: &LoopState) -> bool {
    let last = state.rollback.last.as_ref();
    last.is_some_and(|it| it.after.is_none() && it.is_after(state.iteration))
}

/// The iteration after which the files were as they are now.
fn current_iteration(state: &LoopState) -> u32 {
    let last = state.rollback.last.as_ref().filter(|it| it.iteration == state.iteration);
    last.map_or(state.iteration, |it| it.position)
}

/// A snapshot was taken for a rollback, which is not on record yet.
pub(super) fn record_pending_rollback(state: &mut LoopState, seq: u64, tree: &str) {
    let position = current_iteration(state);
    state.rollback.last = Some(UndoableRollback {
        seq,
        from: tree.to_owned(),
        after: None,
        paths: Vec::new(),
        is_undo: false,
        position_before: position,
        position,
        iteration: state.iteration,
        memory: checkpoint::save_memory(state),
    });
}

/// A rollback is on record. Returns the memory that it restores, if it undoes another one.
pub(super) fn record_rollback(state: &mut LoopState, seq: u64, record: &Record) -> Option<LoopMemory> {
    let Record::RolledBack { to, tree, from, paths, after, undoes, .. } = record else { return None };
    let position_before = current_iteration(state);
    let last = UndoableRollback {
        seq,
        from: from.clone(),
        after: Some(after.as_ref().unwrap_or(tree).clone()),
        paths: paths.clone(),
        is_undo: undoes.is_some(),
        position_before,
        position: if paths.is_empty() { *to } else { position_before },
        iteration: state.iteration,
        memory: checkpoint::save_memory(state),
    };
    let undone = state.rollback.last.replace(last);
    undone.filter(|it| Some(it.seq) == *undoes).map(|it| it.memory)
}
