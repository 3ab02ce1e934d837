//! Parses the head of a request to the proxy: `CONNECT host:port`, or a method with an absolute `http://` URL. Strict:
//! a head that two servers could read differently is refused. A request is forwarded with its own connection headers
//! removed and `Host` set from the URL, so that it cannot name another host than the one that was checked.

use std::fmt::Write as _;

use super::host_list::Destination;

/// Longest head of a request.
pub const HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 100;
const END: &[u8] = b"\r\n\r\n";
/// Headers for the connection between client and proxy, and `Host`, which the proxy replaces.
const NOT_FORWARDED: [&str; 9] = [
    "connection",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// A request that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyRequest {
    /// Bytes in both directions.
    Tunnel(Destination),
    /// One request, with the head as it is forwarded.
    Forward { to: Destination, head: String },
}

impl ProxyRequest {
    pub fn destination(&self) -> &Destination {
        match self {
            Self::Tunnel(to) | Self::Forward { to, .. } => to,
        }
    }

    /// Reads a head up to its empty line. The error is the reason as a phrase.
    pub fn parse(head: &[u8]) -> Result<Self, &'static str> {
        let head = std::str::from_utf8(head).map_err(|_| "the head is not UTF-8")?;
        let head = head.strip_suffix("\r\n\r\n").ok_or("the head does not end")?;
        let mut lines = head.split("\r\n");
        let line = lines.next().unwrap_or_default();
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("the first line is no request");
        };
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || !is_token(method) {
            return Err("the first line is no request of HTTP/1.1");
        }
        if !target.bytes().all(|it| it.is_ascii_graphic()) {
            return Err("the address is not ASCII");
        }
        let headers = parse_headers(lines)?;
        if method == "CONNECT" {
            return Destination::parse(target, None)
                .map(Self::Tunnel)
                .ok_or("the address names no host and port");
        }
        let (to, authority, path) = parse_url(target)?;
        let head = forwarded_head((method, &path, version), authority, &headers);
        Ok(Self::Forward { to, head })
    }
}

/// The end of the head in `bytes`, if it is complete. The first `seen` bytes were searched before.
pub fn head_end(bytes: &[u8], seen: usize) -> Option<usize> {
    let from = seen.saturating_sub(END.len() - 1);
    let found = bytes.get(from..)?.windows(END.len()).position(|it| it == END)?;
    Some(from + found + END.len())
}

type Header<'a> = (&'a str, &'a str);

fn parse_headers<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<Header<'a>>, &'static str> {
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or("a header has no value")?;
        let is_value = !value.chars().any(|it| it.is_control() && it != '\t');
        if !is_token(name) || !is_value {
            return Err("a header is malformed");
        }
        if headers.len() == MAX_HEADERS {
            return Err("there are too many headers");
        }
        headers.push((name, value.trim_matches([' ', '\t'])));
    }
    if is_length_ambiguous(&headers) {
        return Err("the length of the body is ambiguous");
    }
    Ok(headers)
}

/// Servers differ in which of several lengths they obey, and in how they read one that is not a plain number: the rest
/// of the body could be another request, to a host that was not checked.
fn is_length_ambiguous(headers: &[Header<'_>]) -> bool {
    let values = |name: &'static str| {
        headers.iter().filter(move |(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    };
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    values("content-length").chain(values("transfer-encoding")).count() > 1
        || !values("content-length").all(is_number)
}

/// Destination, authority and path of an absolute URL.
fn parse_url(url: &str) -> Result<(Destination, &str, String), &'static str> {
    let scheme = url.get(..7).unwrap_or_default();
    let rest = url.get(7..).filter(|_| scheme.eq_ignore_ascii_case("http://"));
    let rest = rest.ok_or("the address does not begin with http://; other protocols need CONNECT")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let to = Destination::parse(authority, Some(80)).ok_or("the address names no host")?;
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok((to, authority, format!("{slash}{path}")))
}

fn forwarded_head((method, path, version): (&str, &str, &str), host: &str, headers: &[Header<'_>]) -> String {
    let mut head = format!("{method} {path} {version}\r\nHost: {host}\r\n");
    let connection = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    let named: Vec<&str> = connection.flat_map(|(_, value)| value.split(',').map(str::trim)).collect();
    for (name, value) in headers {
        let is_own = NOT_FORWARDED.iter().chain(&named).any(|it| name.eq_ignore_ascii_case(it));
        // Without it the body has no end.
        let is_length =
            name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding");
        if !is_own || is_length {
            let _ = write!(head, "{name}: {value}\r\n");
        }
    }
    head.push_str("Connection: close\r\n\r\n");
    head
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(text: &str) -> Destination {
        Destination::parse(text, None).unwrap()
    }

    #[test]
    fn a_tunnel_names_host_and_port() {
        let check = |line: &str, expect: Option<&str>| {
            let read = ProxyRequest::parse(format!("{line}\r\nHost: other.example\r\n\r\n").as_bytes());
            assert_eq!(read.ok(), expect.map(|it| ProxyRequest::Tunnel(to(it))), "{line}");
        };
        check("CONNECT example.org:443 HTTP/1.1", Some("example.org:443"));
        check("CONNECT [::1]:8443 HTTP/1.0", Some("[::1]:8443"));
        check("CONNECT example.org HTTP/1.1", None);
        check("CONNECT http://example.org:443 HTTP/1.1", None);
        check("CONNECT me@example.org:443 HTTP/1.1", None);
        check("connect example.org:443 HTTP/1.1", None);
        check("CONNECT  example.org:443 HTTP/1.1", None);
        check("CONNECT example.org:443 HTTP/2", None);
        check("CONNECT example.org:443", None);
    }

    #[test]
    fn a_request_is_forwarded_with_the_host_of_its_url() {
        let head = "POST HTTP://Example.org:8080/a?b=1#c HTTP/1.1\r\nHost: internal\r\nAccept: */*\r\n\
            Proxy-Authorization: Basic x\r\nConnection: keep-alive, X-Own, Content-Length\r\nX-Own: 1\r\n\
            Content-Length: 3\r\n\r\n";
        let expect = "POST /a?b=1 HTTP/1.1\r\nHost: Example.org:8080\r\nAccept: */*\r\nContent-Length: 3\r\n\
            Connection: close\r\n\r\n";
        let read = ProxyRequest::parse(head.as_bytes()).unwrap();
        assert_eq!(read, ProxyRequest::Forward { to: to("example.org:8080"), head: expect.to_owned() });
        let check = |url: &str, path: &str, port: &str| {
            let read = ProxyRequest::parse(format!("GET {url} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
            let ProxyRequest::Forward { to: found, head } = read else { panic!("{url}") };
            assert!(head.starts_with(&format!("GET {path} HTTP/1.1\r\nHost: a.b")), "{url}: {head}");
            assert_eq!(found, to(port), "{url}");
        };
        check("http://a.b", "/", "a.b:80");
        check("http://a.b?x", "/?x", "a.b:80");
        check("http://a.b/#x", "/", "a.b:80");
    }

    #[test]
    fn ambiguous_heads_are_refused() {
        for (head, why) in [
            ("GET /path HTTP/1.1\r\nHost: a.b\r\n\r\n", "http://"),
            ("GET https://a.b/ HTTP/1.1\r\n\r\n", "http://"),
            ("GET http://me:x@a.b/ HTTP/1.1\r\n\r\n", "no host"),
            ("GET http://a.b\\@c.d/ HTTP/1.1\r\n\r\n", "no host"),
            ("GET http:///x HTTP/1.1\r\n\r\n", "no host"),
            ("GET http://a.b/ HTTP/1.1\r\nX: 1\r\n y\r\n\r\n", "no value"),
            ("GET http://a.b/ HTTP/1.1\r\nX : 1\r\n\r\n", "malformed"),
            ("GET http://a.b/ HTTP/1.1\r\nX: a\nHost: c\r\n\r\n", "malformed"),
            ("GET http://a.b/ HTTP/1.1\r\nX\r\n\r\n", "no value"),
            (
                "GET http://a.b/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "ambiguous",
            ),
            ("POST http://a.b/ HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 9\r\n\r\n", "ambiguous"),
            ("POST http://a.b/ HTTP/1.1\r\nContent-Length: 1, 9\r\n\r\n", "ambiguous"),
            ("POST http://a.b/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n", "ambiguous"),
            ("POST http://a.b/ HTTP/1.1\r\nContent-Length:\r\n\r\n", "ambiguous"),
            ("GET http://a.b/ä HTTP/1.1\r\n\r\n", "ASCII"),
            ("\r\n\r\n", "no request"),
            ("GET http://a.b/ HTTP/1.1\r\n", "does not end"),
        ] {
            let fault = ProxyRequest::parse(head.as_bytes()).unwrap_err();
            assert!(fault.contains(why), "{head:?}: {fault}");
        }
        assert!(ProxyRequest::parse(b"GET http://a.b/ HTTP/1.1\r\nX: \xff\r\n\r\n").is_err());
        let many = format!("GET http://a.b/ HTTP/1.1\r\n{}\r\n", "X: 1\r\n".repeat(MAX_HEADERS + 1));
        assert!(ProxyRequest::parse(many.as_bytes()).unwrap_err().contains("too many"));
    }

    #[test]
    fn the_end_of_a_head_is_found_across_reads() {
        let bytes = b"GET / HTTP/1.1\r\n\r\nbody";
        for seen in 0..18 {
            assert_eq!(head_end(bytes, seen), Some(18), "{seen}");
        }
        assert_eq!(head_end(b"GET / HTTP/1.1\r\n\r", 0), None);
        assert_eq!(head_end(b"", 0), None);
        assert_eq!(head_end(b"ab", 9), None);
    }
}
