//! `workspace/didChangeWatchedFiles`: which files is looked up, not believed.

use crate::lsp::session::ServerState;
use crate::workspace::Invalidation;

pub(crate) fn handle(shared: &ServerState) {
    shared.lookout().invalidate(Invalidation { tree: true, ..Invalidation::FILES });
}
