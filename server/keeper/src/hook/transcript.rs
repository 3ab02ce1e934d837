//! Reads the usage of a session from the transcript that its agent writes. Most agents print usage only when their
//! process ends, which is too late for limits of a held agent, and for a session that its user opened there is no other
//! source. The file belongs to the agent, so reading is bounded.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use loopkeeper_text::surrogates;
use serde::Deserialize;
use serde_json::Value;

/// Maximum size of a transcript; usage is not computed above it.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum length of a line; longer lines contain tool output or images and no token counts.
const MAX_LINE_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of subagent transcripts.
const MAX_SUBAGENTS: usize = 1_000;
/// Bytes at the end that are searched for the last message.
const TAIL_BYTES: u64 = 256 * 1024;
/// Maximum number of distinct messages; usage is not computed above it.
const MAX_MESSAGES: usize = 1_000_000;

/// A line of any agent's transcript. The field names are the agents'.
#[derive(Debug, Deserialize)]
struct TranscriptLine {
    /// Gemini CLI: id of a message, which is written again when more of it is known.
    id: Option<String>,
    tokens: Option<GeminiTokens>,
    /// Codex: contains the running total.
    payload: Option<CodexPayload>,
    /// Claude Code: one line per part of a message; the last line has the totals of the message.
    message: Option<ClaudeMessage>,
}

#[derive(Debug, Deserialize)]
struct GeminiTokens {
    #[serde(default)]
    total: u64,
}

#[derive(Debug, Deserialize)]
struct CodexPayload {
    info: Option<CodexTokenInfo>,
}

#[derive(Debug, Deserialize)]
struct CodexTokenInfo {
    total_token_usage: Option<TranscriptUsage>,
}

#[derive(Debug, Deserialize)]
struct ClaudeMessage {
    id: Option<String>,
    usage: Option<TranscriptUsage>,
}

#[derive(Debug, Deserialize)]
struct TranscriptUsage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    cache_read: u64,
    #[serde(default, rename = "cache_creation_input_tokens")]
    cache_creation: u64,
}

impl TranscriptUsage {
    fn sum(&self) -> u64 {
        [self.output, self.cache_read, self.cache_creation].into_iter().fold(self.input, u64::saturating_add)
    }
}

/// The tokens of the whole session; `None`: not reported. Claude Code keeps transcripts of subagents in a folder next
/// to the session's own.
pub(super) fn tokens(path: &Path) -> Option<u64> {
    let own = file_tokens(path)?;
    let folder = fs::read_dir(path.with_extension("").join("subagents"));
    let below = folder.into_iter().flatten().flatten().take(MAX_SUBAGENTS).map(|it| it.path());
    let below = below.filter(|it| it.extension().is_some_and(|it| it == "jsonl"));
    Some(below.filter_map(|it| file_tokens(&it)).fold(own, u64::saturating_add))
}

fn file_tokens(path: &Path) -> Option<u64> {
    let file = path.metadata().is_ok_and(|it| it.is_file() && it.len() < MAX_BYTES).then(|| File::open(path));
    sum_lines(BufReader::new(file?.ok()?.take(MAX_BYTES)))
}

/// Waits until the agent's last message is at the end of the transcript.
pub(super) fn wait_for_last_message(path: &Path, expected: &str) {
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    const MAX_POLLS: u32 = 100;
    let ends = || last_message_in(path).is_none_or(|it| it.trim() == expected.trim());
    for _ in 0..MAX_POLLS {
        if ends() {
            return;
        }
        sleep(POLL_INTERVAL);
    }
}

/// The last message in Claude Code's transcript; `None`: there is no such file.
fn last_message_in(path: &Path) -> Option<String> {
    let mut file = path.metadata().is_ok_and(|it| it.is_file()).then(|| File::open(path))?.ok()?;
    let from = file.metadata().ok()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let text = |line: &[u8]| {
        let line: Value = surrogates::parse_json(line).ok()?;
        let parts = line.pointer("/message/content")?.as_array()?;
        parts.iter().rev().find_map(|it| it.get("text")?.as_str().map(str::to_owned))
    };
    Some(tail.rsplit(|it| *it == b'\n').find_map(text).unwrap_or_default())
}

fn sum_lines(mut from: impl BufRead) -> Option<u64> {
    let (mut totals, mut line) = (TokenTotals::default(), Vec::new());
    while read_line(&mut from, &mut line)? {
        totals.add_line(&line);
        if totals.of_messages.len() > MAX_MESSAGES {
            return None;
        }
    }
    totals.sum()
}

/// Reads the next line, skipping overlong ones. False: end of file; `None`: read error.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> Option<bool> {
    line.clear();
    loop {
        let read = from.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', line).ok()?;
        if (read as u64) < MAX_LINE_BYTES || line.ends_with(b"\n") {
            return Some(!line.is_empty());
        }
        from.skip_until(b'\n').ok()?;
        line.clear();
    }
}

#[derive(Debug, Default)]
struct TokenTotals {
    /// Running total of an agent that reports one.
    all: Option<u64>,
    /// Tokens by hash of the message id.
    of_messages: HashMap<u64, u64>,
}

impl TokenTotals {
    fn add_line(&mut self, line: &[u8]) {
        let Ok(line) = surrogates::parse_json::<TranscriptLine>(line) else { return };
        if let Some(usage) = line.payload.and_then(|it| it.info?.total_token_usage) {
            self.all = Some(usage.sum());
        }
        let of_gemini = line.id.zip(line.tokens.map(|it| it.total));
        let of_claude = line.message.and_then(|it| it.id.zip(it.usage.map(|it| it.sum())));
        let hash = |id: String| {
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            hasher.finish()
        };
        self.of_messages.extend(of_gemini.or(of_claude).map(|(id, tokens)| (hash(id), tokens)));
    }

    fn sum(&self) -> Option<u64> {
        let of_messages = || self.of_messages.values().fold(0, |sum: u64, it| sum.saturating_add(*it));
        self.all.or_else(|| (!self.of_messages.is_empty()).then(of_messages))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{MAX_BYTES, MAX_LINE_BYTES, last_message_in, sum_lines, tokens};

    #[test]
    fn tokens_are_those_of_the_whole_session() {
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(sum_lines(text.as_bytes()), expect, "{text}");
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
        let more = |it: &str| it.replace("\"output_tokens\":2", "\"output_tokens\":12");
        check(&[claude("m"), more(&claude("m"))].join("\n"), Some(20));
        // The last line is incomplete.
        check(&[&claude("m"), &claude("n")[..40]].join("\n"), Some(10));
    }

    #[test]
    fn any_transcript_is_read_within_bounds() {
        let message =
            |id: u32| format!("{{\"message\":{{\"id\":\"{id}\",\"usage\":{{\"input_tokens\":1}}}}}}\n");
        let long = "x".repeat(usize::try_from(MAX_LINE_BYTES).expect("a size") * 2 + 7);
        let totals = |text: &str| sum_lines(text.as_bytes());
        assert_eq!(totals(&format!("{}{long}\n{}", message(1), message(2))), Some(2));
        assert_eq!(totals(&format!("{}{long}", message(1))), Some(1));
        let longest = format!("{}\n", &long[1..MAX_LINE_BYTES as usize]);
        assert_eq!(totals(&format!("{longest}{}", message(1))), Some(1));
        assert_eq!(
            totals(&format!("{{\"message\":{{\"id\":\"{long}\",\"usage\":{{\"input_tokens\":1}}}}}}\n")),
            None
        );
        let most = u64::MAX.to_string();
        let huge = |id: u32| message(id).replace(":1}", &format!(":{most}}}"));
        assert_eq!(totals(&format!("{}{}", huge(1), huge(2))), Some(u64::MAX));
        assert_eq!(totals(&message(1).replace(":1}", ":-1}")), None);
        let mut sparse = tempfile::NamedTempFile::new().expect("a file");
        sparse.write_all(message(1).as_bytes()).expect("written");
        assert_eq!(tokens(sparse.path()), Some(1));
        let folder = tempfile::tempdir().expect("a folder");
        let (session, below) = (folder.path().join("s.jsonl"), folder.path().join("s/subagents"));
        std::fs::create_dir_all(&below).expect("a folder");
        for path in [session.clone(), below.join("agent-a.jsonl"), below.join("agent-a.meta.json")] {
            std::fs::write(path, message(1)).expect("written");
        }
        assert_eq!(tokens(&session), Some(2), "a subagent draws on its session's tokens");
        sparse.as_file().set_len(MAX_BYTES).expect("longer");
        assert_eq!(tokens(sparse.path()), None);
    }

    #[test]
    fn the_last_message_is_found() {
        let check = |text: &str, expect: &str| {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), text).expect("written");
            assert_eq!(last_message_in(file.path()).as_deref(), Some(expect), "{text}");
        };
        let expected = |text: &str| {
            format!(r#"{{"message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}}}"#)
        };
        let used = r#"{"message":{"content":[{"type":"tool_use","input":{}}]}}"#;
        check("", "");
        check(&format!("{}\n{}\n{used}\n", expected("one"), expected("two")), "two");
        check(&format!("{}\n{}", expected("one"), &expected("two")[..30]), "one");
        check(&format!("{}{}\n", "x".repeat(300_000), expected("one")), "");
        assert_eq!(last_message_in("/dev/zero".as_ref()), None);
        assert_eq!(
            last_message_in("/nowhere".as_ref()),
            None,
            "nothing is to come, so nothing is waited for"
        );
    }

    #[test]
    fn special_files_are_not_waited_for() {
        assert_eq!(tokens("/dev/zero".as_ref()), None);
        assert_eq!(tokens("/nowhere".as_ref()), None);
    }
}
