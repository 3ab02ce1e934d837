//! Transport between a client's pipes and a `LspService`. Answers every request regardless of the client's
//! input and of handler failures, and ends when the client has ended.
//!
//! ```text
//! stdin ─ frames ─ message ─┬─ calls ────▶ scheduler ─▶ service ─┐
//!   (this thread, input)    ├─ responses ─▶ outgoing             ├─▶ outbox ─▶ stdout (writer thread)
//!                           └─ refusals, cancellations ──────────┘
//! ```
//! This thread never waits for the runtime, so `exit`, the end of stdin and a dead editor take effect even if a handler
//! hangs. All queues are bounded: a client that sends faster than it is served waits, and so does a server that sends
//! faster than the client reads. Nothing here depends on tasks and loops.

mod follow_ups;
mod frames;
mod incoming;
mod input;
mod message;
#[cfg(test)]
mod mutated;
mod outgoing;
mod parent_process;
mod scheduler;
#[cfg(test)]
mod tests;
mod writer;

use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use futures::{Stream, StreamExt};
use loopkeeper_system::runtime::new_runtime;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_lsp::ClientSocket;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

pub(crate) use self::follow_ups::spawn_after_response;
use self::frames::{Frame, Frames};
use self::incoming::{IncomingRequests, RequestStage};
use self::input::{ClientInput, ClientState};
use self::message::ClientMessage;
use self::outgoing::OutgoingRequests;
pub(crate) use self::scheduler::LanguageService;
use self::scheduler::{QueuedCall, Scheduler, SharedService};
use self::writer::{Outbox, outbox_channel};

/// Byte budget of the calls queued for the scheduler.
const BYTE_BUDGET: u32 = 4 << 20;
/// The memory of a call in addition to its body: an estimate for its parsed values.
const CALL_OVERHEAD: u32 = 1 << 10;
/// Poll interval while a queue is full.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(1);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long pending messages are flushed after `exit`.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeouts. Constants of the product; tests use shorter ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransportLimits {
    /// A request. Clients give up earlier than this.
    pub(crate) request: Duration,
    /// `workspace/executeCommand`: a rollback or a diff of a large tree takes long.
    pub(crate) command: Duration,
    /// A notification: everything received after it waits.
    pub(crate) notification: Duration,
    /// A request to the client, such as a question to the user.
    pub(crate) question: Duration,
    /// After `exit` or the end of stdin, how long a client may take to read the next byte.
    pub(crate) drain: Duration,
}

impl Default for TransportLimits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(60),
            command: Duration::from_secs(300),
            notification: Duration::from_secs(20),
            question: Duration::from_secs(600),
            drain: Duration::from_secs(1),
        }
    }
}

impl TransportLimits {
    fn timeout_for(&self, method: &str) -> Duration {
        if method == "workspace/executeCommand" { self.command } else { self.request }
    }
}

/// How the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// As specified.
    AfterShutdown,
    WithoutShutdown,
}

/// Serves until the client sends `exit` or disconnects. Does not wait for handlers that hang: their resources are freed
/// with the process.
pub(crate) fn run<S: LanguageService + 'static>(
    service: S,
    socket: ClientSocket,
    input: impl Read + AsFd,
    output: impl Write + AsFd + Send + 'static,
    limits: TransportLimits,
) -> io::Result<ConnectionEnd> {
    let (thread_ends, wake) = io::pipe()?;
    let writer_guard = ShutdownGuard(wake.try_clone()?);
    let runtime_guard = ShutdownGuard(wake);
    let (requests, responses) = socket.split();
    let (outbox, queue) = outbox_channel();
    let (calls, queued) = unbounded_channel();
    let reader = MessageReader {
        frames: Frames::new(ClientInput::new(input, thread_ends)),
        service: Arc::new(SharedService::new(service)),
        incoming: Arc::default(),
        outgoing: Arc::new(OutgoingRequests::new(responses, limits.question)),
        outbox,
        budget: Arc::new(Semaphore::new(BYTE_BUDGET as usize)),
        calls,
        is_shut_down: false,
        drain: limits.drain,
    };
    let scheduler = Scheduler {
        service: Arc::clone(&reader.service),
        incoming: Arc::clone(&reader.incoming),
        outbox: reader.outbox.clone(),
        limits,
    };
    let (done, written) = channel();
    thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let _ = queue.write_to(output);
        drop((done, writer_guard));
    })?;
    let forwarder =
        OutgoingForwarder { requests, outgoing: Arc::clone(&reader.outgoing), outbox: reader.outbox.clone() };
    thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || serve(scheduler, queued, forwarder, runtime_guard))?;
    Ok(reader.run(&written))
}

/// Drop guard: wakes the reader when an essential thread ends, even by panic.
struct ShutdownGuard(PipeWriter);

impl Drop for ShutdownGuard {
    fn drop(&mut self) {
        let _ = self.0.write_all(b"!");
    }
}

/// Runs on the runtime's thread.
fn serve<S: LanguageService + 'static, Q: Stream<Item = Request> + Unpin + Send + 'static>(
    scheduler: Scheduler<S>,
    queued: UnboundedReceiver<QueuedCall>,
    forwarder: OutgoingForwarder<Q>,
    guard: ShutdownGuard,
) -> io::Result<()> {
    let runtime = new_runtime()?;
    runtime.spawn(forwarder.forward());
    runtime.block_on(scheduler.run(queued));
    drop(guard);
    Ok(())
}

/// Forwards the notifications and requests of the server to the client.
struct OutgoingForwarder<Q> {
    requests: Q,
    outgoing: Arc<OutgoingRequests>,
    outbox: Outbox,
}

impl<Q: Stream<Item = Request> + Unpin> OutgoingForwarder<Q> {
    async fn forward(mut self) {
        while let Some(request) = self.requests.next().await {
            if let Some(id) = request.id() {
                self.outgoing.register_request(id);
            }
            self.outbox.send(without_null(request)).await;
        }
    }
}

/// For missing parameters tower-lsp sends `null`, which the specification does not allow.
fn without_null(request: Request) -> Request {
    if request.params() != Some(&Value::Null) {
        return request;
    }
    let (method, id, _) = request.into_parts();
    let request = Request::build(method);
    match id {
        Some(id) => request.id(id).finish(),
        None => request.finish(),
    }
}

struct MessageReader<R, S> {
    frames: Frames<ClientInput<R>>,
    service: Arc<SharedService<S>>,
    incoming: Arc<IncomingRequests>,
    outgoing: Arc<OutgoingRequests>,
    outbox: Outbox,
    budget: Arc<Semaphore>,
    calls: UnboundedSender<QueuedCall>,
    is_shut_down: bool,
    drain: Duration,
}

impl<R: Read + AsFd, S: LanguageService> MessageReader<R, S> {
    fn run(mut self, written: &Receiver<()>) -> ConnectionEnd {
        loop {
            let continues = match self.frames.next() {
                Frame::End => false,
                Frame::Bad(why) => self.send_refusal(&message::bad_frame(why)),
                Frame::Body(body) => self.handle_message(&body),
            };
            if !continues {
                break;
            }
        }
        let Self { calls, outbox, is_shut_down, drain, .. } = self;
        drop(calls);
        drain_outbox(written, &outbox, drain);
        if is_shut_down { ConnectionEnd::AfterShutdown } else { ConnectionEnd::WithoutShutdown }
    }

    /// Returns whether to continue reading.
    fn handle_message(&mut self, body: &[u8]) -> bool {
        match message::parse_message(body) {
            ClientMessage::Call(request) => self.queue_call(request, body.len()),
            ClientMessage::Refused(response) => self.send_refusal(&response),
            ClientMessage::Exit => false,
            ClientMessage::Ignored => true,
            ClientMessage::Answer(answer) => {
                self.outgoing.deliver_response(answer);
                true
            }
            ClientMessage::Cancel(id) => {
                match self.incoming.cancel_request(&id) {
                    None => {}
                    Some(RequestStage::Running) => self.service.cancel(&id),
                    Some(RequestStage::Waiting) => {
                        let error = Error::new(ErrorCode::RequestCancelled);
                        self.outbox.send_now(&Response::from_error(id, error));
                    }
                }
                true
            }
        }
    }

    fn queue_call(&mut self, request: Request, length: usize) -> bool {
        let mut ticket = None;
        if let Some(id) = request.id().cloned() {
            ticket = self.incoming.register_request(&id);
            if ticket.is_none() {
                return self.send_refusal(&id_in_use(id));
            }
        }
        match request.method() {
            "initialize" => self.watch_editor(&request),
            "shutdown" => self.is_shut_down |= ticket.is_some(),
            _ => {}
        }
        let weight =
            u32::try_from(length).unwrap_or(BYTE_BUDGET).saturating_add(CALL_OVERHEAD).min(BYTE_BUDGET);
        let Some(budget) = self.wait_for_room(weight) else { return false };
        self.calls.send(QueuedCall { request, ticket, budget }).is_ok()
    }

    /// Waits while a client sends invalid messages and does not read the replies.
    fn send_refusal(&mut self, response: &Response) -> bool {
        self.outbox.send_now(response);
        let outbox = self.outbox.clone();
        self.wait_until(|| outbox.has_room().then_some(())).is_some()
    }

    fn wait_for_room(&mut self, weight: u32) -> Option<OwnedSemaphorePermit> {
        let budget = Arc::clone(&self.budget);
        self.wait_until(|| Arc::clone(&budget).try_acquire_many_owned(weight).ok())
    }

    /// `None` if the client has ended, or neither sends nor reads any more.
    fn wait_until<T>(&mut self, poll: impl Fn() -> Option<T>) -> Option<T> {
        let mut rest = MIN_POLL_INTERVAL;
        let (mut read, mut since) = (self.outbox.bytes_written(), Instant::now());
        loop {
            if let Some(found) = poll() {
                return Some(found);
            }
            match self.frames.input().wait_readable(rest) {
                ClientState::Over => return None,
                ClientState::HungUp
                    if read == self.outbox.bytes_written() && since.elapsed() > self.drain =>
                {
                    return None;
                }
                ClientState::HungUp if read == self.outbox.bytes_written() => {}
                ClientState::HungUp | ClientState::Connected => {
                    (read, since) = (self.outbox.bytes_written(), Instant::now());
                }
            }
            rest = MAX_POLL_INTERVAL.min(2 * rest);
        }
    }

    fn watch_editor(&mut self, initialize: &Request) {
        let pid = initialize.params().and_then(|it| it.get("processId")).and_then(Value::as_i64);
        if let Some(pid) = pid {
            self.frames.input().watch_editor(pid);
        }
    }
}

fn id_in_use(id: Id) -> Response {
    let error = Error {
        code: ErrorCode::InvalidRequest,
        message: "a request with this id is not answered yet".into(),
        data: None,
    };
    Response::from_error(id, error)
}

/// Flushes pending messages while the client reads them.
fn drain_outbox(written: &Receiver<()>, outbox: &Outbox, drain: Duration) {
    let until = Instant::now() + FLUSH_TIMEOUT;
    let mut before = outbox.bytes_written();
    while let Err(RecvTimeoutError::Timeout) = written.recv_timeout(drain) {
        let now = outbox.bytes_written();
        if now == before || Instant::now() > until {
            return;
        }
        before = now;
    }
}
