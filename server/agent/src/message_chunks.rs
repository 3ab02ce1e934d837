//! Assembles a message from streamed chunks.

use super::AgentEvent;

/// Chunks of one message are reported together unless the message is longer than this.
const PIECES_BYTES: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct MessageChunks {
    /// Text that was received but not reported yet.
    open: String,
    last: String,
    /// The end of a message was reported, so that the next chunk begins a new one.
    is_finished: bool,
}

impl MessageChunks {
    pub(super) fn push_chunk(&mut self, piece: &str, events: &mut Vec<AgentEvent>) {
        if self.is_finished {
            self.last.clear();
            self.is_finished = false;
        }
        self.open.push_str(piece);
        self.last.push_str(piece);
        if self.open.len() > PIECES_BYTES {
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

    /// The last message, as far as it was received.
    pub(super) fn last_message(&self) -> &str {
        &self.last
    }
}
