//! The control socket: JSON lines by which editors, terminals and hooks send requests to a running keeper. The protocol
//! is public (`server/CONTROL.md`). Decides nothing: a request becomes a [`UserCommand`] and is answered after the
//! keeper has made its record durable.

mod foreign_connections;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use loopkeeper_agent::acp::client::PermissionAnswer;
use loopkeeper_core::decide::UserCommand;
use loopkeeper_text::message::Message;
use loopkeeper_text::{sanitize, tr};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tracing::{Instrument as _, debug, debug_span};

use self::foreign_connections::ForeignConnections;
use super::agent_hooks::{HookBroker, HookEvent, HookQuestion, HookVerdict};
use super::authority::{AUTHORIZE, RequestSender};
use super::control_error::ControlError;
use super::spawn_boxed_local;
use loopkeeper_system::state_dir::socket::MAX_LINE;

/// Write timeout; the connection is closed after it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an ending keeper waits until its last answers are delivered.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
const REMEMBERED_ANSWERS: usize = 64;
/// Skipped paths of a rollback in its answer; longer lists would not fit a line.
const MAX_SKIPPED: usize = 50;

/// A request for the main loop: a command and the channel for its answer.
pub struct ControlRequest {
    pub command: UserCommand,
    pub answer: oneshot::Sender<ControlReply>,
}

/// The answer to a command, sent after its record is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlReply {
    Done {
        seq: u64,
    },
    /// Result of a rollback.
    Restored {
        seq: u64,
        written: usize,
        removed: usize,
        refused: Vec<SkippedPath>,
    },
    /// Answer to a permission request of the agent.
    Permitted(PermissionAnswer),
    /// The reply is sent later, by a later event.
    Later,
    Refused {
        code: &'static str,
        message: Message,
    },
}

/// A path that a rollback did not change, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedPath {
    pub path: String,
    pub why: String,
}

/// One request line.
#[derive(Debug, Deserialize)]
pub struct RequestLine {
    pub id: String,
    #[serde(rename = "do")]
    pub verb: String,
    #[serde(default)]
    pub now: bool,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub iteration: Option<u32>,
    #[serde(default)]
    pub paths: Vec<String>,
    #[serde(default)]
    pub what: Option<String>,
}

/// The answer to a request; `None`: it is not answered yet.
type PendingAnswer = watch::Receiver<Option<ControlReply>>;

/// State shared by connections and the main loop.
#[derive(Clone)]
pub struct ControlState {
    pub loop_id: String,
    pub requests: mpsc::Sender<ControlRequest>,
    pub watch_events: broadcast::Sender<WatchEvent>,
    pub seq: Rc<Cell<u64>>,
    /// Routes hook requests to the running agent.
    pub hooks: HookBroker,
    /// Number of requests that were read and not yet answered.
    pending_replies: watch::Sender<usize>,
    /// The newest requests by id, for clients that repeat one after a lost connection.
    answers: Rc<RefCell<VecDeque<(String, PendingAnswer)>>>,
}

impl ControlState {
    pub fn new(loop_id: &str, requests: mpsc::Sender<ControlRequest>) -> Self {
        let (watch_events, _) = broadcast::channel(256);
        let (pending_replies, _) = watch::channel(0);
        Self {
            loop_id: loop_id.to_owned(),
            requests,
            watch_events,
            seq: Rc::default(),
            hooks: HookBroker::default(),
            pending_replies,
            answers: Rc::default(),
        }
    }

    /// Waits until all requests are answered: the last one may have ended the loop.
    pub async fn wait_answered(&self) {
        let mut pending = self.pending_replies.subscribe();
        // A client that does not read must not block the keeper.
        let _ = tokio::time::timeout(LAST_ANSWERS, pending.wait_for(|it| *it == 0)).await;
    }
}

/// Events for watchers that are not in the journal.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum WatchEvent {
    /// A record became durable; watchers read it from the journal.
    Recorded { seq: u64 },
    /// The agent's activity as one sanitised line.
    Activity { text: String },
    /// A piece of the agent's output, sanitised.
    Output { iteration: u32, text: String },
}

/// Accepts connections until the keeper drops the task.
pub async fn serve(listener: UnixListener, control: ControlState) {
    let mut foreign = ForeignConnections::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) if is_same_user(&stream) => {
                let sender = RequestSender::of(&stream);
                let connection = spawn_boxed_local(serve_connection((stream, sender), control.clone()));
                if sender != RequestSender::User {
                    foreign.add(connection);
                }
            }
            Ok(_) => {}
            // Out of descriptors or similar: an immediate retry would spin.
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

fn is_same_user(stream: &UnixStream) -> bool {
    let me = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|it| it.uid() == me)
}

async fn serve_connection((stream, sender): (UnixStream, RequestSender), control: ControlState) {
    let (read, write) = stream.into_split();
    let mut connection = Connection { read: BufReader::new(read), write };
    let hello = json!({
        "loopkeeper": 1, "version": env!("CARGO_PKG_VERSION"), "loop": control.loop_id, "seq": control.seq.get(),
    });
    if connection.send(&hello).await.is_err() {
        return;
    }
    while let Some(line) = connection.line().await {
        let Ok(request) = serde_json::from_slice::<RequestLine>(&line) else {
            let _ = connection
                .send(&refusal("", "badArgument", &tr!("not a request of this protocol").into()))
                .await;
            return;
        };
        if request.verb == "watch" {
            let _ = connection.send(&json!({"id": request.id, "ok": true, "seq": control.seq.get()})).await;
            return stream_events(connection, control).await;
        }
        if request.verb == "hook" {
            // Its answer may be the last one before the keeper exits.
            let _pending = PendingReplyGuard::new(&control.pending_replies);
            match answer_hook((&mut connection, sender), &control, &request.id, &line).await {
                Some(answer) if connection.send(&answer).await.is_ok() => continue,
                _ => return,
            }
        }
        let _pending = PendingReplyGuard::new(&control.pending_replies);
        let answer = match sender.refused_command(&request.verb, request.what.as_deref()) {
            Some(attempt) => submit_command(&control, attempt).await,
            None if request.verb == AUTHORIZE => ControlReply::Done { seq: control.seq.get() },
            None => ask_once(&control, &request).await,
        };
        if connection.send(&reply_json(&request.id, &answer)).await.is_err() {
            return;
        }
    }
}

/// Handles a hook request without a timeout. `None`: the hook disconnected.
async fn answer_hook(
    (connection, sender): (&mut Connection, RequestSender),
    control: &ControlState,
    id: &str,
    line: &[u8],
) -> Option<serde_json::Value> {
    let Ok(question) = serde_json::from_slice::<HookQuestion>(line) else {
        return Some(refusal(id, "badArgument", &tr!("not a hook request that this keeper knows").into()));
    };
    if question.own && sender.is_job() {
        // The session belongs to the user, so processes of the loop cannot send requests for it.
        let verdict = HookVerdict::allow("the caller is a process of the loop, not the session of its user");
        return Some(json!({"id": id, "ok": true, "seq": control.seq.get(), "verdict": verdict}));
    }
    tokio::select! {
        verdict = verdict(control, question) => {
            Some(json!({"id": id, "ok": true, "seq": control.seq.get(), "verdict": verdict}))
        }
        _ = connection.line() => None,
    }
}

async fn verdict(control: &ControlState, question: HookQuestion) -> HookVerdict {
    debug!(hook = ?question.hook, "hook of the agent");
    if question.hook == HookEvent::Permission {
        return answer_permission(control, &question).await;
    }
    let Some(subagent) = control.hooks.subagent_event(&question) else {
        return control.hooks.ask_agent(question).await;
    };
    match submit_command(control, UserCommand::Subagent(subagent)).await {
        ControlReply::Refused { code: "conflict", message } => HookVerdict::deny(message.to_string()),
        _ => HookVerdict::allow(""),
    }
}

/// Any failure denies the permission.
async fn answer_permission(control: &ControlState, question: &HookQuestion) -> HookVerdict {
    let words = match control.hooks.permission_text(question) {
        Ok(words) => words,
        Err(why) => return HookVerdict::deny(why),
    };
    match submit_command(control, UserCommand::Permission(words)).await {
        ControlReply::Done { .. } | ControlReply::Permitted(PermissionAnswer::Allowed) => {
            HookVerdict::allow("")
        }
        ControlReply::Permitted(PermissionAnswer::Denied(why)) => HookVerdict::deny(why),
        ControlReply::Refused { message, .. } => HookVerdict::deny(message.to_string()),
        ControlReply::Permitted(PermissionAnswer::Cancelled) => HookVerdict::cancel(),
        ControlReply::Later | ControlReply::Restored { .. } => {
            HookVerdict::deny("it was not answered".to_owned())
        }
    }
}

/// A request with the id of an earlier one gets the same answer and has no effect.
async fn ask_once(control: &ControlState, request: &RequestLine) -> ControlReply {
    let earlier =
        control.answers.borrow().iter().find(|(id, _)| *id == request.id).map(|(_, answer)| answer.clone());
    if let Some(mut answer) = earlier {
        let answered = answer.wait_for(Option::is_some).await;
        return answered.ok().and_then(|it| it.clone()).unwrap_or_else(ending_reply);
    }
    let (answered, answer) = watch::channel(None);
    {
        let mut answers = control.answers.borrow_mut();
        answers.push_front((request.id.clone(), answer));
        answers.truncate(REMEMBERED_ANSWERS);
    }
    let span = debug_span!("control", verb = request.verb, id = request.id);
    let reply = log_duration(handle_request(control, request)).instrument(span).await;
    answered.send_replace(Some(reply.clone()));
    reply
}

async fn log_duration(reply: impl Future<Output = ControlReply>) -> ControlReply {
    let began = Instant::now();
    let reply = reply.await;
    let refused = match &reply {
        ControlReply::Refused { code, .. } => Some(*code),
        _ => None,
    };
    debug!(duration = ?began.elapsed(), refused, "answered");
    reply
}

async fn handle_request(control: &ControlState, request: &RequestLine) -> ControlReply {
    let command = match parse_command(request) {
        Ok(command) => command,
        Err((code, message)) => return ControlReply::Refused { code, message: message.into() },
    };
    submit_command(control, command).await
}

async fn submit_command(control: &ControlState, command: UserCommand) -> ControlReply {
    let (answer, answered) = oneshot::channel();
    if control.requests.send(ControlRequest { command, answer }).await.is_err() {
        return ending_reply();
    }
    answered.await.unwrap_or_else(|_| ending_reply())
}

fn ending_reply() -> ControlReply {
    ControlReply::Refused { code: "conflict", message: tr!("the loop is ending").into() }
}

fn parse_command(request: &RequestLine) -> Result<UserCommand, (&'static str, String)> {
    let text = || match request.text.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(("badArgument", tr!("`{verb}` needs a text", verb = request.verb))),
    };
    Ok(match request.verb.as_str() {
        "stop" if request.now => UserCommand::StopNow,
        "stop" => UserCommand::Stop,
        "pause" => UserCommand::Pause,
        "resume" if request.what.as_deref() == Some("anyway") => UserCommand::ResumeAnyway,
        "resume" => UserCommand::Resume,
        "steer" => UserCommand::Steer(text()?),
        "answer" => match request.what.clone() {
            Some(question) => UserCommand::AnswerTo { question, text: text()? },
            None => UserCommand::Answer(text()?),
        },
        "reset" if request.what.as_deref() == Some("breaker") => UserCommand::ResetBreaker,
        "reset" if request.what.as_deref() == Some("session") => UserCommand::ResetSession,
        "accept" => UserCommand::AcceptWeakening { by: request.what.as_deref().map(name_of_user) },
        "check" => UserCommand::Check,
        "saved" => {
            let file = request.what.clone().ok_or(("badArgument", tr!("`saved` needs a file").to_owned()))?;
            UserCommand::Saved { file, sum: text()? }
        }
        "rollback" => {
            let to =
                request.iteration.ok_or(("badArgument", tr!("`rollback` needs an iteration").to_owned()))?;
            UserCommand::Rollback { to, paths: request.paths.clone() }
        }
        "undo-rollback" => UserCommand::UndoRollback,
        other => return Err(("unsupported", tr!("this keeper does not know `{verb}`", verb = other))),
    })
}

/// A client's words for its user, fit to be stored.
fn name_of_user(text: &str) -> String {
    const MAX_CHARS: usize = 100;
    sanitize::line_within(text.trim(), MAX_CHARS)
}

/// Streams events until the client disconnects or the loop ends. Slow clients miss events; they never block the
/// keeper.
async fn stream_events(mut connection: Connection, control: ControlState) {
    let mut watch_events = control.watch_events.subscribe();
    drop(control);
    loop {
        tokio::select! {
            item = watch_events.recv() => match item {
                Ok(item) => if connection.send(&item).await.is_err() { return },
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return,
            },
            line = connection.line() => if line.is_none() { return },
        }
    }
}

fn reply_json(id: &str, answer: &ControlReply) -> serde_json::Value {
    match answer {
        ControlReply::Permitted(_) | ControlReply::Later => {
            refusal(id, "conflict", &tr!("no answer to a request").into())
        }
        ControlReply::Done { seq } => json!({"id": id, "ok": true, "seq": seq}),
        ControlReply::Restored { seq, written, removed, refused } => {
            let refused = refused.get(..MAX_SKIPPED).unwrap_or(refused);
            let restored = json!({"written": written, "removed": removed, "refused": refused});
            json!({"id": id, "ok": true, "seq": seq, "restored": restored})
        }
        ControlReply::Refused { code, message } => refusal(id, code, message),
    }
}

fn refusal(id: &str, code: &str, message: &Message) -> serde_json::Value {
    json!({"id": id, "ok": false, "error": ControlError::new(code, message)})
}

/// Counts one pending reply until it is dropped.
struct PendingReplyGuard(watch::Sender<usize>);

impl PendingReplyGuard {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|it| *it += 1);
        Self(count.clone())
    }
}

impl Drop for PendingReplyGuard {
    fn drop(&mut self) {
        self.0.send_modify(|it| *it -= 1);
    }
}

struct Connection {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
}

impl Connection {
    async fn send(&mut self, value: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
        tokio::time::timeout(WRITE_TIMEOUT, self.write.write_all(&line)).await.map_err(late)?
    }

    /// The next line without its terminator; `None` at EOF, on an error, or if the line is too long.
    async fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let mut limited = (&mut self.read).take(MAX_LINE as u64);
        let n = limited.read_until(b'\n', &mut line).await.ok()?;
        (n > 0 && line.pop() == Some(b'\n')).then_some(line)
    }
}

#[cfg(test)]
mod mutated;
#[cfg(test)]
mod tests;
