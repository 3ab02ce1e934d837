//! Tests the transport with a server of a few unusual methods: handlers that panic, hang, block, wait for the client or
//! send too much. Properties of any server are tested with the real binary.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lsp_types::notification::LogMessage;
use lsp_types::request::ShowMessageRequest;
use lsp_types::{
    InitializeParams, InitializeResult, LogMessageParams, MessageType, ShowMessageRequestParams,
};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::{Client, LanguageServer, LspService, async_trait};

use super::frames::{Frame, Frames};
use super::{ConnectionEnd, TransportLimits, run};

/// Far longer than any step takes.
const TIMEOUT: Duration = Duration::from_secs(30);

struct TestServer {
    client: Client,
    counted: AtomicUsize,
    sent_count: Arc<AtomicUsize>,
    unblock: Mutex<Receiver<()>>,
}

#[async_trait]
impl LanguageServer for TestServer {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        Ok(InitializeResult::default())
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

#[expect(clippy::unused_async, reason = "handlers are async, whether they wait or not")]
impl TestServer {
    async fn echo(&self, params: Value) -> Result<Value> {
        Ok(params)
    }

    async fn panics(&self, _: Value) -> Result<Value> {
        tokio::task::yield_now().await;
        panic!("as it is meant to")
    }

    async fn panics_in_notification(&self, _: Value) {
        panic!("as it is meant to")
    }

    async fn hangs(&self, _: Value) -> Result<Value> {
        std::future::pending().await
    }

    async fn hangs_in_notification(&self, _: Value) {
        std::future::pending::<()>().await;
    }

    /// Blocks the whole thread, as a system call would.
    async fn blocks(&self, _: Value) -> Result<Value> {
        let _ = self.unblock.lock().unwrap().recv_timeout(TIMEOUT);
        Ok(Value::Null)
    }

    /// Works in steps, with pauses in which other calls could overtake it.
    async fn count(&self, params: Value) {
        let expect = params["to"].as_u64().unwrap() as usize;
        for _ in 0..expect % 7 {
            tokio::task::yield_now().await;
        }
        let before = self.counted.swap(expect, Ordering::SeqCst);
        assert_eq!(before + 1, expect, "out of order");
    }

    async fn counted(&self, _: Value) -> Result<usize> {
        Ok(self.counted.load(Ordering::SeqCst))
    }

    async fn asks(&self, _: Value) -> Result<Value> {
        let answer = self.client.send_request::<ShowMessageRequest>(question()).await?;
        Ok(json!(answer.map(|it| it.title)))
    }

    /// Does not wait for the answer, only for the test's signal.
    async fn asks_and_ends(&self, _: Value) -> Result<Value> {
        let signal = async {
            while self.unblock.lock().unwrap().try_recv().is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = self.client.send_request::<ShowMessageRequest>(question()) => {}
            () = signal => {}
        }
        Ok(Value::Null)
    }

    async fn sends_many(&self, params: Value) -> Result<Value> {
        for _ in 0..params["times"].as_u64().unwrap() {
            let words = LogMessageParams { typ: MessageType::LOG, message: "x".repeat(1000) };
            self.client.send_notification::<LogMessage>(words).await;
            self.sent_count.fetch_add(1, Ordering::SeqCst);
        }
        Ok(Value::Null)
    }
}

fn question() -> ShowMessageRequestParams {
    ShowMessageRequestParams { typ: MessageType::INFO, message: "?".to_owned(), actions: None }
}

/// The client's side.
struct TestClient {
    input: Option<PipeWriter>,
    output: Frames<PipeReader>,
    connection: JoinHandle<ConnectionEnd>,
    sent_count: Arc<AtomicUsize>,
    unblock: Sender<()>,
    last_id: i64,
}

/// Far longer than timely handlers take, even on a busy machine.
const SHORT_TIMEOUTS: TransportLimits = TransportLimits {
    request: Duration::from_secs(3),
    command: TIMEOUT,
    notification: Duration::from_secs(3),
    question: Duration::from_secs(3),
    drain: Duration::from_millis(400),
};

/// Limits for handlers that must not time out.
const NO_TIMEOUTS: TransportLimits = TransportLimits {
    request: TIMEOUT,
    command: TIMEOUT,
    notification: TIMEOUT,
    question: TIMEOUT,
    ..SHORT_TIMEOUTS
};

impl TestClient {
    fn connect(limits: TransportLimits) -> Self {
        let ((input, ours), (theirs, output)) = (pipe().unwrap(), pipe().unwrap());
        let (sent_count, (unblock, blocked)) = (Arc::new(AtomicUsize::new(0)), channel());
        let server_count = Arc::clone(&sent_count);
        let connection = thread::spawn(move || {
            let server = |client| TestServer {
                client,
                counted: AtomicUsize::new(0),
                sent_count: server_count,
                unblock: Mutex::new(blocked),
            };
            let (service, socket) = LspService::build(server)
                .custom_method("echo", TestServer::echo)
                .custom_method("panics", TestServer::panics)
                .custom_method("panicsInNotification", TestServer::panics_in_notification)
                .custom_method("hangs", TestServer::hangs)
                .custom_method("hangsInNotification", TestServer::hangs_in_notification)
                .custom_method("blocks", TestServer::blocks)
                .custom_method("count", TestServer::count)
                .custom_method("counted", TestServer::counted)
                .custom_method("asks", TestServer::asks)
                .custom_method("asksAndEnds", TestServer::asks_and_ends)
                .custom_method("sendsMany", TestServer::sends_many)
                .finish();
            run(service, socket, input, output, limits).unwrap()
        });
        let input = Some(ours);
        let mut client =
            Self { input, output: Frames::new(theirs), connection, sent_count, unblock, last_id: 0 };
        let id = client.request("initialize", &json!({"capabilities": {}}));
        assert_eq!(client.receive()["id"], id);
        client
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input.as_ref().unwrap(), "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Receives the next message.
    fn receive(&mut self) -> Value {
        match self.output.next() {
            Frame::Body(body) => serde_json::from_slice(&body).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Expects this response as the next message.
    #[track_caller]
    fn result(&mut self, id: i64) -> Value {
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    #[track_caller]
    fn error(&mut self, id: i64) -> i64 {
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer["error"]["code"].as_i64().unwrap()
    }

    /// Checks that the server still works.
    #[track_caller]
    fn assert_responsive(&mut self) {
        let id = self.request("echo", &json!({"x": 1}));
        assert_eq!(self.result(id), json!({"x": 1}));
    }

    /// Ends the connection; returns how it ended and how long that took.
    fn exit(mut self) -> (ConnectionEnd, Duration) {
        let begin = Instant::now();
        self.notify("exit", &Value::Null);
        let ended = self.connection.join().unwrap();
        (ended, begin.elapsed())
    }
}

#[test]
fn a_panic_is_answered_with_an_error() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    for _ in 0..3 {
        let id = client.request("panics", &json!({}));
        assert_eq!(client.error(id), -32603);
        // Its id is free again.
        client.last_id -= 1;
    }
    client.assert_responsive();
    client.notify("panicsInNotification", &json!({}));
    client.assert_responsive();
    let id = client.request("shutdown", &Value::Null);
    assert_eq!(client.result(id), Value::Null);
    assert_eq!(client.exit().0, ConnectionEnd::AfterShutdown);
}

#[test]
fn a_handler_that_hangs_times_out_and_blocks_no_other() {
    let mut client = TestClient::connect(SHORT_TIMEOUTS);
    let hangs = client.request("hangs", &json!({}));
    client.assert_responsive();
    assert_eq!(client.error(hangs), -32603);
    client.notify("hangsInNotification", &json!({}));
    client.assert_responsive();
}

#[test]
fn exit_is_obeyed_while_everything_hangs() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    client.request("blocks", &json!({}));
    client.request("echo", &json!({}));
    let unblock = client.unblock.clone();
    let (ended, time) = client.exit();
    assert_eq!(ended, ConnectionEnd::WithoutShutdown);
    assert!(time < TIMEOUT / 2, "{time:?}");
    unblock.send(()).unwrap();
}

#[test]
fn the_end_of_the_input_is_obeyed_while_everything_hangs() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    client.request("hangs", &json!({}));
    client.notify("hangsInNotification", &json!({}));
    client.request("echo", &json!({}));
    client.input = None;
    assert_eq!(client.connection.join().unwrap(), ConnectionEnd::WithoutShutdown);
}

#[test]
fn a_running_request_is_cancelled_at_once() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    for _ in 0..3 {
        let id = client.request("hangs", &json!({}));
        client.assert_responsive();
        client.notify("$/cancelRequest", &json!({"id": id}));
        assert_eq!(client.error(id), -32800);
    }
}

#[test]
fn a_waiting_request_is_cancelled_at_once() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    client.notify("hangsInNotification", &json!({}));
    let waits = client.request("panics", &json!({}));
    client.notify("$/cancelRequest", &json!({"id": waits}));
    assert_eq!(client.error(waits), -32800);
    client.notify("$/cancelRequest", &json!({"id": waits}));
    // The id is free, and the cancelled request does not run in its place.
    client.last_id -= 1;
    let again = client.request("echo", &json!({}));
    client.notify("$/cancelRequest", &json!({"id": again}));
    assert_eq!(client.error(again), -32800);
}

#[test]
fn an_id_that_is_in_use_is_refused() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    let id = client.request("hangs", &json!({}));
    client.last_id -= 1;
    client.request("echo", &json!({}));
    assert_eq!(client.error(id), -32600);
    client.notify("$/cancelRequest", &json!({"id": id}));
    assert_eq!(client.error(id), -32800);
    client.assert_responsive();
}

#[test]
fn notifications_keep_their_order_and_requests_see_what_came_before_them() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    for step in (0..2000).step_by(100) {
        let asked: Vec<(i64, usize)> = (step + 1..=step + 100)
            .map(|to| {
                client.notify("count", &json!({"to": to}));
                (client.request("counted", &json!({})), to)
            })
            .collect();
        for (id, to) in asked {
            assert_eq!(client.result(id), to);
        }
    }
}

#[test]
fn unanswered_requests_to_the_client_block_nothing_and_time_out() {
    let mut client = TestClient::connect(TransportLimits { question: Duration::from_secs(6), ..NO_TIMEOUTS });
    // Two hundred open requests: the oldest are rejected.
    for _ in 0..200 {
        client.request("asks", &json!({}));
    }
    let (mut questions, mut refused) = (0, 0);
    while questions < 200 || refused < 200 - 64 {
        let message = client.receive();
        if message["method"].is_string() {
            questions += 1;
        } else {
            assert_eq!(message["error"]["code"], -32800, "{message}");
            refused += 1;
        }
    }
    // The others are still pending and block nothing.
    let id = client.request("echo", &json!({"x": 1}));
    assert_eq!(client.result(id), json!({"x": 1}));
    while refused < 200 {
        assert_eq!(client.receive()["error"]["code"], -32800);
        refused += 1;
    }
    client.assert_responsive();
}

#[test]
fn a_response_reaches_its_request_and_an_unknown_one_is_dropped() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    // More than would fit if they waited for each other.
    let asked: Vec<i64> = (0..50).map(|_| client.request("asks", &json!({}))).collect();
    let questions: Vec<Value> = asked.iter().map(|_| client.receive()["id"].clone()).collect();
    for (id, question) in asked.iter().zip(&questions) {
        let answer = json!({"jsonrpc": "2.0", "id": question, "result": {"title": "Yes"}});
        client.send(&answer);
        assert_eq!(client.result(*id), "Yes");
        client.send(&answer);
    }
    client.send(&json!({"jsonrpc": "2.0", "id": "never asked", "result": null}));
    let id = client.request("asks", &json!({}));
    let question = client.receive()["id"].clone();
    client.send(&json!({"jsonrpc": "2.0", "id": question, "error": {"code": -32601, "message": "no"}}));
    assert_eq!(client.error(id), -32601);
    client.assert_responsive();
}

#[test]
fn a_late_response_is_ignored() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    let id = client.request("asksAndEnds", &json!({}));
    let question = client.receive()["id"].clone();
    client.unblock.send(()).unwrap();
    assert_eq!(client.result(id), Value::Null);
    client.send(&json!({"jsonrpc": "2.0", "id": question, "result": null}));
    client.assert_responsive();
}

#[test]
fn a_sender_waits_for_a_client_that_does_not_read() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    let id = client.request("sendsMany", &json!({"times": 20_000}));
    let sent_count = settled(&client.sent_count);
    assert!(sent_count < 2_000, "{sent_count} of a kilobyte each");
    // The response may overtake the last message before it, since they take different paths to the queue.
    let received: Vec<Value> = (0..=20_000).map(|_| client.receive()).collect();
    assert_eq!(received.iter().filter(|it| it["method"] == "window/logMessage").count(), 20_000);
    assert_eq!(received.iter().filter(|it| it["id"] == id).count(), 1);
    // The client can also leave while it does not read.
    client.sent_count.store(0, Ordering::SeqCst);
    client.request("sendsMany", &json!({"times": 20_000}));
    settled(&client.sent_count);
    assert_eq!(client.exit().0, ConnectionEnd::WithoutShutdown);
}

/// More than fits by chance, far less than all.
const MIN_SENT: usize = 100;

/// The count, once it is large enough and stable for a while.
fn settled(count: &AtomicUsize) -> usize {
    let until = Instant::now() + TIMEOUT;
    let mut before = count.load(Ordering::SeqCst);
    loop {
        thread::sleep(Duration::from_millis(500));
        let now = count.load(Ordering::SeqCst);
        if now == before && now > MIN_SENT {
            return now;
        }
        assert!(Instant::now() < until, "still talking: {now}");
        before = now;
    }
}

#[test]
fn an_error_of_a_handler_is_passed_on() {
    let mut client = TestClient::connect(NO_TIMEOUTS);
    let id = client.request("textDocument/hover", &json!({}));
    assert_eq!(client.error(id), Error::invalid_params("").code.code());
}
