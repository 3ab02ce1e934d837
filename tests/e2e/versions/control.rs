//! The control protocol between versions: a keeper of one with clients of another.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use serde_json::{Value, json};

use super::{archives, recordings, unpacked};
use crate::cli::Ran;
use crate::cli_loops::GatedLoop;
use crate::cli_run::{TASK, project};

/// The greeting of a keeper, and requests with its replies, of one version.
struct Recording {
    greeting: Value,
    exchanges: Vec<(Value, Value)>,
}

impl Recording {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        let greeting = lines.next().unwrap()["greeting"].clone();
        let exchanges = lines.map(|it| (it["request"].clone(), it["reply"].clone())).collect();
        Self { greeting, exchanges }
    }

    /// The first reply to `verb` that is a success or not.
    fn reply(&self, verb: &str, ok: bool) -> Value {
        let is_it = |it: &&(Value, Value)| it.0["do"] == verb && it.1["ok"] == ok;
        self.exchanges.iter().find(is_it).unwrap().1.clone()
    }

    fn all() -> Vec<Self> {
        let all: Vec<Self> = recordings(".control.jsonl").iter().map(|it| Self::read(it)).collect();
        assert!(!all.is_empty());
        all
    }
}

/// What an earlier client misses in a reply: another result, another code, a member that is no longer there.
fn missing(recorded: &Value, reply: &Value) -> Vec<String> {
    let mut missing = Vec::new();
    for (name, value) in recorded.as_object().unwrap() {
        match (&reply[name], value) {
            (Value::Null, _) => missing.push(name.clone()),
            (found, Value::Object(_)) => {
                let inner = self::missing(value, found);
                missing.extend(inner.into_iter().map(|it| format!("{name}.{it}")));
            }
            (found, _)
                if ["ok", "code", "decision", "loopkeeper"].contains(&name.as_str()) && found != value =>
            {
                missing.push(format!("{name}: {found}"));
            }
            _ => {}
        }
    }
    missing
}

#[test]
fn requests_of_earlier_clients_are_answered_as_before() {
    for Recording { greeting, exchanges } in Recording::all() {
        let gated = GatedLoop::start_in(project(TASK, ""));
        gated.wait_for("agent-started", 0);
        let id = gated.status()["id"].as_str().unwrap().to_owned();
        let socket = gated.terminal.state().join("run").join(format!("{id}.sock"));
        let stream = UnixStream::connect(socket).unwrap();
        let mut lines = BufReader::new(&stream).lines().map(|it| serde_json::from_str(&it.unwrap()).unwrap());
        assert_eq!(missing(&greeting, &lines.next().unwrap()), [""; 0]);
        for (request, recorded) in &exchanges {
            writeln!(&stream, "{request}").unwrap();
            let reply: Value = lines.next().unwrap();
            assert_eq!(missing(recorded, &reply), [""; 0], "{request}: {reply}");
        }
        assert_eq!(gated.watched_end(), 1);
    }
}

/// Control of the test above.
#[test]
fn a_reply_that_lacks_something_is_found() {
    let recorded = json!({"id": "1", "ok": false, "error": {"code": "conflict", "message": "at work"}});
    let check = |reply: Value, expect: &[&str]| assert_eq!(missing(&recorded, &reply), expect, "{reply}");
    let error = json!({"code": "conflict", "message": "in other words", "added": 1});
    check(json!({"id": "1", "ok": false, "error": error}), &[]);
    check(json!({"id": "1", "ok": true, "error": error}), &["ok: true"]);
    check(json!({"id": "1", "ok": false}), &["error"]);
    let error = json!({"code": "forbidden", "text": "at work"});
    check(json!({"id": "1", "ok": false, "error": error}), &["error.code: \"forbidden\"", "error.message"]);
}

/// Gives one reply as a keeper that greets with `greeting`, and holds the loop's lock meanwhile.
fn with_keeper(greeting: &Value, reply: &Value, order: &[&str], check: impl FnOnce(&Ran)) {
    let (terminal, journal) = unpacked(&archives()[0]);
    let folder = journal.parent().unwrap();
    let lock = File::options().read(true).write(true).open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let sockets = terminal.state().join("run");
    fs::create_dir_all(&sockets).unwrap();
    let id = folder.file_name().unwrap().to_str().unwrap();
    let listener = UnixListener::bind(sockets.join(format!("{id}.sock"))).unwrap();
    let (greeting, mut reply) = (format!("{greeting}\n"), reply.clone());
    let keeper = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(greeting.as_bytes()).unwrap();
        let mut request = String::new();
        BufReader::new(&stream).read_line(&mut request).unwrap();
        // A client that does not understand the greeting sends nothing.
        let Ok(request) = serde_json::from_str::<Value>(&request) else { return };
        reply["id"] = request["id"].clone();
        let _ = stream.write_all(format!("{reply}\n").as_bytes());
    });
    check(&terminal.run(order));
    keeper.join().unwrap();
}

/// Commands that send one request.
const ORDERS: &[(&str, &[&str])] = &[
    ("pause", &["pause"]),
    ("reset", &["reset", "breaker"]),
    ("resume", &["resume"]),
    ("steer", &["steer", "latest", "look"]),
    ("stop", &["stop"]),
    ("stop", &["stop", "--now"]),
];

#[test]
fn commands_understand_the_replies_of_earlier_keepers() {
    for recording in Recording::all() {
        for (verb, order) in ORDERS.iter().filter(|it| it.0 != "stop") {
            with_keeper(&recording.greeting, &recording.reply(verb, true), order, |ran| {
                ran.expect(0);
            });
        }
        let refused = recording.reply("rollback", false);
        let mut without_parts = refused.clone();
        without_parts["error"].as_object_mut().unwrap().retain(|name, _| name == "code" || name == "message");
        for reply in [refused, without_parts] {
            with_keeper(&recording.greeting, &reply, &["rollback", "latest", "0"], |ran| {
                ran.expect(1).err("error: the loop is at work\nHint: `loopkeeper pause` pauses it");
            });
        }
    }
}

#[test]
fn keepers_of_later_versions_are_asked_or_named() {
    let greeting = json!({"loopkeeper": 1, "version": "7.0.0", "loop": "x", "seq": 1, "more": []});
    let reply = json!({"ok": true, "seq": 1, "more": "unknown"});
    with_keeper(&greeting, &reply, &["pause"], |ran| {
        ran.expect(0);
    });
    let greeting = json!({"loopkeeper": 2, "version": "7.0.0"});
    for (_, order) in ORDERS {
        with_keeper(&greeting, &reply, order, |ran| {
            ran.expect(1)
                .err("its keeper is of loopkeeper 7.0.0 and speaks version 2 of the control protocol")
                .err("Hint: Use the loopkeeper that started it");
        });
    }
}
