use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::time::Duration;

use loopkeeper_core::check::answer::{BODY_BYTES, HttpOutcome, HttpResponse};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

use super::{RequestKind, WireRequest, is_taken, perform_request};

/// A server on this machine that sends the n-th connection the n-th response; returns its port.
fn server(answers: Vec<Vec<u8>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|it| it.is_ok_and(|it| !it.is_empty())) {}
            let _ = stream.write_all(&answer);
        }
    });
    port
}

fn to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .into_bytes()
}

fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn request(url: &str) -> WireRequest {
    let timeout = Duration::from_secs(10);
    WireRequest { what: RequestKind::Answer, url: url.to_owned(), servers: Vec::new(), timeout, redirects: 5 }
}

fn refused(url: &str) -> String {
    match perform_request(&request(url)) {
        HttpOutcome::None(why) => why,
        other => panic!("{url}: {other:?}"),
    }
}

fn answered(url: &str) -> HttpResponse {
    match perform_request(&request(url)) {
        HttpOutcome::Answered(answer) => answer,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn a_response_is_returned_whole() {
    let port = server(vec![ok("hello")]);
    let answer = answered(&format!("http://127.0.0.1:{port}/"));
    assert_eq!((answer.status, answer.body.as_slice(), answer.cut), (200, &b"hello"[..], false));
    assert!(answer.headers.contains(&("x-a".to_owned(), "b".to_owned())), "{answer:?}");
}

#[test]
fn localhost_is_this_machine() {
    let port = server(vec![ok("hello")]);
    assert_eq!(answered(&format!("http://localhost:{port}/")).body, b"hello");
}

#[test]
fn redirects_are_followed_only_to_allowed_hosts() {
    let port = server(vec![to("/b"), to("c"), ok("there")]);
    let answer = answered(&format!("http://127.0.0.1:{port}/a"));
    assert_eq!(answer.body, b"there");
    // A redirect to another name of the same machine, which is not listed.
    let port = server(vec![to("http://localhost:1/")]);
    let why = refused(&format!("http://127.0.0.1:{port}/a"));
    assert!(why.contains("an address of this machine that the check does not name"), "{why}");
    for inside in [
        "http://169.254.169.254/latest",
        "http://10.0.0.1/",
        "http://[fd00:ec2::254]/",
        "http://0x7f000001/",
        "http://[::ffff:127.0.0.1]/",
    ] {
        let port = server(vec![to(inside)]);
        let why = refused(&format!("http://127.0.0.1:{port}/a"));
        assert!(why.contains("that the check does not name"), "{inside}: {why}");
    }
    let port = server(vec![to("/again"); 7]);
    assert_eq!(refused(&format!("http://127.0.0.1:{port}/a")), "more than 5 redirects");
}

#[test]
fn unusual_spellings_of_an_address_reach_no_internal_host() {
    for odd in [
        "http://0x7f000001:1/",
        "http://2130706433:1/",
        "http://127.1:1/",
        "http://0:1/",
        "http://0177.0.0.1:1/",
    ] {
        let why = refused(odd);
        let is_refused = why.contains("that the check does not name")
            || why.contains("lookup")
            || why.contains("not found");
        assert!(is_refused, "{odd}: {why}");
    }
}

#[test]
fn a_missing_response_is_an_error() {
    // It has a port and does not listen, so that no other process gets the port in the meantime.
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let free = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap().port();
    assert_eq!(refused(&format!("http://127.0.0.1:{free}/")), format!("nothing listens at 127.0.0.1:{free}"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/", silent.local_addr().unwrap().port());
    let hurried = WireRequest { timeout: Duration::from_millis(200), ..request(&url) };
    assert_eq!(perform_request(&hurried), HttpOutcome::TimedOut);
    assert!(is_taken(&hurried));
    assert!(!is_taken(&request(&format!("http://127.0.0.1:{free}/"))));
}

#[test]
fn a_broken_response_is_an_error_and_an_endless_one_is_cut() {
    let port = server(vec![b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()]);
    assert!(matches!(perform_request(&request(&format!("http://127.0.0.1:{port}/"))), HttpOutcome::None(_)));
    let port = server(vec![b"nonsense\r\n\r\n".to_vec()]);
    assert!(matches!(perform_request(&request(&format!("http://127.0.0.1:{port}/"))), HttpOutcome::None(_)));
    let port = server(vec![ok(&"x".repeat(BODY_BYTES + 1))]);
    let answer = answered(&format!("http://127.0.0.1:{port}/"));
    assert_eq!((answer.body.len(), answer.cut), (BODY_BYTES, true));
}
