//! The client of a keeper's control socket: sends one request and waits for its reply. The protocol is
//! `server/CONTROL.md`.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::failure::{Failure, FailureKind};
use super::loops::{LoopView, damaged_error};
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_keeper::control_error::ControlError;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::socket::MAX_LINE;
use loopkeeper_text::{sanitize, tr};

/// A reply waits for a durable record, so for a disk, not for an agent.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time between a keeper's lock and its socket.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum time for the answer of a keeper that may be stuck.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of a version's name.
const VERSION_CHARS: usize = 40;

/// The version of the control protocol that this program speaks.
const PROTOCOL: u64 = 1;

/// The first line of a keeper.
#[derive(Debug, Deserialize)]
struct KeeperGreeting {
    loopkeeper: u64,
    #[serde(default)]
    version: String,
}

/// The reply of a keeper.
#[derive(Debug, Deserialize)]
struct KeeperReply {
    ok: bool,
    error: Option<ControlError>,
    restored: Option<RollbackResult>,
}

/// Result of a rollback.
#[derive(Debug, Default, Deserialize)]
pub struct RollbackResult {
    pub written: usize,
    pub removed: usize,
    pub refused: Vec<UnrestoredPath>,
}

/// A path that was left as it is, with the reason.
#[derive(Debug, Deserialize)]
pub struct UnrestoredPath {
    pub path: String,
    pub why: String,
}

/// Sends `request`, an object with `do` and its arguments, to the loop's running keeper.
pub fn send(store: &StateDir, loop_id: &str, request: Value) -> Result<(), Failure> {
    send_for_reply(store, loop_id, request).map(drop)
}

/// Like [`send`], for a request whose reply may take as long as an iteration.
pub fn send_and_wait(store: &StateDir, loop_id: &str, request: Value) -> Result<(), Failure> {
    check_reply(exchange_within(store, loop_id, request, None)?).map(drop)
}

/// Rolls the files back to the state after an iteration. A keeper older than this program does not report the result.
pub fn roll_back(
    store: &StateDir,
    loop_id: &str,
    to: u32,
    paths: &[String],
) -> Result<Option<RollbackResult>, Failure> {
    Ok(send_for_reply(store, loop_id, json!({"do": "rollback", "iteration": to, "paths": paths}))?.restored)
}

/// Rolls the files back to the state before the last rollback.
pub fn undo_rollback(store: &StateDir, loop_id: &str) -> Result<Option<RollbackResult>, Failure> {
    Ok(send_for_reply(store, loop_id, json!({"do": "undo-rollback"}))?.restored)
}

/// Sends a request to a keeper that may have ended, with a short timeout.
pub(crate) fn ask_quickly(store: &StateDir, loop_id: &str, question: Value) -> Result<(), Failure> {
    let address = store.socket(loop_id)?;
    let failed = |error: io::Error| Failure::ended(error);
    let stream = UnixStream::connect(address.path()).map_err(failed)?;
    check_reply(send_request(&stream, question, Some(STARTUP_TIMEOUT)).map_err(failed)?).map(drop)
}

/// What a keeper answered to a question.
#[derive(Debug)]
pub(crate) enum KeeperAnswer {
    Accepted,
    Refused(Failure),
    /// Alive, but without an answer.
    Silent(Failure),
    /// There is no keeper, or it speaks another version of the protocol.
    None,
}

/// Asks a keeper that may have ended or been stopped.
pub(crate) fn ask_if_alive(store: &StateDir, loop_id: &str, question: Value) -> KeeperAnswer {
    let keeper = || store.keeper_of(&store.find(loop_id).ok()?).ok();
    if let Some(KeeperLiveness::Alive { stopped: true, .. }) = keeper() {
        return KeeperAnswer::Silent(stopped_error(loop_id));
    }
    let asked = store.socket(loop_id).map_err(io::Error::other).and_then(|address| {
        let stream = UnixStream::connect(address.path())?;
        send_request(&stream, question, Some(ANSWER_TIMEOUT))
    });
    let error = match asked.map(check_reply) {
        Ok(Ok(_)) => return KeeperAnswer::Accepted,
        Ok(Err(failure)) => return KeeperAnswer::Refused(failure),
        Err(error) if error.kind() == ErrorKind::Unsupported => return KeeperAnswer::None,
        Err(error) => error,
    };
    // A keeper closes its connections shortly before it exits.
    let until = Instant::now() + STARTUP_TIMEOUT;
    while keeper().is_some_and(KeeperLiveness::is_alive) {
        if Instant::now() >= until {
            return KeeperAnswer::Silent(silent_error(loop_id, &error));
        }
        sleep(POLL_INTERVAL);
    }
    KeeperAnswer::None
}

fn silent_error(loop_id: &str, error: &io::Error) -> Failure {
    Failure::conflict(tr!(
        "the keeper of loop {id} does not answer, and it decides whether an agent asked for this: {error}",
        id = loop_id,
        error
    ))
    .hint(tr!("Try again, or `kill` its process and `loopkeeper resume {id}`.", id = loop_id))
}

fn send_for_reply(store: &StateDir, loop_id: &str, request: Value) -> Result<KeeperReply, Failure> {
    check_reply(exchange(store, loop_id, request)?)
}

/// Converts the error in a reply.
fn check_reply(mut reply: KeeperReply) -> Result<KeeperReply, Failure> {
    match (reply.ok, reply.error.take()) {
        (true, _) => Ok(reply),
        (false, Some(error)) => {
            let kind = match error.code.as_str() {
                "badArgument" => FailureKind::Usage,
                "unsupported" => FailureKind::Unsupported,
                "forbidden" => FailureKind::Forbidden,
                _ => FailureKind::Conflict,
            };
            Err(Failure::from_message(kind, error.into_message()))
        }
        (false, None) => Err(Failure::ended(tr!("the keeper refused without saying why"))),
    }
}

/// Why a loop without a keeper accepts no requests.
pub fn no_keeper_error(loop_view: &LoopView) -> Failure {
    let id = loop_view.dir.id();
    if let Some(damage) = &loop_view.damage {
        damaged_error(damage.clone())
    } else if loop_view.is_open() {
        Failure::conflict(tr!("loop {id} is interrupted: nothing of it runs", id))
            .hint(tr!("`loopkeeper resume {id}` continues it, `loopkeeper stop {id}` ends it.", id))
    } else {
        Failure::conflict(tr!("loop {id} has ended", id)).hint(tr!("`loopkeeper run` starts a new one."))
    }
}

fn exchange(store: &StateDir, loop_id: &str, request: Value) -> Result<KeeperReply, Failure> {
    exchange_within(store, loop_id, request, Some(TIMEOUT))
}

fn exchange_within(
    store: &StateDir,
    loop_id: &str,
    request: Value,
    timeout: Option<Duration>,
) -> Result<KeeperReply, Failure> {
    if continue_stopped(store, loop_id, &request)? && has_verb(&request, "resume") {
        // A loop that was not paused refuses the request, although it was resumed.
        ask_quickly(store, loop_id, request).ok();
        return Ok(KeeperReply { ok: true, error: None, restored: None });
    }
    let address = store.socket(loop_id)?;
    connect(address.path())
        .and_then(|stream| send_request(&stream, request, timeout))
        .map_err(|error| no_reply_error(store, loop_id, &error))
}

/// A keeper closes its connections after the record of the loop's end, so the end is the reason if there is one.
fn no_reply_error(store: &StateDir, loop_id: &str, error: &io::Error) -> Failure {
    if error.kind() == ErrorKind::Unsupported {
        return Failure::conflict(tr!("loop {id}: {error}", id = loop_id, error)).hint(tr!(
            "Use the loopkeeper that started it, or `kill` its process and `resume` it with this one."
        ));
    }
    let current = store.find(loop_id).ok().and_then(|dir| LoopView::read(store, dir).ok().flatten());
    match current {
        Some(view) if !view.is_open() => no_keeper_error(&view),
        _ => Failure::ended(tr!("loop {id} does not answer: {error}", id = loop_id, error))
            .hint(tr!("`loopkeeper status` shows its state.")),
    }
}

fn has_verb(request: &Value, verb: &str) -> bool {
    request.get("do").and_then(Value::as_str) == Some(verb)
}

/// A stopped keeper answers nothing: requests that end or resume the loop continue it, others are refused.
/// True if it was continued.
fn continue_stopped(store: &StateDir, loop_id: &str, request: &Value) -> Result<bool, Failure> {
    let dir = store.find(loop_id)?;
    if !matches!(store.keeper_of(&dir)?, KeeperLiveness::Alive { stopped: true, .. }) {
        return Ok(false);
    }
    let continues = has_verb(request, "resume") || has_verb(request, "stop");
    if continues && store.continue_stopped_keeper(&dir)? {
        return Ok(true);
    }
    Err(stopped_error(loop_id))
}

fn stopped_error(loop_id: &str) -> Failure {
    Failure::conflict(tr!("the process of loop {id} is stopped", id = loop_id)).hint(tr!(
        "`loopkeeper resume {id}` continues it, `loopkeeper stop --now {id}` ends it.",
        id = loop_id
    ))
}

fn send_request(
    stream: &UnixStream,
    mut request: Value,
    timeout: Option<Duration>,
) -> io::Result<KeeperReply> {
    stream.set_read_timeout(timeout)?;
    stream.set_write_timeout(timeout)?;
    let mut reader = BufReader::new(stream);
    check_greeting(&line(&mut reader)?)?;
    if let Some(fields) = request.as_object_mut() {
        fields.insert("id".into(), json!(uuid::Uuid::new_v4().to_string()));
    }
    let mut writer = stream;
    writer.write_all(format!("{request}\n").as_bytes())?;
    Ok(serde_json::from_str(&line(&mut reader)?)?)
}

/// A keeper of another version is asked only if it speaks the same protocol.
fn check_greeting(greeting: &str) -> io::Result<()> {
    let KeeperGreeting { loopkeeper, version } = serde_json::from_str(greeting)?;
    if loopkeeper == PROTOCOL {
        return Ok(());
    }
    let version = sanitize::line_within(&version, VERSION_CHARS);
    Err(io::Error::new(
        ErrorKind::Unsupported,
        tr!(
            "its keeper is of loopkeeper {version} and speaks version {protocol} of the control protocol, \
             this loopkeeper speaks version {ours}",
            version,
            protocol = loopkeeper,
            ours = PROTOCOL
        ),
    ))
}

/// A keeper that just took its loop over holds its lock briefly before it listens.
fn connect(address: &Path) -> io::Result<UnixStream> {
    let until = Instant::now() + STARTUP_TIMEOUT;
    loop {
        match UnixStream::connect(address) {
            Err(error)
                if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound)
                    && Instant::now() < until =>
            {
                sleep(POLL_INTERVAL);
            }
            result => return result,
        }
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    let count = io::Read::take(reader, MAX_LINE as u64).read_line(&mut text)?;
    if count == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(text) }
}

/// The resume request; `anyway`: without the checks that cannot run.
pub fn resume_request(anyway: bool) -> Value {
    if anyway { json!({"do": "resume", "what": "anyway"}) } else { json!({"do": "resume"}) }
}

/// The first command for a keeper that takes over; it also resumes a paused loop.
pub fn then_resume(loop_view: &LoopView, anyway: bool) -> Option<&'static str> {
    let word = if anyway { "resume-anyway" } else { "resume" };
    loop_view.state.pause.is_some().then_some(word)
}

#[cfg(test)]
mod tests {
    use super::check_greeting;

    #[test]
    fn keepers_of_other_versions_are_understood_or_named() {
        let check = |greeting: &str, expect: Result<(), &str>| {
            let found = check_greeting(greeting).map_err(|error| error.to_string());
            match expect {
                Ok(()) => assert_eq!(found, Ok(()), "{greeting}"),
                Err(part) => assert!(found.as_ref().is_err_and(|it| it.contains(part)), "{found:?}"),
            }
        };
        check(r#"{"loopkeeper":1,"version":"0.1.0","loop":"x","seq":1}"#, Ok(()));
        check(r#"{"loopkeeper":1,"version":"9.0.0","more":true}"#, Ok(()));
        check(r#"{"loopkeeper":1}"#, Ok(()));
        check(r#"{"loopkeeper":2,"version":"2.0.0"}"#, Err("of loopkeeper 2.0.0 and speaks version 2"));
        check("{}", Err("missing field"));
    }
}
