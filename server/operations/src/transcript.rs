//! Reads what happened in a loop as text for a terminal: its records with the output of its agent between them. Each call
//! continues at the position where the previous one ended, so that nothing is lost or repeated.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::reader::AgentOutputReader;
use loopkeeper_agent::{AgentEvent, activity};
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::{Entry, Record};
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::transcript::{TranscriptWriter, dim_line};
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::follow::LoopTailer;

/// Iterations that are shown at first.
const ITERATIONS: u32 = 10;
/// Maximum output of each of them.
const EARLIER_BYTES: u64 = 64 * 1024;
/// Maximum output since the previous call.
const NEW_BYTES: u64 = 256 * 1024;

/// A position in a transcript: everything before it was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TranscriptCursor {
    /// The last record.
    pub seq: u64,
    /// The iteration whose output is read, and how many bytes of it were returned.
    pub iteration: u32,
    pub offset: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Sanitised: line feeds, tabs and sequences for colours are its only control characters.
    pub text: String,
    pub cursor: TranscriptCursor,
}

/// The text since `from`; without it the last iterations.
pub fn read(dir: &LoopDir, from: Option<TranscriptCursor>) -> Result<Transcript, Failure> {
    let (mut tailer, writer) = follow(dir, from);
    let entries = tailer.poll()?;
    let Some(state) = tailer.state() else {
        return Ok(Transcript { text: String::new(), cursor: TranscriptCursor::default() });
    };
    let mut reader = TranscriptReader {
        dir,
        state,
        cursor: from.unwrap_or_default(),
        limit: if from.is_some() { NEW_BYTES } else { EARLIER_BYTES },
        text: String::new(),
    };
    reader.read_entries(writer, &entries, from.is_none());
    reader.add_output(AgentOutput::Growing);
    Ok(Transcript { text: reader.text, cursor: reader.cursor })
}

/// Follows the journal from the stored state of a long loop, if all records before that were returned.
fn follow(dir: &LoopDir, from: Option<TranscriptCursor>) -> (LoopTailer, TranscriptWriter) {
    let journal = dir.journal();
    let saved = from.map(|from| (from, LoopTailer::from_saved_state(&journal)));
    let usable = saved.and_then(|(from, tailer)| {
        let state = tailer.state().filter(|it| it.position.seq <= from.seq)?;
        let writer = TranscriptWriter::after(state);
        Some((tailer, writer))
    });
    usable.unwrap_or_else(|| (LoopTailer::new(&journal), TranscriptWriter::default()))
}

/// A note in place of the iterations up to `last`.
fn iterations_left_out(last: u32) -> String {
    match last {
        1 => tr!("Iteration 1 is not shown here").to_owned(),
        last => tr!("Iterations 1 to {last} are not shown here", last),
    }
}

struct TranscriptReader<'a> {
    dir: &'a LoopDir,
    state: &'a LoopState,
    cursor: TranscriptCursor,
    limit: u64,
    text: String,
}

impl TranscriptReader<'_> {
    fn read_entries(&mut self, mut writer: TranscriptWriter, entries: &[Entry], is_first: bool) {
        let first = if is_first { self.state.iteration.saturating_sub(ITERATIONS - 1) } else { 0 };
        let mut is_earlier = first > 1;
        for (index, entry) in entries.iter().enumerate() {
            if entry.seq <= self.cursor.seq {
                writer.skip(entry);
                continue;
            }
            if let Record::IterationIntended { iteration, .. } = &entry.record
                && is_earlier
                && *iteration >= first
            {
                is_earlier = false;
                self.text.push_str(&dim_line(&iterations_left_out(first - 1)));
            }
            if is_earlier && !matches!(entry.record, Record::LoopStarted { .. }) {
                writer.skip(entry);
            } else {
                self.add_entry(&mut writer, entry, entries.get(index + 1..).unwrap_or_default());
            }
            self.cursor.seq = entry.seq;
        }
    }

    /// The output up to a record is before it.
    fn add_entry(&mut self, writer: &mut TranscriptWriter, entry: &Entry, later: &[Entry]) {
        let read_at = later.iter().find_map(|it| match &it.record {
            Record::IterationIntended { iteration, .. } => Some(*iteration),
            _ => None,
        });
        let text = writer.describe(entry, read_at);
        match entry.record {
            Record::AgentEnded { .. } => self.add_output(AgentOutput::Complete),
            _ if text.is_some() => self.add_output(AgentOutput::Growing),
            _ => {}
        }
        if let Record::IterationIntended { iteration, .. } = &entry.record {
            self.cursor.iteration = *iteration;
            self.cursor.offset = 0;
        }
        self.text.push_str(&text.unwrap_or_default());
    }

    /// The new output of the agent. Output that cannot be read is left out: it may have been removed to save space.
    fn add_output(&mut self, output: AgentOutput) {
        let number = self.cursor.iteration;
        if number == 0 {
            return;
        }
        let path = self.dir.output().join(format!("{number:04}.out"));
        let dialect = self.dialect(number);
        if let Ok(part) = read_part(&path, self.cursor.offset, self.limit, output) {
            self.cursor.offset = part.end;
            if part.left_out > 0 {
                self.text.push_str(&dim_line(&tr!(
                    "… {bytes} not shown here",
                    bytes = words::counted(part.left_out, "byte")
                )));
            }
            self.text.push_str(&readable(&part.bytes, dialect));
        }
        if output == AgentOutput::Growing {
            return;
        }
        if let Ok(part) = read_part(&path.with_extension("tail"), 0, self.limit, AgentOutput::Complete) {
            self.text.push_str(&readable(&part.bytes, dialect));
        }
    }

    fn dialect(&self, iteration: u32) -> Dialect {
        let spec = &self.state.spec;
        let row = self.state.history.find(iteration);
        let plans = std::iter::once(&spec.agent).chain(&spec.fallbacks);
        let plan = plans.into_iter().find(|it| row.as_ref().is_some_and(|row| row.agent == it.name));
        plan.unwrap_or(&spec.agent).dialect
    }
}

/// Whether the agent may still print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AgentOutput {
    /// Only whole lines are read.
    Growing,
    Complete,
}

struct OutputPart {
    bytes: Vec<u8>,
    /// Bytes before them that are left out.
    left_out: u64,
    /// The position after them.
    end: u64,
}

/// The last `limit` bytes after `from`, from the beginning of a line.
fn read_part(path: &Path, from: u64, limit: u64, output: AgentOutput) -> io::Result<OutputPart> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = from.max(length.saturating_sub(limit));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let mut left_out = start.saturating_sub(from);
    if left_out > 0 {
        let cut = bytes.iter().position(|it| *it == b'\n').map_or(0, |it| it + 1);
        bytes.drain(..cut);
        left_out += cut as u64;
    }
    if output == AgentOutput::Growing {
        let whole = bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        bytes.truncate(whole);
    }
    let end = from + left_out + bytes.len() as u64;
    Ok(OutputPart { bytes, left_out, end })
}

/// What an agent printed, as its users read it: its words, and one line for each use of a tool.
fn readable(bytes: &[u8], dialect: Dialect) -> String {
    let mut reader = AgentOutputReader::new(dialect);
    let text = String::from_utf8_lossy(bytes);
    let events = text.lines().flat_map(|line| reader.read_line(line));
    events.filter_map(|it| describe_event(&it)).collect()
}

fn describe_event(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::Text(text) | AgentEvent::Unread(text) => {
            let text = sanitize::coloured(text);
            Some(if text.ends_with('\n') { text } else { format!("{text}\n") })
        }
        AgentEvent::ToolUse(_)
        | AgentEvent::Denied { .. }
        | AgentEvent::Retry { .. }
        | AgentEvent::Limit { .. } => Some(dim_line(&format!("▸ {}", activity::describe_event(event)?))),
        AgentEvent::ToolFailed { text } => {
            let line = text.lines().find(|it| !it.trim().is_empty())?;
            Some(dim_line(&tr!("▸ failed: {line}", line)))
        }
        AgentEvent::Started { .. }
        | AgentEvent::Spawned { .. }
        | AgentEvent::FileChange { .. }
        | AgentEvent::Step { .. }
        | AgentEvent::Turn(_)
        | AgentEvent::Oversize { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentOutput, read_part, readable};
    use loopkeeper_agent::kind::Dialect;

    #[test]
    fn parts_continue_where_the_previous_one_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0001.out");
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let part = |from: u64, limit: u64, output: AgentOutput| {
            let it = read_part(&path, from, limit, output).unwrap();
            (String::from_utf8(it.bytes).unwrap(), it.left_out, it.end)
        };
        assert_eq!(part(0, 100, AgentOutput::Growing), ("one\ntwo\n".to_owned(), 0, 8));
        assert_eq!(part(8, 100, AgentOutput::Growing), (String::new(), 0, 8));
        assert_eq!(part(8, 100, AgentOutput::Complete), ("thr".to_owned(), 0, 11));
        assert_eq!(part(11, 100, AgentOutput::Complete), (String::new(), 0, 11));
        // Of too much the end, from the beginning of a line.
        assert_eq!(part(0, 9, AgentOutput::Complete), ("two\nthr".to_owned(), 4, 11));
        assert!(read_part(&folder.path().join("none"), 0, 9, AgentOutput::Complete).is_err());
    }

    #[test]
    fn output_is_read_as_its_agent_writes_it() {
        let check =
            |bytes: &[u8], dialect: Dialect, expect: &str| assert_eq!(readable(bytes, dialect), expect);
        check(b"one\n\x1b[31mred\x1b[2J\n", Dialect::Text, "one\n\x1b[31mred\x1b[0m\n");
        check(b"\xff\xfe\n", Dialect::Text, "\u{fffd}\u{fffd}\n");
        let claude = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done \u001b]0;x\u0007it"},{"type":"tool_use","id":"1","name":"Bash","input":{"command":"cargo test"}}]}}"#;
        check(claude.as_bytes(), Dialect::Claude, "Done it\n\x1b[2m▸ running cargo test\x1b[0m\n");
    }
}
