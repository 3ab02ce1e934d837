//! The client's requests that are not answered yet: which ids are in use, and what a cancellation finds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tower_lsp::jsonrpc::Id;

/// One request, although its id may have been used before.
pub(super) type Ticket = u64;

#[derive(Default)]
pub(super) struct Received {
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    open: HashMap<Id, (Ticket, Stage)>,
    last: Ticket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Behind what was received before it.
    Waiting,
    Running,
}

impl Received {
    /// `None`: the id belongs to a request that still wants its answer.
    pub(super) fn enter(&self, id: &Id) -> Option<Ticket> {
        let mut book = self.book();
        if book.open.contains_key(id) {
            return None;
        }
        book.last += 1;
        let ticket = book.last;
        book.open.insert(id.clone(), (ticket, Stage::Waiting));
        Some(ticket)
    }

    /// `false`: it was cancelled while it waited, and answered then.
    pub(super) fn begin(&self, id: &Id, ticket: Ticket) -> bool {
        match self.book().open.get_mut(id) {
            Some((its, stage)) if *its == ticket => {
                *stage = Stage::Running;
                true
            }
            _ => false,
        }
    }

    /// Just before the answer is sent: who has it may use the id again.
    pub(super) fn end(&self, id: &Id) {
        self.book().open.remove(id);
    }

    /// Where the request was. One that waited is taken out and the caller's to answer.
    pub(super) fn cancel(&self, id: &Id) -> Option<Stage> {
        let mut book = self.book();
        let (_, stage) = *book.open.get(id)?;
        if stage == Stage::Waiting {
            book.open.remove(id);
        }
        Some(stage)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
