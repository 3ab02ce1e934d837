//! As much of HTTP/1.1 as the scripted model needs: one request per connection.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

use serde_json::Value;

const MAX_BODY: usize = 32 << 20;

pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

pub(super) fn read(stream: &TcpStream) -> Result<Request> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(&mut reader)?.to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let body = if chunked { chunks(&mut reader)? } else { exactly(&mut reader, length)? };
    Ok(Request { path, body })
}

fn line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(Error::from(ErrorKind::UnexpectedEof));
    }
    Ok(line.trim_end().to_owned())
}

fn exactly(reader: &mut impl Read, length: usize) -> Result<Vec<u8>> {
    let mut body = vec![0; length.min(MAX_BODY)];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(reader: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&line(reader)?, 16).unwrap_or(0);
        body.extend(exactly(reader, size)?);
        line(reader)?;
        if size == 0 || body.len() > MAX_BODY {
            return Ok(body);
        }
    }
}

pub(super) fn json(
    stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &Value,
) -> Result<()> {
    let body = body.to_string();
    let mut head = format!(
        "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    (&mut &*stream).write_all(format!("{head}\r\n{body}").as_bytes())
}

/// Server-sent events, each named by its type.
pub(super) fn events(stream: &TcpStream, events: &[Value]) -> Result<()> {
    let mut text = String::from(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\r\n",
    );
    for event in events {
        if let Some(name) = event["type"].as_str() {
            let _ = writeln!(text, "event: {name}");
        }
        match event {
            // Verbatim: the end of a stream is no JSON.
            Value::String(word) => drop(write!(text, "data: {word}\n\n")),
            event => drop(write!(text, "data: {event}\n\n")),
        }
    }
    (&mut &*stream).write_all(text.as_bytes())
}

/// An HTML page of a proxy.
pub(super) fn html(stream: &TcpStream) -> Result<()> {
    let page = "<html></html>";
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\n";
    (&mut &*stream).write_all(format!("{head}content-length: {}\r\n\r\n{page}", page.len()).as_bytes())
}
