//! What a session has used, by what its agent writes down of it. On their output most tell that only when their
//! process ends, which is too late for a limit of one that is held.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;

/// Of a transcript; what is longer is not added up.
const LONGEST: u64 = 512 * 1024 * 1024;

/// A line, of whichever agent. The names are theirs.
#[derive(Debug, Deserialize)]
struct Line {
    /// Gemini CLI: a message, written again when more of it is known.
    id: Option<String>,
    tokens: Option<Total>,
    /// Codex: adds up by itself.
    payload: Option<Payload>,
    /// Claude Code: a line for each part of a message, all with the same numbers.
    message: Option<Message>,
}

#[derive(Debug, Deserialize)]
struct Total {
    #[serde(default)]
    total: u64,
}

#[derive(Debug, Deserialize)]
struct Payload {
    info: Option<Info>,
}

#[derive(Debug, Deserialize)]
struct Info {
    total_token_usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Message {
    id: Option<String>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Usage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    read: u64,
    #[serde(default, rename = "cache_creation_input_tokens")]
    kept: u64,
}

impl Usage {
    fn sum(&self) -> u64 {
        [self.output, self.read, self.kept].into_iter().fold(self.input, u64::saturating_add)
    }
}

/// The tokens of the whole session; `None`: nothing is told of them.
pub(super) fn tokens(path: &Path) -> Option<u64> {
    let file = path.metadata().is_ok_and(|it| it.is_file() && it.len() < LONGEST).then(|| File::open(path));
    let lines = BufReader::new(file?.ok()?.take(LONGEST)).split(b'\n');
    added_up(lines.map_while(Result::ok))
}

fn added_up(lines: impl Iterator<Item = Vec<u8>>) -> Option<u64> {
    let (mut all, mut of_messages) = (None, HashMap::new());
    for line in lines {
        let Ok(line) = serde_json::from_slice::<Line>(&line) else { continue };
        if let Some(usage) = line.payload.and_then(|it| it.info?.total_token_usage) {
            all = Some(usage.sum());
        }
        let of_gemini = line.id.zip(line.tokens.map(|it| it.total));
        let of_claude = line.message.and_then(|it| it.id.zip(it.usage.map(|it| it.sum())));
        of_messages.extend(of_gemini.or(of_claude));
    }
    let sum = || of_messages.values().fold(0, |sum: u64, it| sum.saturating_add(*it));
    all.or_else(|| (!of_messages.is_empty()).then(sum))
}

#[cfg(test)]
mod tests {
    use super::{added_up, tokens};

    #[test]
    fn tokens_are_those_of_the_whole_session() {
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(added_up(text.lines().map(|it| it.as_bytes().to_vec())), expect, "{text}");
        };
        check("", None);
        check("{}\nnot JSON\n[]\n{\"tokens\":3}", None);
        let codex = |all: u64| {
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":
                {{"input_tokens":{all},"cached_input_tokens":7,"output_tokens":20,"total_tokens":9}}}}}}}}"#
            )
            .replace('\n', "")
        };
        check(&format!("{}\n{{\"payload\":{{\"info\":null}}}}\n{}\n", codex(100), codex(300)), Some(320));
        let gemini = |id: &str, total: u64| {
            format!(r#"{{"id":"{id}","type":"gemini","content":"","tokens":{{"input":1,"total":{total}}}}}"#)
        };
        check(&[gemini("a", 120), gemini("a", 130), gemini("b", 1)].join("\n"), Some(131));
        let claude = |id: &str| {
            format!(
                r#"{{"type":"assistant","message":{{"id":"{id}","content":[],"usage":{{"input_tokens":1,
                "output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}}}}}"#
            )
            .replace('\n', "")
        };
        check(&[claude("m"), claude("m"), claude("n")].join("\n"), Some(20));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        assert_eq!(tokens("/dev/zero".as_ref()), None);
        assert_eq!(tokens("/nowhere".as_ref()), None);
    }
}
