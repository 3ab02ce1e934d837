//! The steps of a rollback, by command of the user or by the loop: a snapshot of the current tree, the restored files,
//! and the next step. Whether the loop rolls back is decided in [`super::regression`].

use crate::journal::{PauseReason, Record, SnapshotWhen};
use crate::loop_state::{LoopState, RegressionReview, RollbackCause, SnapshotFacts, VolatileState};
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

use super::endings::pause_or_end;
use super::next_step::NextStep;
use super::{Decision, Effect, hook_session, undo, weakening};

/// The files that the keeper restored.
pub(super) struct RestoredFiles {
    pub(super) to: u32,
    pub(super) tree: String,
    pub(super) from: String,
    pub(super) after: String,
    pub(super) paths: Vec<String>,
    pub(super) refused: Vec<String>,
}

/// The current tree is stored: files may be overwritten.
pub(super) fn handle_snapshot(
    state: &LoopState,
    live: &mut VolatileState,
    (to, paths): (u32, Vec<String>),
    snapshot: SnapshotFacts,
) -> Vec<Decision> {
    let (tree, since) = match live.work.rollback() {
        Some(RollbackCause::Regression { .. }) => {
            let judged = state.tree_before().filter(|_| snapshot.tree == state.tree.judged);
            if judged.is_none() {
                // The user changed files since the iteration: it is kept.
                live.work.end_rollback();
                live.regression = RegressionReview::Kept(state.iteration);
                return vec![Decision::Effect(Effect::Continue)];
            }
            (judged.map(str::to_owned), None)
        }
        Some(RollbackCause::Undo { .. }) => {
            let undone = undo::undoable_rollback(state).ok();
            (undone.map(|it| it.from.clone()), undone.and_then(|it| it.after.clone()))
        }
        Some(RollbackCause::Order) | None => (state.tree_after(to).map(str::to_owned), None),
    };
    let Some(tree) = tree else {
        live.work.end_rollback();
        return continue_after(state);
    };
    let record = Record::SnapshotTaken {
        iteration: state.iteration,
        when: SnapshotWhen::BeforeRollback,
        tree: snapshot.tree,
        head: snapshot.head,
        not_covered: snapshot.not_covered,
        undoes: live.work.rollback().and_then(RollbackCause::undone_seq),
    };
    vec![Decision::Record(record), Decision::Effect(Effect::Rollback { to, tree, paths, since })]
}

/// The files are restored: results of other files must not be used for decisions.
pub(super) fn handle_restored(
    state: &LoopState,
    live: &mut VolatileState,
    restored: RestoredFiles,
) -> Vec<Decision> {
    let RestoredFiles { to, tree, from, after, paths, refused } = restored;
    let cause = live.work.end_rollback();
    let undoes = cause.as_ref().and_then(RollbackCause::undone_seq);
    let (reason, then) = match cause {
        Some(RollbackCause::Regression { reason }) => (Some(reason), NextStep::round(state).take(live)),
        Some(RollbackCause::Order | RollbackCause::Undo { .. }) | None => (None, continue_after(state)),
    };
    let restored = weakening::restored_files(state, &tree, &paths, &refused);
    let after = Some(after).filter(|it| *it != tree);
    let record = Record::RolledBack { to, tree, from, paths, reason, restored, after, undoes };
    std::iter::once(Decision::Record(record)).chain(then).collect()
}

/// A failed rollback of the user is refused; a failed rollback of the loop needs the user.
pub(super) fn handle_failure(state: &LoopState, live: &mut VolatileState, message: Message) -> Vec<Decision> {
    match live.work.end_rollback() {
        Some(RollbackCause::Regression { reason }) if state.stop.is_none() => {
            let message = message.map_fact(|error| {
                tr!("{reason}, and its changes could not be rolled back: {error}", reason, error)
            });
            let steps = pause_or_end(state, PauseReason::Workspace, message);
            hook_session::release_on_pause(state, live, steps)
        }
        Some(_) | None => continue_after(state),
    }
}

/// Commands that arrived during the rollback are carried out now.
fn continue_after(state: &LoopState) -> Vec<Decision> {
    let continues = state.stop.is_some() || state.pause.is_none();
    if continues { vec![Decision::Effect(Effect::Continue)] } else { Vec::new() }
}
