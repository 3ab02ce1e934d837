//! Wire format between a keeper and its request process: the request in an environment variable, the response as one
//! line of JSON, followed by the raw body.

use std::io::{self, Write};
use std::time::Duration;

use loopkeeper_core::check::answer::{HttpOutcome, HttpResponse};
use serde::{Deserialize, Serialize};

/// The variable with the request.
pub(super) const VARIABLE: &str = "LOOPKEEPER_REQUEST";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RequestKind {
    Answer,
    /// Asks whether something listens at the address.
    Listener,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireRequest {
    pub(super) what: RequestKind,
    pub(super) url: String,
    pub(super) servers: Vec<String>,
    pub(super) timeout: Duration,
    pub(super) redirects: u32,
}

impl WireRequest {
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn decode(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WireResponse {
    Reply(HttpOutcome),
    Taken(bool),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireHeader {
    Answered { status: u16, headers: Vec<(String, String)>, length: usize, cut: bool },
    TimedOut,
    None(String),
    Taken(bool),
}

impl WireResponse {
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        let (line, body) = match self {
            Self::Reply(HttpOutcome::Answered(HttpResponse { status, headers, body, cut })) => {
                (WireHeader::Answered { status, headers, length: body.len(), cut }, body)
            }
            Self::Reply(HttpOutcome::TimedOut) => (WireHeader::TimedOut, Vec::new()),
            Self::Reply(HttpOutcome::None(why)) => (WireHeader::None(why), Vec::new()),
            Self::Taken(taken) => (WireHeader::Taken(taken), Vec::new()),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
        out.write_all(&body)?;
        out.flush()
    }

    /// `None` if it is incomplete or malformed.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (line, body) = bytes.split_at(memchr::memchr(b'\n', bytes)? + 1);
        Some(match serde_json::from_slice(line).ok()? {
            WireHeader::Answered { length, .. } if length != body.len() => return None,
            WireHeader::Answered { status, headers, cut, .. } => {
                Self::Reply(HttpOutcome::Answered(HttpResponse { status, headers, body: body.to_vec(), cut }))
            }
            WireHeader::TimedOut => Self::Reply(HttpOutcome::TimedOut),
            WireHeader::None(why) => Self::Reply(HttpOutcome::None(why)),
            WireHeader::Taken(taken) => Self::Taken(taken),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(response: WireResponse) -> Vec<u8> {
        let mut bytes = Vec::new();
        response.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn messages_are_decoded_as_they_were_encoded() {
        let answer = HttpResponse {
            status: 404,
            headers: vec![("x-a".to_owned(), "b\nc".to_owned())],
            body: b"\0\xff\n{}\n".to_vec(),
            cut: true,
        };
        for response in [
            WireResponse::Reply(HttpOutcome::Answered(answer)),
            WireResponse::Reply(HttpOutcome::TimedOut),
            WireResponse::Reply(HttpOutcome::None("no answer".to_owned())),
            WireResponse::Taken(true),
        ] {
            assert_eq!(WireResponse::decode(&written(response.clone())), Some(response));
        }
        let question = WireRequest {
            what: RequestKind::Listener,
            url: "http://localhost/".to_owned(),
            servers: vec!["http://[::1]:8000/".to_owned()],
            timeout: Duration::from_millis(1500),
            redirects: 5,
        };
        assert_eq!(WireRequest::decode(&question.to_text()), Some(question));
    }

    #[test]
    fn incomplete_messages_are_not_parsed() {
        let answer = HttpResponse { status: 200, body: b"hello".to_vec(), ..HttpResponse::default() };
        let whole = written(WireResponse::Reply(HttpOutcome::Answered(answer)));
        for length in 0..whole.len() {
            assert_eq!(WireResponse::decode(whole.get(..length).unwrap()), None, "{length}");
        }
        assert_eq!(WireResponse::decode(&[whole.as_slice(), b"!"].concat()), None);
        assert_eq!(WireResponse::decode(b"{}\n"), None);
    }
}
