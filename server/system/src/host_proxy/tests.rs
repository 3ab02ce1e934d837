//! The proxy on real sockets; the namespaces are those of `tests/e2e/scenarios/network_hosts.rs`.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener as StdTcpListener, TcpStream as StdTcpStream};
use std::time::Instant;

use super::*;

/// A proxy for a warden in this process.
struct ProxyRig {
    proxy: HostProxy,
    lease: Option<ProxyLease>,
    address: std::net::SocketAddr,
}

impl ProxyRig {
    fn new(entries: &[&str]) -> Self {
        let proxy = HostProxy::new(HostList::parse(entries));
        let listener = StdTcpListener::bind("127.0.0.1:0").unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let lease = proxy.attach(ours).unwrap();
        listener_channel::send_listener(&theirs, &listener).unwrap();
        Self { proxy, lease: Some(lease), address: listener.local_addr().unwrap() }
    }

    fn connect(&self) -> StdTcpStream {
        let stream = StdTcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends the text, closes that direction, and reads the response.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let _ = stream.shutdown(Shutdown::Write);
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    /// The recorded hosts after this request, which is denied.
    fn denied(&self, request: &str) -> String {
        let response = self.ask(request);
        assert!(response.starts_with("HTTP/1.1 403 Denied by sandbox.network\r\n"), "{response}");
        self.proxy.take_denied().join(", ")
    }
}

/// A server that answers every connection with what it received.
fn echo() -> u16 {
    let listener = StdTcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut chunk = [0; 1000];
                while let Ok(read @ 1..) = stream.read(&mut chunk) {
                    stream.write_all(&chunk[..read]).unwrap();
                }
            });
        }
    });
    port
}

#[test]
fn a_tunnel_to_a_listed_host_carries_bytes_in_both_directions() {
    let port = echo();
    let rig = ProxyRig::new(&[&format!("127.0.0.1:{port}")]);
    let mut stream = rig.connect();
    write!(stream, "CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nfirst").unwrap();
    let mut received = [0; ESTABLISHED.len() + 5];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(received, *[ESTABLISHED, b"first"].concat());
    let sent: Vec<u8> = (0..300_000_u32).map(|it| it as u8).collect();
    let mut writer = stream.try_clone().unwrap();
    let expect = sent.clone();
    let writing = thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut echoed = Vec::new();
    stream.read_to_end(&mut echoed).unwrap();
    writing.join().unwrap();
    assert!(echoed == expect, "{} bytes of {} echoed", echoed.len(), expect.len());
    assert_eq!(rig.proxy.take_denied(), [""; 0]);
}

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

#[test]
fn a_request_reaches_a_listed_host_with_its_own_name() {
    let port = echo();
    let rig = ProxyRig::new(&[&format!("127.0.0.1:{port}")]);
    let request =
        format!("POST http://127.0.0.1:{port}/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
    let expect = format!(
        "POST /a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab"
    );
    assert_eq!(rig.ask(&request), expect);
}

#[test]
fn an_unlisted_host_is_denied_and_recorded_once() {
    let port = echo();
    let rig = ProxyRig::new(&["localhost", "*.example.org"]);
    let tunnel = |to: &str| format!("CONNECT {to} HTTP/1.1\r\n\r\n");
    let literal = format!("127.0.0.1:{port}");
    assert_eq!(rig.denied(&tunnel(&literal)), literal);
    assert_eq!(rig.denied(&format!("GET http://{literal}/ HTTP/1.1\r\n\r\n")), literal);
    assert_eq!(rig.denied(&tunnel(&format!("localhost:{port}"))), format!("localhost:{port}"));
    assert_eq!(rig.denied(&tunnel("example.org:443")), "example.org:443");
    assert_eq!(rig.denied(&tunnel("[::ffff:127.0.0.1]:443")), "[::ffff:127.0.0.1]:443");
    for _ in 0..2 {
        rig.ask(&tunnel("a.test:443"));
    }
    assert_eq!(rig.proxy.take_denied(), ["a.test:443"]);
    for number in 0..2 * MAX_NAMED {
        rig.ask(&tunnel(&format!("{number}.test:443")));
    }
    assert_eq!(rig.proxy.take_denied().len(), MAX_NAMED);
    assert_eq!(rig.proxy.take_denied(), [""; 0]);
}

#[test]
fn the_response_names_the_reason_of_a_refusal() {
    let rig = ProxyRig::new(&["localhost", "127.0.0.1:1", "no-such-host.invalid"]);
    let check = |request: &str, status: &str, part: &str| {
        let response = rig.ask(request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {response}");
        assert!(response.contains(part), "{request}: {response}");
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{response}");
    };
    check("GET / HTTP/1.1\r\n\r\n", "400", "does not begin with http://");
    check("CONNECT a.test:443", "400", "does not end");
    check("CONNECT a.test:443 HTTP/1.1\r\n\r\n", "403", "Hint: `sandbox.network` lists the hosts");
    check("CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n", "502", "127.0.0.1:1 cannot be reached");
    check("GET http://no-such-host.invalid/ HTTP/1.1\r\n\r\n", "502", "the host was not found");
    let long = format!("GET http://localhost/ HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    check(&long, "431", "longer than");
    assert_eq!(rig.proxy.take_denied(), ["a.test:443"]);
}

/// The warden's end closes its connections: none outlives the job.
#[test]
fn connections_end_with_the_warden() {
    let port = echo();
    let mut rig = ProxyRig::new(&[&format!("127.0.0.1:{port}")]);
    let mut stream = rig.connect();
    write!(stream, "CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").unwrap();
    let mut received = [0; ESTABLISHED.len()];
    stream.read_exact(&mut received).unwrap();
    rig.lease = None;
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.is_empty(), "{rest:?}");
    let until = Instant::now() + Duration::from_secs(10);
    while StdTcpStream::connect(rig.address).is_ok() {
        assert!(Instant::now() < until, "the socket stays open");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_closed_channel_does_not_affect_other_proxies() {
    let proxy = HostProxy::new(HostList::parse(&["localhost"]));
    let (ours, theirs) = UnixStream::pair().unwrap();
    let _lease = proxy.attach(ours).unwrap();
    drop(theirs);
    let rig = ProxyRig::new(&[]);
    assert_eq!(rig.denied("CONNECT a.test:1 HTTP/1.1\r\n\r\n"), "a.test:1");
    assert_eq!(proxy, proxy.separate());
}

/// The clock jumps to the next deadline, because nothing else happens.
#[tokio::test(start_paused = true)]
async fn a_client_that_sends_nothing_is_refused_after_a_while() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let reading = thread::spawn(move || {
        let mut stream = StdTcpStream::connect(address).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    });
    let (client, _) = listener.accept().await.unwrap();
    let began = tokio::time::Instant::now();
    let rules = ProxyRules { hosts: HostList::default(), denied: Mutex::default() };
    connection::serve_client(client, &rules).await;
    assert!(began.elapsed() >= Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(reading.join().unwrap().starts_with("HTTP/1.1 408 "));
}

#[tokio::test(start_paused = true)]
async fn a_tunnel_on_which_nothing_moves_is_closed() {
    let pair = || async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = StdTcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().await.unwrap().0, stream)
    };
    let ((client, mut client_end), (server, _server_end)) = (pair().await, pair().await);
    client_end.write_all(b"x").unwrap();
    let began = tokio::time::Instant::now();
    let done = relay::relay(client, server).await;
    assert_eq!(done.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert!(began.elapsed() >= relay::IDLE_TIMEOUT, "{:?}", began.elapsed());
}
