//! `workspace/didChangeWatchedFiles`: which files is looked up, not believed.

use crate::session::ServerState;
use loopkeeper_workspace::Invalidation;

pub(crate) fn handle(shared: &ServerState) {
    shared.index().invalidate(Invalidation { tree: true, ..Invalidation::FILES });
}
