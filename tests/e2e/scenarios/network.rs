//! `sandbox.network = false`: agents and the commands of checks reach nothing; requests and servers do.

use std::net::TcpListener;

use loopkeeper_system::sandbox::detect_landlock;

use super::servers::{health, serve};
use crate::cli::Ran;
use crate::kill_domain::rig::namespace;
use crate::no_bubblewrap::{HIDE, USERS, possible, run_in};
use crate::support::port::Port;
use crate::support::scenario::{Ends, Scenario};
use crate::support::world::World;

pub(super) const CONNECT: &str =
    "import socket, sys\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)\n";
/// A connection of the process to itself, as tests make it.
pub(super) const ITSELF: &str = "import socket\nserver = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(server.getsockname())\n";
const ATTEMPTS: &str = "python3 connect.py $(cat port) && echo out >> succeeded
    python3 itself.py && echo itself >> succeeded
    touch done succeeded";

/// As in a container without them.
pub(super) const NO_NETWORK_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_net_namespaces || exit 99\necho 0 > /proc/sys/user/max_user_namespaces || exit 99\n";

/// A loop that may not use the network, beside a listening process of the user.
struct ClosedLoop {
    world: World,
    _listener: TcpListener,
}

impl ClosedLoop {
    fn new(settings: &str, checks: &[&str]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let settings = format!("{settings}\nsandbox.network = false");
        let files = &[("connect.py", CONNECT), ("itself.py", ITSELF), ("port", &port)];
        let criteria = [checks, &["It is there: `exists done`"]].concat();
        let scenario = Scenario {
            files,
            criteria: &criteria,
            settings: &settings,
            acts: &[ATTEMPTS],
            ..Scenario::default()
        };
        Self { world: scenario.world(), _listener: listener }
    }

    fn run(&self) -> Ran {
        self.world.run(&["run", "--trust"])
    }

    /// As where bubblewrap is not installed; `setup` is shell code before the start.
    fn run_without_bwrap(&self, setup: &str, user: &[&str], args: &[&str]) -> Option<Ran> {
        let ran = run_in(&self.world.terminal, &format!("{setup}{HIDE}"), user, args);
        possible("a closed network without bubblewrap", ran)
    }

    fn succeeded(&self) -> Vec<String> {
        self.world.terminal.read("succeeded").lines().map(str::to_owned).collect()
    }
}

/// What an agent and a check can do, control included: a check that must fail passes only without a network.
const CLOSED: &str = "No way out: `$ ! python3 connect.py $(cat port)`";
const OPEN: &str = "A way out: `$ python3 connect.py $(cat port)`";

#[test]
fn in_a_namespace_nothing_but_the_own_loopback_is_left() {
    if namespace().is_none() {
        return;
    }
    let closed = ClosedLoop::new("", &[CLOSED, "Itself: `$ python3 itself.py`"]);
    closed.run().expect(0).out("ompleted, verified");
    assert_eq!(closed.succeeded(), ["itself"]);
    closed.world.run(&["log"]).out("agent started in its own PID namespace").out("without network");
    closed.world.run(&["doctor"]).out("They have no network");
}

/// Root and an ordinary user.
#[test]
fn without_bubblewrap_the_warden_makes_the_namespace() {
    for user in USERS {
        let closed = ClosedLoop::new("", &[CLOSED, "Itself: `$ python3 itself.py`"]);
        let Some(ran) = closed.run_without_bwrap("", user, &["run", "--trust"]) else { return };
        ran.expect(0).out("ompleted, verified");
        assert_eq!(closed.succeeded(), ["itself"]);
        closed.world.run(&["log"]).out("without network");
        closed.run_without_bwrap("", user, &["doctor"]).unwrap().out("They have no network");
    }
}

#[test]
fn landlock_denies_tcp() {
    match detect_landlock() {
        Ok(version) if version >= 4 => {}
        other => return crate::not_run("a network that Landlock closes", &format!("{other:?}")),
    }
    let closed = ClosedLoop::new("sandbox.kind = \"required\"", &[CLOSED, "Itself: `$ ! python3 itself.py`"]);
    let Some(ran) = closed.run_without_bwrap(NO_NETWORK_NAMESPACES, &[], &["run", "--trust"]) else { return };
    ran.expect(0).out("ompleted, verified");
    assert_eq!(closed.succeeded(), [""; 0]);
    closed.world.run(&["log"]).out("agent started under Landlock").out("without TCP connections");
    closed
        .run_without_bwrap(NO_NETWORK_NAMESPACES, &[], &["doctor"])
        .unwrap()
        .out("Landlock denies them TCP connections; other protocols are open");
}

#[test]
fn an_open_network_is_named_at_the_start() {
    let open = ClosedLoop::new("sandbox.kind = \"off\"", &[OPEN]);
    open.run().expect(0).out("the network is open: the sandbox is off");
    assert_eq!(open.succeeded(), ["out", "itself"]);
    open.world.run(&["doctor"]).out("Their network is open: the sandbox is off");
}

#[test]
fn requests_and_servers_have_the_network() {
    if namespace().is_none() {
        return;
    }
    let port = Port::keep();
    let health = health(&port);
    let used = format!(
        "Used: `$ python3 -c \"import socket; socket.create_connection(('localhost', {}))\"`",
        port.number
    );
    let played = Scenario {
        criteria: &[&health, &used, "It is there: `exists done`"],
        settings: &format!("sandbox.network = false\n{}", serve(&port, "late", "60s")),
        acts: &[
            "python3 -c \"import socket; socket.create_connection(('localhost', 1))\" 2> why; touch done",
        ],
        ends: Ends::Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("agent-started", 1)["network"], "closed");
}
