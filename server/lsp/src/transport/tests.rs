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

struct Odd {
    client: Client,
    counted: AtomicUsize,
    sent_count: Arc<AtomicUsize>,
    unblock: Mutex<Receiver<()>>,
}

#[async_trait]
impl LanguageServer for Odd {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        Ok(InitializeResult::default())
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

#[expect(clippy::unused_async, reason = "handlers are async, whether they wait or not")]
impl Odd {
    async fn echo(&self, params: Value) -> Result<Value> {
        Ok(params)
    }

    async fn panics(&self, _: Value) -> Result<Value> {
        tokio::task::yield_now().await;
        panic!("as it is meant to")
    }

    async fn panics_in_silence(&self, _: Value) {
        panic!("as it is meant to")
    }

    async fn hangs(&self, _: Value) -> Result<Value> {
        std::future::pending().await
    }

    async fn hangs_in_silence(&self, _: Value) {
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
    async fn asks_and_leaves(&self, _: Value) -> Result<Value> {
        let told = async {
            while self.unblock.lock().unwrap().try_recv().is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = self.client.send_request::<ShowMessageRequest>(question()) => {}
            () = told => {}
        }
        Ok(Value::Null)
    }

    async fn talks(&self, params: Value) -> Result<Value> {
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
struct Talk {
    input: Option<PipeWriter>,
    output: Frames<PipeReader>,
    pump: JoinHandle<ConnectionEnd>,
    sent_count: Arc<AtomicUsize>,
    unblock: Sender<()>,
    last_id: i64,
}

/// Far longer than timely handlers take, even on a busy machine.
const QUICK: TransportLimits = TransportLimits {
    request: Duration::from_secs(3),
    command: TIMEOUT,
    notification: Duration::from_secs(3),
    question: Duration::from_secs(3),
    goodbye: Duration::from_millis(400),
};

/// Limits for handlers that must not time out.
const PATIENT: TransportLimits =
    TransportLimits { request: TIMEOUT, command: TIMEOUT, notification: TIMEOUT, question: TIMEOUT, ..QUICK };

impl Talk {
    fn begin(limits: TransportLimits) -> Self {
        let ((input, ours), (theirs, output)) = (pipe().unwrap(), pipe().unwrap());
        let (sent_count, (unblock, blocked)) = (Arc::new(AtomicUsize::new(0)), channel());
        let heard = Arc::clone(&sent_count);
        let pump = thread::spawn(move || {
            let server = |client| Odd {
                client,
                counted: AtomicUsize::new(0),
                sent_count: heard,
                unblock: Mutex::new(blocked),
            };
            let (service, socket) = LspService::build(server)
                .custom_method("echo", Odd::echo)
                .custom_method("panics", Odd::panics)
                .custom_method("panicsInSilence", Odd::panics_in_silence)
                .custom_method("hangs", Odd::hangs)
                .custom_method("hangsInSilence", Odd::hangs_in_silence)
                .custom_method("blocks", Odd::blocks)
                .custom_method("count", Odd::count)
                .custom_method("counted", Odd::counted)
                .custom_method("asks", Odd::asks)
                .custom_method("asksAndLeaves", Odd::asks_and_leaves)
                .custom_method("talks", Odd::talks)
                .finish();
            run(service, socket, input, output, limits).unwrap()
        });
        let input = Some(ours);
        let mut talk = Self { input, output: Frames::new(theirs), pump, sent_count, unblock, last_id: 0 };
        let id = talk.ask("initialize", &json!({"capabilities": {}}));
        assert_eq!(talk.hear()["id"], id);
        talk
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input.as_ref().unwrap(), "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Receives the next message.
    fn hear(&mut self) -> Value {
        match self.output.next() {
            Frame::Body(body) => serde_json::from_slice(&body).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Expects this response as the next message.
    #[track_caller]
    fn result(&mut self, id: i64) -> Value {
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    #[track_caller]
    fn error(&mut self, id: i64) -> i64 {
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer["error"]["code"].as_i64().unwrap()
    }

    /// Checks that the server still works.
    #[track_caller]
    fn is_well(&mut self) {
        let id = self.ask("echo", &json!({"x": 1}));
        assert_eq!(self.result(id), json!({"x": 1}));
    }

    /// Ends the connection; returns how it ended and how long that took.
    fn exit(mut self) -> (ConnectionEnd, Duration) {
        let begin = Instant::now();
        self.tell("exit", &Value::Null);
        let ended = self.pump.join().unwrap();
        (ended, begin.elapsed())
    }
}

#[test]
fn a_panic_is_answered_with_an_error() {
    let mut talk = Talk::begin(PATIENT);
    for _ in 0..3 {
        let id = talk.ask("panics", &json!({}));
        assert_eq!(talk.error(id), -32603);
        // Its id is free again.
        talk.last_id -= 1;
    }
    talk.is_well();
    talk.tell("panicsInSilence", &json!({}));
    talk.is_well();
    let id = talk.ask("shutdown", &Value::Null);
    assert_eq!(talk.result(id), Value::Null);
    assert_eq!(talk.exit().0, ConnectionEnd::Properly);
}

#[test]
fn a_handler_that_hangs_times_out_and_blocks_no_other() {
    let mut talk = Talk::begin(QUICK);
    let hangs = talk.ask("hangs", &json!({}));
    talk.is_well();
    assert_eq!(talk.error(hangs), -32603);
    talk.tell("hangsInSilence", &json!({}));
    talk.is_well();
}

#[test]
fn exit_is_obeyed_while_everything_hangs() {
    let mut talk = Talk::begin(PATIENT);
    talk.ask("blocks", &json!({}));
    talk.ask("echo", &json!({}));
    let unblock = talk.unblock.clone();
    let (ended, time) = talk.exit();
    assert_eq!(ended, ConnectionEnd::WithoutShutdown);
    assert!(time < TIMEOUT / 2, "{time:?}");
    unblock.send(()).unwrap();
}

#[test]
fn the_end_of_the_input_is_obeyed_while_everything_hangs() {
    let mut talk = Talk::begin(PATIENT);
    talk.ask("hangs", &json!({}));
    talk.tell("hangsInSilence", &json!({}));
    talk.ask("echo", &json!({}));
    talk.input = None;
    assert_eq!(talk.pump.join().unwrap(), ConnectionEnd::WithoutShutdown);
}

#[test]
fn a_running_request_is_cancelled_at_once() {
    let mut talk = Talk::begin(PATIENT);
    for _ in 0..3 {
        let id = talk.ask("hangs", &json!({}));
        talk.is_well();
        talk.tell("$/cancelRequest", &json!({"id": id}));
        assert_eq!(talk.error(id), -32800);
    }
}

#[test]
fn a_waiting_request_is_cancelled_at_once() {
    let mut talk = Talk::begin(PATIENT);
    talk.tell("hangsInSilence", &json!({}));
    let waits = talk.ask("panics", &json!({}));
    talk.tell("$/cancelRequest", &json!({"id": waits}));
    assert_eq!(talk.error(waits), -32800);
    talk.tell("$/cancelRequest", &json!({"id": waits}));
    // The id is free, and the cancelled request does not run in its place.
    talk.last_id -= 1;
    let again = talk.ask("echo", &json!({}));
    talk.tell("$/cancelRequest", &json!({"id": again}));
    assert_eq!(talk.error(again), -32800);
}

#[test]
fn an_id_that_is_in_use_is_refused() {
    let mut talk = Talk::begin(PATIENT);
    let id = talk.ask("hangs", &json!({}));
    talk.last_id -= 1;
    talk.ask("echo", &json!({}));
    assert_eq!(talk.error(id), -32600);
    talk.tell("$/cancelRequest", &json!({"id": id}));
    assert_eq!(talk.error(id), -32800);
    talk.is_well();
}

#[test]
fn notifications_keep_their_order_and_requests_see_what_came_before_them() {
    let mut talk = Talk::begin(PATIENT);
    for step in (0..2000).step_by(100) {
        let asked: Vec<(i64, usize)> = (step + 1..=step + 100)
            .map(|to| {
                talk.tell("count", &json!({"to": to}));
                (talk.ask("counted", &json!({})), to)
            })
            .collect();
        for (id, to) in asked {
            assert_eq!(talk.result(id), to);
        }
    }
}

#[test]
fn unanswered_requests_to_the_client_block_nothing_and_time_out() {
    let mut talk = Talk::begin(TransportLimits { question: Duration::from_secs(6), ..PATIENT });
    // Two hundred open requests: the oldest are rejected.
    for _ in 0..200 {
        talk.ask("asks", &json!({}));
    }
    let (mut questions, mut refused) = (0, 0);
    while questions < 200 || refused < 200 - 64 {
        let message = talk.hear();
        if message["method"].is_string() {
            questions += 1;
        } else {
            assert_eq!(message["error"]["code"], -32800, "{message}");
            refused += 1;
        }
    }
    // The others are still pending and block nothing.
    let id = talk.ask("echo", &json!({"x": 1}));
    assert_eq!(talk.result(id), json!({"x": 1}));
    while refused < 200 {
        assert_eq!(talk.hear()["error"]["code"], -32800);
        refused += 1;
    }
    talk.is_well();
}

#[test]
fn a_response_reaches_its_request_and_an_unknown_one_is_dropped() {
    let mut talk = Talk::begin(PATIENT);
    // More than would fit if they waited for each other.
    let asked: Vec<i64> = (0..50).map(|_| talk.ask("asks", &json!({}))).collect();
    let questions: Vec<Value> = asked.iter().map(|_| talk.hear()["id"].clone()).collect();
    for (id, question) in asked.iter().zip(&questions) {
        let answer = json!({"jsonrpc": "2.0", "id": question, "result": {"title": "Yes"}});
        talk.send(&answer);
        assert_eq!(talk.result(*id), "Yes");
        talk.send(&answer);
    }
    talk.send(&json!({"jsonrpc": "2.0", "id": "never asked", "result": null}));
    let id = talk.ask("asks", &json!({}));
    let question = talk.hear()["id"].clone();
    talk.send(&json!({"jsonrpc": "2.0", "id": question, "error": {"code": -32601, "message": "no"}}));
    assert_eq!(talk.error(id), -32601);
    talk.is_well();
}

#[test]
fn a_late_response_is_ignored() {
    let mut talk = Talk::begin(PATIENT);
    let id = talk.ask("asksAndLeaves", &json!({}));
    let question = talk.hear()["id"].clone();
    talk.unblock.send(()).unwrap();
    assert_eq!(talk.result(id), Value::Null);
    talk.send(&json!({"jsonrpc": "2.0", "id": question, "result": null}));
    talk.is_well();
}

#[test]
fn a_sender_waits_for_a_client_that_does_not_read() {
    let mut talk = Talk::begin(PATIENT);
    let id = talk.ask("talks", &json!({"times": 20_000}));
    let sent_count = settled(&talk.sent_count);
    assert!(sent_count < 2_000, "{sent_count} of a kilobyte each");
    // The response may overtake the last message before it, since they take different paths to the queue.
    let heard: Vec<Value> = (0..=20_000).map(|_| talk.hear()).collect();
    assert_eq!(heard.iter().filter(|it| it["method"] == "window/logMessage").count(), 20_000);
    assert_eq!(heard.iter().filter(|it| it["id"] == id).count(), 1);
    // The client can also leave while it does not read.
    talk.sent_count.store(0, Ordering::SeqCst);
    talk.ask("talks", &json!({"times": 20_000}));
    settled(&talk.sent_count);
    assert_eq!(talk.exit().0, ConnectionEnd::WithoutShutdown);
}

/// More than fits by chance, far less than all.
const ENOUGH: usize = 100;

/// The count, once it is large enough and stable for a while.
fn settled(count: &AtomicUsize) -> usize {
    let until = Instant::now() + TIMEOUT;
    let mut before = count.load(Ordering::SeqCst);
    loop {
        thread::sleep(Duration::from_millis(500));
        let now = count.load(Ordering::SeqCst);
        if now == before && now > ENOUGH {
            return now;
        }
        assert!(Instant::now() < until, "still talking: {now}");
        before = now;
    }
}

#[test]
fn an_error_of_a_handler_is_passed_on() {
    let mut talk = Talk::begin(PATIENT);
    let id = talk.ask("textDocument/hover", &json!({}));
    assert_eq!(talk.error(id), Error::invalid_params("").code.code());
}
