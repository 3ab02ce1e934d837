//! The control protocol as specified in `server/CONTROL.md`, used by a separate test client.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::scenarios::detached::{WAITS, detached, end, go, kinds};
use crate::support::scenario::Scenario;
use crate::support::world::{TIMEOUT, World};

struct Client {
    read: BufReader<UnixStream>,
    hello: Value,
}

impl Client {
    fn new(world: &World, id: &str) -> Self {
        let stream = UnixStream::connect(socket(world, id)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut client = Self { read: BufReader::new(stream), hello: Value::Null };
        client.hello = client.line().expect("greets");
        client
    }

    fn send(&mut self, line: &str) {
        // Some tests are about a keeper that has already closed the connection.
        let _ = self.read.get_mut().write_all(format!("{line}\n").as_bytes());
    }

    /// The next line; `None` once the keeper has closed the connection.
    fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.read.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.send(&request.to_string());
        self.line().expect("answers")
    }
}

fn socket(world: &World, id: &str) -> PathBuf {
    world.terminal.state().join("run").join(format!("{id}.sock"))
}

fn at_work(acts: &[&str]) -> (World, String) {
    let world = detached(&Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 3`"],
        before: "touch log",
        acts,
        ..Scenario::default()
    });
    world.0.until_shared("up.1");
    world
}

fn finish(world: &World) {
    for number in 1..=3 {
        go(world, number);
    }
    assert_eq!(end(world).0, "completed");
}

#[test]
fn the_control_protocol_greets_answers_and_refuses() {
    let (world, id) = at_work(&[WAITS]);
    let mut client = Client::new(&world, &id);
    assert_eq!((&client.hello["loopkeeper"], &client.hello["loop"]), (&json!(1), &json!(id)));
    assert!(client.hello["seq"].as_u64().unwrap() > 0);
    for (request, code) in [
        (json!({"id": "1", "do": "dance"}), "unsupported"),
        (json!({"id": "2", "do": "steer"}), "badArgument"),
        (json!({"id": "3", "do": "steer", "text": "  "}), "badArgument"),
        (json!({"id": "4", "do": "rollback"}), "badArgument"),
        (json!({"id": "5", "do": "rollback", "iteration": 0}), "conflict"),
        (json!({"id": "6", "do": "resume"}), "conflict"),
        (json!({"id": "8", "do": "undo-rollback"}), "conflict"),
        (json!({"id": "7", "do": "reset"}), "unsupported"),
    ] {
        let answer = client.ask(&request);
        assert_eq!((&answer["id"], &answer["ok"]), (&request["id"], &json!(false)), "{request}");
        assert_eq!(answer["error"]["code"], code, "{request}");
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
    }
    finish(&world);
}

#[test]
fn an_answered_order_is_on_record_and_its_id_works_once() {
    let (world, id) = at_work(&[WAITS]);
    let steer = json!({"id": "same", "do": "steer", "text": "left"});
    let first = Client::new(&world, &id).ask(&steer);
    let recorded = world.journal();
    assert_eq!(first["ok"], true);
    assert!(recorded.iter().any(|it| it["type"] == "steered" && it["seq"] == first["seq"]));
    // The connection is lost together with the reply: repeating the request changes nothing.
    assert_eq!(Client::new(&world, &id).ask(&steer), first);
    assert_eq!(kinds(&world).iter().filter(|it| *it == "steered").count(), 1);
    finish(&world);
}

#[test]
fn an_invalid_request_ends_only_its_connection() {
    let (world, id) = at_work(&[WAITS]);
    for nonsense in ["hello", "{\"do\":\"stop\"}", "[]", "{}"] {
        let mut client = Client::new(&world, &id);
        client.send(nonsense);
        assert_eq!(client.line().unwrap()["error"]["code"], "badArgument", "{nonsense}");
        assert_eq!(client.line(), None, "{nonsense}");
    }
    let mut client = Client::new(&world, &id);
    client.send(&"x".repeat(80 * 1024));
    assert_eq!(client.line(), None, "a line over 64 KiB");
    drop(Client::new(&world, &id));
    finish(&world);
    assert!(!kinds(&world).contains(&"stopping".to_owned()));
}

#[test]
fn a_watcher_receives_live_output_until_the_end() {
    let (world, id) = at_work(&[&format!("echo before anybody came; {WAITS}; echo found it")]);
    let mut client = Client::new(&world, &id);
    assert_eq!(client.ask(&json!({"id": "w", "do": "watch"}))["ok"], true);
    let lines = || client.line().unwrap();
    let early = std::iter::repeat_with(lines).find(|it| it["type"] != "recorded").unwrap();
    assert_eq!(
        (early["type"].as_str(), early["text"].as_str()),
        (Some("activity"), Some("before anybody came"))
    );
    // A client that never reads does not block the keeper.
    let mut deaf = Client::new(&world, &id);
    deaf.send(&json!({"id": "w", "do": "watch"}).to_string());
    finish(&world);
    let mut heard = Vec::new();
    while let Some(news) = client.line() {
        heard.push((news["type"].as_str().unwrap().to_owned(), news["text"].as_str().map(str::to_owned)));
    }
    assert!(heard.contains(&("recorded".to_owned(), None)), "{heard:?}");
    assert!(heard.contains(&("activity".to_owned(), Some("found it".to_owned()))), "{heard:?}");
    assert!(!socket(&world, &id).exists(), "gone with its keeper");
}
