//! Requests of the server in flight. Each is answered exactly once: by the client, or with an error after a timeout or
//! above the limit of open requests.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::Sink;
use tokio::task::AbortHandle;
use tower_lsp::ExitedError;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Response};

/// More questions than a user can handle.
const MAX_OPEN: usize = 64;

/// The sink for responses: tower-lsp's own map, whose type has no public name.
type ResponseSink = Pin<Box<dyn Sink<Response, Error = ExitedError> + Send>>;

pub(super) struct OutgoingRequests {
    open: Mutex<VecDeque<(Id, AbortHandle)>>,
    responses: Mutex<ResponseSink>,
    timeout: Duration,
}

impl OutgoingRequests {
    pub(super) fn new(
        responses: impl Sink<Response, Error = ExitedError> + Send + 'static,
        timeout: Duration,
    ) -> Self {
        Self { open: Mutex::default(), responses: Mutex::new(Box::pin(responses)), timeout }
    }

    /// Called before the request is sent, on the runtime.
    pub(super) fn register_request(self: &Arc<Self>, id: &Id) {
        let (requests, expired, timeout) = (Arc::clone(self), id.clone(), self.timeout);
        let timer = tokio::spawn(async move {
            tokio::time::sleep(timeout).await;
            requests.give_up(&expired);
        });
        let oldest = {
            let mut open = self.lock_open();
            open.push_back((id.clone(), timer.abort_handle()));
            let oldest = open.front().filter(|_| open.len() > MAX_OPEN);
            oldest.map(|(id, _)| id.clone())
        };
        if let Some(oldest) = oldest {
            self.give_up(&oldest);
        }
    }

    /// Discards a response to an unknown or expired request.
    pub(super) fn deliver_response(&self, answer: Response) {
        let Some(timer) = self.remove_request(answer.id()) else { return };
        timer.abort();
        let mut responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        // It panics if the receiver was dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| responses.as_mut().start_send(answer)));
    }

    fn give_up(&self, id: &Id) {
        let error = Error {
            code: ErrorCode::RequestCancelled,
            message: "the client did not answer".into(),
            data: None,
        };
        self.deliver_response(Response::from_error(id.clone(), error));
    }

    fn remove_request(&self, id: &Id) -> Option<AbortHandle> {
        let mut open = self.lock_open();
        let place = open.iter().position(|(it, _)| it == id)?;
        open.remove(place).map(|(_, timer)| timer)
    }

    fn lock_open(&self) -> MutexGuard<'_, VecDeque<(Id, AbortHandle)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
