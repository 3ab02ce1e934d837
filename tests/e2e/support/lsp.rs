//! A test editor on the protocol level: starts the real server, communicates over its pipes, keeps every message.
//! Requests of the server are answered with `null` unless the test sets another reply.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Value, json};

use super::world::TIMEOUT;

pub(crate) struct Editor {
    child: Child,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    stdout: Option<ChildStdout>,
    inbox: Arc<Inbox>,
    last_id: i64,
}

/// The server's messages, and the replies to its requests.
#[derive(Default)]
struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    messages: Vec<Value>,
    /// Arrival times of the messages.
    arrived: Vec<Instant>,
    answers: HashMap<String, Reply>,
    is_closed: bool,
    /// The first invalid frame.
    broken: Option<String>,
}

/// The editor's reaction to a request of the server.
#[derive(Clone)]
pub(crate) enum Reply {
    With(Value),
    /// Computed from the request's params.
    By(fn(&Value) -> Value),
    Never,
}

impl Editor {
    /// Starts the server and reads its output.
    pub(crate) fn start(command: Command) -> Self {
        let mut editor = Self::start_unread(command);
        editor.start_reading();
        editor
    }

    /// Starts the server and leaves its stdout unread.
    pub(crate) fn start_unread(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut stderr = child.stderr.take().expect("a pipe");
        // An unread log must not stop the server, and a failing test shows it.
        thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            let _ = std::io::stderr().write_all(text.as_bytes());
        });
        Self {
            stdin: Arc::new(Mutex::new(child.stdin.take())),
            stdout: child.stdout.take(),
            child,
            inbox: Arc::default(),
            last_id: 0,
        }
    }

    /// Starts reading everything.
    pub(crate) fn start_reading(&mut self) {
        let Some(stdout) = self.stdout.take() else { return };
        let (inbox, stdin) = (Arc::clone(&self.inbox), Arc::clone(&self.stdin));
        thread::spawn(move || inbox.read(BufReader::new(stdout), &stdin));
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// `initialize` and `initialized`, as an editor with one folder; `more` overrides its capabilities.
    pub(crate) fn initialize(&mut self, root: &Path, more: &Value) -> Value {
        let uri = uri(root);
        let mut params = json!({
            "processId": std::process::id(),
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": "work"}],
            "capabilities": {"general": {"positionEncodings": ["utf-8", "utf-16"]}},
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        let answer = self.request("initialize", &params);
        self.notify("initialized", &json!({}));
        answer
    }

    /// Sets the editor's reply to requests of this method.
    pub(crate) fn answers(&self, method: &str, reply: Reply) {
        self.inbox.lock().answers.insert(method.to_owned(), reply);
    }

    /// Sends a request and waits for the result; an error fails the test.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.call(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    /// Sends a request and waits for the whole response.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Sends a request without waiting.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    /// Waits for the whole response to a request.
    #[track_caller]
    pub(crate) fn answer(&self, id: i64) -> Value {
        self.until(&format!("answer to {id}"), |it| is_answer(it) && it["id"] == id)
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub(crate) fn send(&self, message: &Value) {
        self.write(&frame(message));
    }

    /// Writes any bytes; an ended server reads none.
    pub(crate) fn write(&self, bytes: &[u8]) {
        if let Some(stdin) = self.stdin.lock().unwrap().as_mut() {
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    /// A writer of this editor for another thread.
    pub(crate) fn writer(&self) -> MessageWriter {
        MessageWriter(Arc::clone(&self.stdin))
    }

    pub(crate) fn close_stdin(&self) {
        *self.stdin.lock().unwrap() = None;
    }

    pub(crate) fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// Waits for the first notification or request of the server that matches.
    #[track_caller]
    pub(crate) fn wait_for(&self, method: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        self.until(method, |it| it["method"] == method && is_it(&it["params"]))["params"].clone()
    }

    /// Waits for the first message that matches.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + TIMEOUT;
        let mut state = self.inbox.lock();
        let mut seen = 0;
        loop {
            assert!(state.broken.is_none(), "the server wrote no frame: {:?}", state.broken);
            if let Some(found) = state.messages[seen..].iter().find(|it| is_it(it)) {
                return found.clone();
            }
            seen = state.messages.len();
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !state.is_closed, "no {what} in {:#?}", last(&state.messages));
            state = self.inbox.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until the last notification of this kind and subject matches.
    #[track_caller]
    pub(crate) fn until_last(
        &self,
        method: &str,
        about: impl Fn(&Value) -> bool,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let until = Instant::now() + TIMEOUT;
        let mut state = self.inbox.lock();
        loop {
            let last = state.messages.iter().rev().find(|it| it["method"] == method && about(&it["params"]));
            if let Some(found) = last.map(|it| &it["params"]).filter(|it| is_so(it)) {
                return found.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            let over = left.is_zero() || state.is_closed || state.broken.is_some();
            assert!(!over, "the last {method} is {last:#?}; broken: {:?}", state.broken);
            state = self.inbox.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Number of messages of this method sent by the server so far.
    pub(crate) fn count(&self, method: &str) -> usize {
        count(&self.inbox.lock().messages, method)
    }

    /// Arrival times of the messages of this method.
    pub(crate) fn arrivals(&self, method: &str) -> Vec<Instant> {
        let state = self.inbox.lock();
        let of_method = state.messages.iter().zip(&state.arrived).filter(|(it, _)| it["method"] == method);
        of_method.map(|(_, at)| *at).collect()
    }

    /// Waits for the n-th message of this method.
    #[track_caller]
    pub(crate) fn until_count(&self, method: &str, number: usize) {
        let state = self.inbox.lock();
        let lacks = |it: &mut State| count(&it.messages, method) < number && !it.is_closed;
        let (state, _) = self.inbox.changed.wait_timeout_while(state, TIMEOUT, lacks).unwrap();
        assert!(count(&state.messages, method) >= number, "{:#?}", last(&state.messages));
    }

    /// All messages of the server so far.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.inbox.lock().messages.clone()
    }

    /// Waits for the server's end; the exit code, or `None` if a signal ended it.
    #[track_caller]
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.exit_within(TIMEOUT).code()
    }

    #[track_caller]
    pub(crate) fn exit_within(&mut self, time: Duration) -> ExitStatus {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a pid");
        // Until it is reaped, its pid is not reused.
        let handle = pidfd_open(pid, PidfdFlags::empty()).expect("a process");
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        let ended = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time)).unwrap() > 0;
        assert!(ended, "the server still runs; it said {:#?}", last(&self.messages()));
        self.child.wait().expect("an exit status")
    }

    /// Sends `shutdown` and `exit`, like an editor that closes.
    #[track_caller]
    pub(crate) fn quit(&mut self) {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": "shutdown"}));
        assert_eq!(self.answer(self.last_id)["result"], Value::Null);
        self.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
        assert_eq!(self.exit_code(), Some(0));
    }

    /// Waits until the server has closed its side; returns all its messages.
    #[track_caller]
    pub(crate) fn all_messages(&self) -> Vec<Value> {
        let state = self.inbox.lock();
        let (state, time) =
            self.inbox.changed.wait_timeout_while(state, TIMEOUT, |it| !it.is_closed).unwrap();
        assert!(!time.timed_out(), "the server's stdout is still open");
        assert!(state.broken.is_none(), "the server wrote no frame: {:?}", state.broken);
        state.messages.clone()
    }
}

impl Drop for Editor {
    /// Leaves no server behind if a test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The writing half of an editor.
pub(crate) struct MessageWriter(Arc<Mutex<Option<ChildStdin>>>);

impl MessageWriter {
    /// `false`: the server has ended.
    pub(crate) fn write(&self, bytes: &[u8]) -> bool {
        let mut stdin = self.0.lock().unwrap();
        stdin.as_mut().is_some_and(|it| it.write_all(bytes).is_ok())
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut stdout: BufReader<ChildStdout>, stdin: &Mutex<Option<ChildStdin>>) {
        loop {
            let message = match read_frame(&mut stdout) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(broken) => {
                    self.lock().broken = Some(broken);
                    break;
                }
            };
            let mut state = self.lock();
            let reply = message["method"]
                .as_str()
                .filter(|_| message.get("id").is_some())
                .map(|method| state.answers.get(method).cloned().unwrap_or(Reply::With(Value::Null)));
            let id = message["id"].clone();
            let result = match reply {
                Some(Reply::With(result)) => Some(result),
                Some(Reply::By(answer)) => Some(answer(&message["params"])),
                Some(Reply::Never) | None => None,
            };
            state.messages.push(message);
            state.arrived.push(Instant::now());
            drop(state);
            self.changed.notify_all();
            if let Some(result) = result {
                let answer = frame(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
                let _ = stdin.lock().unwrap().as_mut().map(|it| it.write_all(&answer));
            }
        }
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}

/// One message as sent over the wire.
pub(crate) fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A path as editors write it.
pub(crate) fn uri(path: &Path) -> String {
    lsp_types::Url::from_file_path(path).expect("an absolute path").into()
}

/// Accepts exactly what the specification allows.
fn read_frame(stdout: &mut impl BufRead) -> Result<Option<Value>, String> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).map_err(|it| it.to_string())? == 0 {
            return if length.is_none() { Ok(None) } else { Err("half a frame".to_owned()) };
        }
        let line = line.strip_suffix("\r\n").ok_or_else(|| format!("a header ends wrongly: {line:?}"))?;
        match line.split_once(": ") {
            None if line.is_empty() => break,
            Some(("Content-Length", number)) => length = number.parse().ok(),
            _ => return Err(format!("an unknown header: {line:?}")),
        }
    }
    let mut body = vec![0; length.ok_or("no length")?];
    stdout.read_exact(&mut body).map_err(|it| it.to_string())?;
    serde_json::from_slice(&body).map(Some).map_err(|it| it.to_string())
}

fn count(messages: &[Value], method: &str) -> usize {
    messages.iter().filter(|it| it["method"] == method).count()
}

fn is_answer(message: &Value) -> bool {
    message.get("method").is_none() && message.get("id").is_some()
}

/// The last messages, enough to diagnose a failure.
fn last(messages: &[Value]) -> &[Value] {
    &messages[messages.len().saturating_sub(20)..]
}
