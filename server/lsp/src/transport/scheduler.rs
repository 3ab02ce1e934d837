//! Schedules messages: notifications run one after another in order of arrival; a request starts when everything before
//! it is done and runs concurrently with what follows. If a handler panics or hangs, the server continues and the
//! request is answered.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures::FutureExt;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_service::Service;
use tracing::{Instrument as _, Span, debug, error, error_span, warn};

use super::TransportLimits;
use super::follow_ups::with_follow_ups;
use super::incoming::{IncomingRequests, RequestGeneration};
use super::writer::Outbox;
use loopkeeper_text::tr;

/// Maximum number of concurrent requests. The next one waits, and so does everything received after it.
const MAX_RUNNING: u32 = 256;
/// The share of requests about documents: their responses can be large. They never wait for the user.
const MAX_QUERIES: u32 = 64;

/// A call queued by the reader.
pub(super) struct QueuedCall {
    pub(super) request: Request,
    /// Set for requests; notifications have none.
    pub(super) ticket: Option<RequestGeneration>,
    /// Its share of the byte budget; released when the scheduler takes the call.
    pub(super) budget: OwnedSemaphorePermit,
}

/// The service behind the transport: a `LspService`.
pub(crate) trait LanguageService:
    Service<Request, Response = Option<Response>, Future: Send> + Send
{
}

impl<S: Service<Request, Response = Option<Response>, Future: Send> + Send> LanguageService for S {}

/// The service, shared by reader and scheduler. Locked only for operations that do not wait.
pub(super) struct SharedService<S>(Mutex<S>);

pub(super) struct Scheduler<S> {
    pub(super) service: Arc<SharedService<S>>,
    pub(super) incoming: Arc<IncomingRequests>,
    pub(super) outbox: Outbox,
    pub(super) limits: TransportLimits,
}

/// The permits of a request: one of all requests, and one of queries.
type RequestPermits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

enum CallOutcome {
    Answered(Option<Response>),
    Panicked,
    TimedOut,
}

impl CallOutcome {
    /// Called within the span of the request.
    fn log(&self, duration: Duration) {
        match self {
            // The handlers of `initialize` and `$/setTrace` may have turned the trace on.
            Self::Answered(_) if Span::current().is_disabled() => {}
            Self::Answered(response) => {
                let error = response.as_ref().and_then(Response::error).map(|it| it.code.code());
                debug!(?duration, error, "handled");
            }
            Self::Panicked => error!(?duration, "the handler panicked"),
            Self::TimedOut => warn!(?duration, "the handler took too long and was given up"),
        }
    }
}

impl<S: LanguageService + 'static> Scheduler<S> {
    /// Runs until the reader ends and everything is answered.
    pub(super) async fn run(self, mut calls: UnboundedReceiver<QueuedCall>) {
        let running = Arc::new(Semaphore::new(MAX_RUNNING as usize));
        let queries = Arc::new(Semaphore::new(MAX_QUERIES as usize));
        while let Some(QueuedCall { request, ticket, budget }) = calls.recv().await {
            drop(budget);
            match (request.id().cloned(), ticket) {
                (Some(id), Some(ticket)) => {
                    let is_query = request.method().starts_with("textDocument/");
                    let query = if is_query { Arc::clone(&queries).acquire_owned().await.ok() } else { None };
                    let Ok(any) = Arc::clone(&running).acquire_owned().await else { return };
                    // A client that does not read gets no further responses, which would pile up here.
                    self.outbox.wait_for_room().await;
                    if self.incoming.start_request(&id, ticket) {
                        self.start_request(request, id, (any, query)).await;
                    }
                }
                _ => {
                    self.service.handle(request, self.limits.notification).await;
                }
            }
        }
        let _ = running.acquire_many(MAX_RUNNING).await;
        self.outbox.close_queue();
    }

    /// Polls the handler once here, so that it reads the documents as they were when the request arrived.
    async fn start_request(&self, request: Request, id: Id, permits: RequestPermits) {
        let limit = self.limits.timeout_for(request.method());
        let (service, incoming, outbox) = (self.service.clone(), self.incoming.clone(), self.outbox.clone());
        let mut work = Box::pin(async move {
            let (response, follow_ups) = with_follow_ups(service.run_request(request, &id, limit)).await;
            incoming.finish_request(&id);
            outbox.send(response).await;
            for it in follow_ups {
                tokio::spawn(it);
            }
            drop(permits);
        });
        if poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await.is_pending() {
            tokio::spawn(work);
        }
    }
}

impl<S: LanguageService> SharedService<S> {
    pub(super) fn new(service: S) -> Self {
        Self(Mutex::new(service))
    }

    /// Aborts the handler of a running request, which then resolves with an error.
    pub(super) fn cancel(&self, id: &Id) {
        let id = match id {
            Id::Number(number) => json!(number),
            Id::String(text) => json!(text),
            Id::Null => return,
        };
        let cancel = Request::build("$/cancelRequest").params(json!({ "id": id })).finish();
        let Some(handled) = self.call(cancel) else { return };
        // The future only looks up the id.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            Box::pin(handled).as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
        }));
    }

    async fn run_request(&self, request: Request, id: &Id, limit: Duration) -> Response {
        let method = request.method().to_owned();
        let why = match self.handle(request, limit).await {
            CallOutcome::Answered(Some(response)) => return response,
            // The service does not answer requests whose method begins with `$/`.
            CallOutcome::Answered(None) => {
                return Response::from_error(id.clone(), Error::new(ErrorCode::MethodNotFound));
            }
            CallOutcome::Panicked => tr!(
                "`{method}` failed inside the server; the server's log (its standard error) shows where",
                method
            ),
            CallOutcome::TimedOut => {
                tr!(
                    "`{method}` took longer than {seconds} s and was cancelled",
                    method,
                    seconds = limit.as_secs()
                )
            }
        };
        // The service still holds the id of a request that did not finish.
        self.cancel(id);
        let error = Error { code: ErrorCode::InternalError, message: why.into(), data: None };
        Response::from_error(id.clone(), error)
    }

    async fn handle(&self, request: Request, limit: Duration) -> CallOutcome {
        let id = request.id().map(tracing::field::display);
        // An error span, so that an error always names its request.
        let span = error_span!("request", method = request.method(), id);
        let began = Instant::now();
        let handled = async {
            let outcome = self.run_handler(request, limit).await;
            outcome.log(began.elapsed());
            outcome
        };
        handled.instrument(span).await
    }

    async fn run_handler(&self, request: Request, limit: Duration) -> CallOutcome {
        let Some(handled) = self.call(request) else { return CallOutcome::Panicked };
        match timeout(limit, AssertUnwindSafe(handled).catch_unwind()).await {
            Ok(Ok(Ok(response))) => CallOutcome::Answered(response),
            Ok(Ok(Err(_exited))) => CallOutcome::Answered(None),
            Ok(Err(_panic)) => CallOutcome::Panicked,
            Err(_) => CallOutcome::TimedOut,
        }
    }

    fn call(&self, request: Request) -> Option<S::Future> {
        let mut service = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        catch_unwind(AssertUnwindSafe(|| service.call(request))).ok()
    }
}
