//! Reads the dialect of any command that prints text: every line of stdout is agent text, and the last lines are the
//! final message. Nothing in it is interpreted.

use crate::AgentEvent;

/// Reads one line of stdout.
pub fn parse_line(line: &str) -> AgentEvent {
    AgentEvent::Text(line.to_owned())
}
