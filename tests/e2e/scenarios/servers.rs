//! `GET` checks with the servers of `[[serve]]`: started for a round, waited for, ended after it; without a ready
//! server no request passes.

use std::fs;
use std::net::TcpListener;

use super::detached::{detached, end};
use crate::support::port::Port;
use crate::support::scenario::Ends::{Failed, Limit, Verified};
use crate::support::scenario::Scenario;

pub(super) fn serve(port: &Port, mode: &str, timeout: &str) -> String {
    let rig = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rigs/serve.py");
    let port = port.number;
    let ready = format!("http://localhost:{port}/health");
    let never = "echo never >> ../agent/served; echo still compiling; exec sleep 600";
    let command = match mode {
        "never" => format!("[\"sh\", \"-c\", \"{never}\"]"),
        mode => format!("[\"python3\", \"{rig}\", \"{port}\", \"{mode}\"]"),
    };
    format!(
        "limits.iterations = 2\n[[serve]]\ncommand = {command}\n\
         ready = \"{ready}\"\ntimeout = \"{timeout}\"\n"
    )
}

pub(super) fn health(port: &Port) -> String {
    format!("Health: `GET http://localhost:{}/health`", port.number)
}

#[test]
fn a_server_is_started_for_each_round_and_leaves_no_process() {
    for mode in ["late", "children"] {
        let port = Port::keep();
        let users = format!("Users: `GET http://localhost:{}/users` `>= 4`", port.number);
        let health = format!("Health: `GET http://localhost:{}/health` `200` `/^ok$/`", port.number);
        let played = Scenario {
            criteria: &[&users, &health],
            settings: &serve(&port, mode, "60s"),
            // A clean room shows no file outside the work tree that the loop created.
            before: "touch ../agent/served",
            acts: &["echo 4 > users.txt"],
            ends: Verified(1, ""),
            ..Scenario::default()
        }
        .play();
        let first = &played.record("baseline", 0)["round"]["results"];
        assert_eq!((&first[0]["status"], &first[0]["fact"]), (&"fail".into(), &"status 500".into()));
        assert!(first[0]["head"].as_str().unwrap().contains("no users"), "{first}");
        assert_eq!((&first[1]["status"], &first[1]["fact"]), (&"pass".into(), &"status 200".into()));
        played.prompt_has(1, "status 500");
        let starts = fs::read_to_string(played.world.shared("served")).unwrap().lines().count();
        assert_eq!(starts, 3, "two rounds and the final verdict");
    }
}

#[test]
fn a_server_that_is_not_ready_makes_no_pass() {
    let check = |mode: &str, timeout: &str, fact: &str, detail: &str| {
        let port = Port::keep();
        let busy = (mode == "busy").then(|| TcpListener::bind(("127.0.0.1", port.number)).unwrap());
        let health = health(&port);
        let played = Scenario {
            criteria: &[&health, "Beside: `exists PROMPT.md`"],
            settings: &serve(&port, mode, timeout).replace("iterations = 2", "iterations = 1"),
            acts: &["echo $n > log"],
            // Another server on this port is the user's to end.
            ends: if mode == "busy" { Failed(0, fact) } else { Limit(1, "") },
            ..Scenario::default()
        }
        .play();
        drop(busy);
        let results = &played.record("baseline", 0)["round"]["results"];
        assert_eq!(results[0]["status"], "could-not-run", "{mode}: {results}");
        let found = results[0]["fact"].as_str().unwrap();
        assert!(found.contains(fact), "{mode}: {found}");
        assert!(results[0]["head"].as_str().unwrap_or_default().contains(detail), "{mode}: {results}");
        assert_eq!(results[1]["status"], "pass");
        assert_eq!(played.world.shared("served").exists(), mode != "busy");
    };
    check("exits", "60s", "ended before it was ready: no database", "starting\nno database");
    check("never", "5s", "within 5 s: still compiling", "still compiling");
    check("busy", "60s", "another process already answers at http://localhost:", "");
}

#[test]
fn a_redirect_to_an_unlisted_host_is_not_followed() {
    let port = Port::keep();
    let away = format!("Away: `GET http://localhost:{}/away`", port.number);
    let played = Scenario {
        criteria: &[&away],
        settings: &serve(&port, "ok", "60s").replace("iterations = 2", "iterations = 1"),
        acts: &["echo $n > log"],
        ends: Limit(1, ""),
        ..Scenario::default()
    }
    .play();
    let result = &played.record("baseline", 0)["round"]["results"][0];
    assert_eq!(result["status"], "could-not-run");
    assert_eq!(result["fact"], "127.0.0.1 is an address of this machine that the check does not name");
}

#[test]
fn a_round_without_a_request_starts_no_server() {
    let played = Scenario {
        criteria: &["It is there: `exists done`"],
        settings: &serve(&Port::keep(), "ok", "60s"),
        acts: &["touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    assert!(!played.world.shared("served").exists());
    let port = Port::keep();
    let health = health(&port);
    let world = Scenario {
        criteria: &[&health],
        settings: &serve(&port, "ok", "60s"),
        acts: &["true"],
        ..Scenario::default()
    }
    .world();
    world.run(&["check"]).expect(5);
    world.run(&["run"]).expect(5);
    assert!(!world.shared("served").exists());
    let page = world.run(&["trust"]);
    let ready = format!("http://localhost:{}/health\n", port.number);
    page.expect(5).out(&format!("GET {ready}")).out(&format!("server      ready at {ready}    python3 "));
}

#[test]
fn a_round_that_is_given_up_ends_its_servers() {
    let port = Port::keep();
    let health = health(&port);
    let (world, id) = detached(&Scenario {
        criteria: &[&health],
        settings: &serve(&port, "never", "10m"),
        acts: &["true"],
        ..Scenario::default()
    });
    world.until_shared("served");
    world.run(&["stop", "--now", &id]).expect(0);
    assert_eq!(end(&world).0, "stopped");
}
