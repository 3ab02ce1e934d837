//! `workspace/didChangeWatchedFiles`: which files is looked up, not believed.

use crate::lookout::Nudge;
use crate::lsp::shared::Shared;

pub(crate) fn handle(shared: &Shared) {
    shared.lookout().nudge(Nudge { tree: true, ..Nudge::FILES });
}
