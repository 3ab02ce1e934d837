//! Requests for a round of checks between iterations. Its result is [`super::Event::ChecksDone`].

use super::{Decision, Effect};
use crate::loop_state::{LoopState, TreeWork, VolatileState};

/// Judges the files as they are now.
pub(super) fn request_checks(state: &LoopState, live: &mut VolatileState) -> Decision {
    live.work.tree = TreeWork::Checks;
    Decision::Effect(Effect::RunChecks { criteria: state.pinned_criteria(), repeats: 0 })
}

/// The same, unless checks are running: their result continues the loop.
pub(super) fn request_checks_once(state: &LoopState, live: &mut VolatileState) -> Vec<Decision> {
    if live.work.is_checking() { Vec::new() } else { vec![request_checks(state, live)] }
}
