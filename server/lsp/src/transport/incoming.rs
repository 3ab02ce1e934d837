//! Requests of the client in flight: which ids are in use, and which request a cancellation refers to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tower_lsp::jsonrpc::Id;

/// One request, although its id may have been used before.
pub(super) type RequestGeneration = u64;

#[derive(Default)]
pub(super) struct IncomingRequests {
    book: Mutex<IncomingTable>,
}

#[derive(Default)]
struct IncomingTable {
    open: HashMap<Id, (RequestGeneration, RequestStage)>,
    last: RequestGeneration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestStage {
    /// Behind what was received before it.
    Waiting,
    Running,
}

impl IncomingRequests {
    /// `None`: the id belongs to a request that still wants its answer.
    pub(super) fn register_request(&self, id: &Id) -> Option<RequestGeneration> {
        let mut book = self.lock_table();
        if book.open.contains_key(id) {
            return None;
        }
        book.last += 1;
        let ticket = book.last;
        book.open.insert(id.clone(), (ticket, RequestStage::Waiting));
        Some(ticket)
    }

    /// `false`: it was cancelled while it waited, and answered then.
    pub(super) fn start_request(&self, id: &Id, ticket: RequestGeneration) -> bool {
        match self.lock_table().open.get_mut(id) {
            Some((its, stage)) if *its == ticket => {
                *stage = RequestStage::Running;
                true
            }
            _ => false,
        }
    }

    /// Just before the answer is sent: who has it may use the id again.
    pub(super) fn finish_request(&self, id: &Id) {
        self.lock_table().open.remove(id);
    }

    /// Where the request was. One that waited is taken out and the caller's to answer.
    pub(super) fn cancel_request(&self, id: &Id) -> Option<RequestStage> {
        let mut book = self.lock_table();
        let (_, stage) = *book.open.get(id)?;
        if stage == RequestStage::Waiting {
            book.open.remove(id);
        }
        Some(stage)
    }

    fn lock_table(&self) -> MutexGuard<'_, IncomingTable> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
