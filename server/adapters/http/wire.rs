//! What a keeper and the process that makes its request say to each other: the question in a variable of the
//! environment, the answer as one line of JSON, and the body behind it as it came.

use std::io::{self, Write};
use std::time::Duration;

use loopkeeper_core::check::answer::{Answer, Reply};
use serde::{Deserialize, Serialize};

/// Holds the question.
pub(super) const VARIABLE: &str = "LOOPKEEPER_REQUEST";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum What {
    Answer,
    /// Whether anybody listens there.
    Listener,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) what: What,
    pub(super) url: String,
    pub(super) servers: Vec<String>,
    pub(super) timeout: Duration,
    pub(super) redirects: u32,
}

impl Question {
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Reply(Reply),
    Taken(bool),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Answered { status: u16, headers: Vec<(String, String)>, length: usize, cut: bool },
    TimedOut,
    None(String),
    Taken(bool),
}

impl Said {
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        let (line, body) = match self {
            Self::Reply(Reply::Answered(Answer { status, headers, body, cut })) => {
                (Line::Answered { status, headers, length: body.len(), cut }, body)
            }
            Self::Reply(Reply::TimedOut) => (Line::TimedOut, Vec::new()),
            Self::Reply(Reply::None(why)) => (Line::None(why), Vec::new()),
            Self::Taken(taken) => (Line::Taken(taken), Vec::new()),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
        out.write_all(&body)?;
        out.flush()
    }

    /// `None` where it is not whole, or nothing that is ever said.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (line, body) = bytes.split_at(memchr::memchr(b'\n', bytes)? + 1);
        Some(match serde_json::from_slice(line).ok()? {
            Line::Answered { length, .. } if length != body.len() => return None,
            Line::Answered { status, headers, cut, .. } => {
                Self::Reply(Reply::Answered(Answer { status, headers, body: body.to_vec(), cut }))
            }
            Line::TimedOut => Self::Reply(Reply::TimedOut),
            Line::None(why) => Self::Reply(Reply::None(why)),
            Line::Taken(taken) => Self::Taken(taken),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(said: Said) -> Vec<u8> {
        let mut bytes = Vec::new();
        said.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_said_is_heard() {
        let answer = Answer {
            status: 404,
            headers: vec![("x-a".to_owned(), "b\nc".to_owned())],
            body: b"\0\xff\n{}\n".to_vec(),
            cut: true,
        };
        for said in [
            Said::Reply(Reply::Answered(answer)),
            Said::Reply(Reply::TimedOut),
            Said::Reply(Reply::None("nobody answers".to_owned())),
            Said::Taken(true),
        ] {
            assert_eq!(Said::read(&written(said.clone())), Some(said));
        }
        let question = Question {
            what: What::Listener,
            url: "http://localhost/".to_owned(),
            servers: vec!["http://[::1]:8000/".to_owned()],
            timeout: Duration::from_millis(1500),
            redirects: 5,
        };
        assert_eq!(Question::read(&question.to_text()), Some(question));
    }

    #[test]
    fn what_is_not_whole_is_nothing() {
        let answer = Answer { status: 200, body: b"hello".to_vec(), ..Answer::default() };
        let whole = written(Said::Reply(Reply::Answered(answer)));
        for length in 0..whole.len() {
            assert_eq!(Said::read(whole.get(..length).unwrap()), None, "{length}");
        }
        assert_eq!(Said::read(&[whole.as_slice(), b"!"].concat()), None);
        assert_eq!(Said::read(b"{}\n"), None);
    }
}
