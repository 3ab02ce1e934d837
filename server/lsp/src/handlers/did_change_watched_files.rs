//! `workspace/didChangeWatchedFiles`: triggers a refresh; the reported file names are not relied on.

use crate::session::ServerState;
use loopkeeper_workspace::Invalidation;

pub(crate) fn handle(shared: &ServerState) {
    shared.index().invalidate(Invalidation { tree: true, ..Invalidation::FILES });
}
