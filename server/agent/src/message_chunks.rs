//! Assembles a message from streamed chunks.

use super::{AgentEvent, LINE_BYTES};
use loopkeeper_text::truncate;

/// Chunks of one message are reported together unless the message is longer than this.
const REPORT_BYTES: usize = 16 * 1024;
/// The end of a message that is kept, as long as the longest line of other dialects.
const LAST_BYTES: usize = LINE_BYTES;

#[derive(Debug, Default)]
pub(super) struct MessageChunks {
    /// Text that was received but not reported yet.
    open: String,
    last: String,
    /// Whether the end of a message was reported, so that the next chunk begins a new one.
    is_finished: bool,
}

impl MessageChunks {
    pub(super) fn push_chunk(&mut self, chunk: &str, events: &mut Vec<AgentEvent>) {
        if self.is_finished {
            self.last.clear();
            self.is_finished = false;
        }
        self.open.push_str(chunk);
        self.last.push_str(chunk);
        // Truncates only occasionally.
        if self.last.len() > 2 * LAST_BYTES {
            self.last = truncate::last_bytes(&self.last, LAST_BYTES).to_owned();
        }
        if self.open.len() > REPORT_BYTES {
            events.push(AgentEvent::Text(std::mem::take(&mut self.open)));
        }
    }

    /// Finishes the message because another kind of event arrived.
    pub(super) fn finish_message(&mut self, events: &mut Vec<AgentEvent>) {
        self.is_finished = true;
        if !self.open.is_empty() {
            events.push(AgentEvent::Text(std::mem::take(&mut self.open)));
        }
    }

    /// The end of the last message, as far as it was received.
    pub(super) fn last_message(&self) -> &str {
        &self.last
    }
}

#[cfg(test)]
mod tests {
    use super::{LAST_BYTES, MessageChunks};
    use crate::AgentEvent;

    #[test]
    fn an_endless_message_is_bounded() {
        let mut chunks = MessageChunks::default();
        let mut events = Vec::new();
        let chunk = "é".repeat(100_000);
        for _ in 0..20 {
            chunks.push_chunk(&chunk, &mut events);
        }
        chunks.push_chunk("end", &mut events);
        chunks.finish_message(&mut events);
        let last = chunks.last_message();
        assert!((LAST_BYTES - 1..=2 * LAST_BYTES).contains(&last.len()) && last.ends_with("éend"));
        let reported: usize = events
            .iter()
            .map(|it| match it {
                AgentEvent::Text(text) => text.len(),
                other => panic!("{other:?}"),
            })
            .sum();
        assert_eq!(reported, 20 * chunk.len() + "end".len());
    }
}
