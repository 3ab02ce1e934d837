//! `sandbox.network = [HOSTS]`: agents and the commands of checks reach the hosts of the list, through a proxy, and nothing
//! else. Two servers of this machine are the hosts; one of them is listed.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use loopkeeper_core::network::host_list::HostList;
use loopkeeper_core::settings::SandboxMode;
use loopkeeper_system::process::{WardenPool, start};

use super::network::{CONNECT, ITSELF, NO_NETWORK_NAMESPACES};
use crate::cli::Ran;
use crate::kill_domain::rig::{job, namespace};
use crate::no_bubblewrap::{HIDE, USERS, possible, run_in};
use crate::support::scenario::{Ends, Scenario};
use crate::support::world::World;

/// As most clients do: the proxy is that of the environment.
const FETCH: &str =
    "import sys, urllib.request\nassert urllib.request.urlopen(sys.argv[1], timeout=9).read() == b'hello'\n";
const TUNNEL: &str = "import http.client, os, sys, urllib.parse
proxy = urllib.parse.urlparse(os.environ['HTTPS_PROXY'])
tunnel = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=9)
tunnel.set_tunnel('127.0.0.1', int(sys.argv[1]))
tunnel.request('GET', '/')
assert tunnel.getresponse().read() == b'hello'
";
const DATAGRAM: &str =
    "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 53))\n";
/// Each is named in `succeeded` if it got there.
const ATTEMPTS: &str = "try() { name=$1; shift; \"$@\" > /dev/null 2>> why && echo $name >> succeeded; }
    listed=$(cat listed) other=$(cat other)
    try listed python3 fetch.py http://127.0.0.1:$listed/
    try other python3 fetch.py http://127.0.0.1:$other/
    try other-without-proxy env -u http_proxy -u HTTP_PROXY python3 fetch.py http://127.0.0.1:$other/
    try listed-without-proxy python3 connect.py $listed
    try curl-without-proxy curl -sf --noproxy '*' http://127.0.0.1:$other/
    try tunnel python3 tunnel.py $listed
    try other-tunnel python3 tunnel.py $other
    try datagram python3 datagram.py
    try itself python3 itself.py
    touch done succeeded";
const THROUGH: [&str; 3] = ["listed", "tunnel", "itself"];
const PASSES: &str = "Listed: `$ python3 fetch.py http://127.0.0.1:$(cat listed)/`";
const FAILS: &str = "Another: `$ ! python3 fetch.py http://127.0.0.1:$(cat other)/`";

/// A server that says hello to everybody, as long as the tests run.
fn server() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    port
}

struct LimitedLoop {
    world: World,
    other: u16,
}

impl LimitedLoop {
    /// `LISTED` in the settings is the port of the listed server.
    fn new(settings: &str, checks: &[&str]) -> Self {
        let (listed, other) = (server(), server());
        let (listed_port, other_port) = (listed.to_string(), other.to_string());
        let files = &[
            ("fetch.py", FETCH),
            ("tunnel.py", TUNNEL),
            ("datagram.py", DATAGRAM),
            ("connect.py", CONNECT),
            ("itself.py", ITSELF),
            ("listed", &*listed_port),
            ("other", &*other_port),
        ];
        let criteria = [checks, &["It is there: `exists done`"]].concat();
        let settings = settings.replace("LISTED", &listed_port);
        let acts = &[ATTEMPTS];
        let scenario =
            Scenario { files, criteria: &criteria, settings: &settings, acts, ..Scenario::default() };
        Self { world: scenario.world(), other }
    }

    fn succeeded(&self) -> Vec<String> {
        self.world.terminal.read("succeeded").lines().map(str::to_owned).collect()
    }

    fn without_bwrap(&self, setup: &str, user: &[&str], args: &[&str]) -> Option<Ran> {
        let ran = run_in(&self.world.terminal, &format!("{setup}{HIDE}"), user, args);
        possible("a network of some hosts without bubblewrap", ran)
    }
}

const LIST: &str = "sandbox.network = [\"127.0.0.1:LISTED\", \"*.example.org\"]";

#[test]
fn only_the_listed_host_is_reached() {
    if namespace().is_none() {
        return;
    }
    let limited = LimitedLoop::new(LIST, &[PASSES, FAILS]);
    limited.world.run(&["run", "--trust"]).expect(0).out("ompleted, verified");
    assert_eq!(limited.succeeded(), THROUGH, "{}", limited.world.terminal.read("why"));
    let log = limited.world.run(&["log"]);
    log.out("agent started in its own PID namespace").out("; the network is limited to 2 hosts");
    log.out(&format!("the sandbox denies 127.0.0.1:{}: `sandbox.network` lifts it", limited.other));
    limited.world.run(&["doctor"]).out("Their network is limited to 2 hosts");
}

/// Root and an ordinary user.
#[test]
fn without_bubblewrap_the_warden_makes_the_namespace() {
    for user in USERS {
        let limited = LimitedLoop::new(LIST, &[PASSES, FAILS]);
        let Some(ran) = limited.without_bwrap("", user, &["run", "--trust"]) else { return };
        ran.expect(0).out("ompleted, verified");
        assert_eq!(limited.succeeded(), THROUGH, "{}", limited.world.terminal.read("why"));
        limited.world.run(&["log"]).out("; the network is limited to 2 hosts");
        limited.without_bwrap("", user, &["doctor"]).unwrap().out("Their network is limited to 2 hosts");
    }
}

/// Judges, and agents that are held across iterations, have a warden that ends with them.
#[tokio::test]
async fn a_warden_for_one_job_passes_its_socket_too() {
    let Some(isolation) = namespace() else { return };
    let (listed, other) = (server(), server());
    let hosts = HostList::parse(&[format!("127.0.0.1:{listed}")]);
    let isolation = isolation.with_hosts(SandboxMode::Required, hosts).unwrap();
    let proxy = isolation.network().proxy().unwrap().clone();
    let fetch = |port: u16| {
        let mut job = job(&["python3", "-c", FETCH, &format!("http://127.0.0.1:{port}/")]);
        job.env.extend(proxy.environment());
        job
    };
    let pool = WardenPool::new(&isolation);
    for (port, expect) in [(listed, Some(0)), (other, Some(1))] {
        let single = start(&fetch(port), &isolation).unwrap().wait().await;
        let alone = pool.start_alone(&fetch(port)).unwrap().wait().await;
        let pooled = pool.start(&fetch(port)).unwrap().wait().await;
        assert_eq!([single.exit, alone.exit, pooled.exit], [expect; 3], "{port}");
    }
    pool.shutdown().await;
    assert_eq!(proxy.take_denied(), [format!("127.0.0.1:{other}")]);
}

/// Control: without a list every attempt but the tunnel through the proxy succeeds.
#[test]
fn control_without_a_list_everything_is_reached() {
    let open = LimitedLoop::new("", &[PASSES]);
    open.world.run(&["run", "--trust"]).expect(0).out("ompleted, verified");
    let all: Vec<&str> = ATTEMPTS.lines().filter_map(|it| it.trim().strip_prefix("try ")).collect();
    let names = all.iter().map(|it| it.split(' ').next().unwrap());
    let expect: Vec<&str> = names.filter(|it| !it.ends_with("tunnel")).collect();
    assert_eq!(open.succeeded(), expect, "{}", open.world.terminal.read("why"));
}

#[test]
fn where_there_is_no_namespace_auto_says_so_and_required_refuses() {
    let open = LimitedLoop::new(LIST, &[]);
    let run = &["run", "--trust"];
    let Some(ran) = open.without_bwrap(NO_NETWORK_NAMESPACES, &[], run) else { return };
    ran.expect(0).out("the network is open: ").out("no network namespace can be made");
    assert!(open.succeeded().contains(&"other".to_owned()));
    let doctor = open.without_bwrap(NO_NETWORK_NAMESPACES, &[], &["doctor"]).unwrap();
    doctor.out("Their network is open: ").out("no network namespace can be made");
    let required = LimitedLoop::new(&format!("{LIST}\nsandbox.kind = \"required\""), &[]);
    let ran = required.without_bwrap(NO_NETWORK_NAMESPACES, &[], run).unwrap();
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    ran.err("The network cannot be limited to hosts, and the sandbox is required");
    assert!(!required.world.has("done"));
}

#[test]
fn a_denied_host_is_named_once_and_in_the_next_prompt() {
    if namespace().is_none() {
        return;
    }
    let check = "Fetched: `$ python3 fetch.py http://no.example:8080/`";
    let fetch = "python3 fetch.py http://no.example:8080/x; curl -sf https://other.example; echo x > tried";
    let played = Scenario {
        files: &[("fetch.py", FETCH)],
        criteria: &[check, "It is there: `exists done`"],
        settings: "sandbox.network = [\"localhost\"]\nlimits.iterations = 2",
        acts: &[&format!("{fetch}; {fetch}"), "touch done"],
        ends: Ends::Limit(2, ""),
        ..Scenario::default()
    }
    .play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!(run["closedHosts"], serde_json::json!(["no.example:8080", "other.example:443"]), "{run}");
    played.prompt_has(2, "the sandbox denies no.example:8080, other.example:443: `sandbox.network` lifts it");
    let result = &played.record("checks-done", 1)["round"]["results"][0];
    let fact = result["fact"].as_str().unwrap();
    assert!(fact.ends_with("; the sandbox denies no.example:8080: `sandbox.network` lifts it"), "{fact}");
}

#[test]
fn a_list_that_widens_the_users_own_needs_trust() {
    let limited = LimitedLoop::new(LIST, &[]);
    let own = limited.world.terminal.folder().join("home/.config/loopkeeper/config.toml");
    std::fs::write(own, "sandbox.network = [\"*.example.org\"]\n").unwrap();
    let shown = limited.world.run(&["trust"]);
    shown.expect(5).out("sandbox.network = [").out("else [\"*.example.org\"]");
}
