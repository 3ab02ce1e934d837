//! Requests of the client in flight: which ids are in use, and which request a cancellation refers to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tower_lsp::jsonrpc::Id;

/// Identifies one request, because its id may have been used before.
pub(super) type RequestGeneration = u64;

#[derive(Default)]
pub(super) struct IncomingRequests {
    table: Mutex<IncomingTable>,
}

#[derive(Default)]
struct IncomingTable {
    open: HashMap<Id, (RequestGeneration, RequestStage)>,
    last: RequestGeneration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestStage {
    /// Queued after the messages received before it.
    Waiting,
    Running,
}

impl IncomingRequests {
    /// `None` if the id belongs to a request that is still unanswered.
    pub(super) fn register_request(&self, id: &Id) -> Option<RequestGeneration> {
        let mut table = self.lock_table();
        if table.open.contains_key(id) {
            return None;
        }
        table.last += 1;
        let ticket = table.last;
        table.open.insert(id.clone(), (ticket, RequestStage::Waiting));
        Some(ticket)
    }

    /// `false` if it was cancelled while it was queued; it was answered then.
    pub(super) fn start_request(&self, id: &Id, ticket: RequestGeneration) -> bool {
        match self.lock_table().open.get_mut(id) {
            Some((its, stage)) if *its == ticket => {
                *stage = RequestStage::Running;
                true
            }
            _ => false,
        }
    }

    /// Called just before the response is sent, because the client may then reuse the id.
    pub(super) fn finish_request(&self, id: &Id) {
        self.lock_table().open.remove(id);
    }

    /// The stage that the request was in. A queued one is removed, and the caller must answer it.
    pub(super) fn cancel_request(&self, id: &Id) -> Option<RequestStage> {
        let mut table = self.lock_table();
        let (_, stage) = *table.open.get(id)?;
        if stage == RequestStage::Waiting {
            table.open.remove(id);
        }
        Some(stage)
    }

    fn lock_table(&self) -> MutexGuard<'_, IncomingTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
