//! Requests to the proxy of the sandbox, and entries of its list of hosts.

use loopkeeper_core::network::host_list::{HostList, pattern_fault};
use loopkeeper_core::network::proxy_request::{HEAD_BYTES, ProxyRequest, head_end};
use loopkeeper_fuzz::Fuzzer;

const WORDS: &[&str] = &[
    "CONNECT ",
    "GET http://",
    " HTTP/1.1\r\n",
    "\r\n\r\n",
    "Host: ",
    "Connection: close, ",
    "[::ffff:127.0.0.1]:",
    "*.example.org",
    "127.0.0.1",
    ":65536",
    "@",
    "%00",
    "..",
    "xn--",
    "X: 1\r\n",
];

fn fuzzer() -> Fuzzer {
    Fuzzer::new("proxy", WORDS, &[])
}

/// A request that is sent on has one `Host`, that of the destination, and one head.
fn read(input: &[u8]) {
    let head = input.get(..head_end(input, 0).unwrap_or(input.len())).unwrap_or_default();
    if let Ok(ProxyRequest::Forward { to, head }) = ProxyRequest::parse(head) {
        let lines: Vec<&str> = head.split("\r\n").collect();
        let hosts: Vec<&&str> =
            lines.iter().filter(|it| it.to_ascii_lowercase().starts_with("host:")).collect();
        assert_eq!(hosts.len(), 1, "{head:?}");
        assert!(hosts[0].to_ascii_lowercase().contains(&to.host.to_string()), "{head:?}");
        assert_eq!(head.matches("\r\n\r\n").count(), 1, "{head:?}");
        assert!(!head.replace("\r\n", "").contains(['\r', '\n']), "{head:?}");
    }
    let text = String::from_utf8_lossy(input);
    let entries: Vec<&str> = text.lines().collect();
    std::hint::black_box((HostList::parse(&entries), pattern_fault(&text)));
}

#[test]
fn any_request_is_read() {
    fuzzer().run(read);
}

/// Longer heads are refused before they are read.
#[test]
fn the_time_is_linear() {
    fuzzer().run_growing(|input| {
        let head = input.get(..HEAD_BYTES).unwrap_or(input);
        std::hint::black_box((head_end(input, 0), ProxyRequest::parse(head).is_ok()));
        std::hint::black_box(pattern_fault(&String::from_utf8_lossy(input)));
    });
}
