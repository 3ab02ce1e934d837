//! Sends `loopkeeper/output`: the output of agents, to clients that subscribed to the loop. It is split to fit into
//! messages; output that accumulates while the client is not reading is cut at the front, with a note.

use std::time::Duration;

use loopkeeper_text::{tr, truncate, words};
use tokio::time::Instant;

use super::Throttle;
use crate::ext::{OutputParams, OutputPrinted};
use crate::session::ServerState;
use loopkeeper_workspace::WorkspaceSnapshot;

const INTERVAL: Duration = Duration::from_millis(100);
const MAX_BYTES: usize = 64 * 1024;

pub(super) struct OutputPublisher {
    throttle: Throttle,
}

impl Default for OutputPublisher {
    fn default() -> Self {
        Self { throttle: Throttle::new(INTERVAL) }
    }
}

impl OutputPublisher {
    pub(super) async fn publish(
        &mut self,
        shared: &ServerState,
        snapshot: &WorkspaceSnapshot,
    ) -> Option<Instant> {
        if !shared.index().live_feed().has_output() {
            return None;
        }
        if let Err(due) = self.throttle.try_acquire() {
            return Some(due);
        }
        for (loop_id, waiting) in shared.index().live_feed().take_output() {
            // The snapshot may be slightly older than the output.
            let seen = || snapshot.loop_with(&loop_id).map_or(0, |it| it.status.iteration);
            let iteration = if waiting.iteration > 0 { waiting.iteration } else { seen() };
            let mut text = waiting.text;
            if waiting.dropped > 0 {
                let note =
                    tr!("… {bytes} not shown here", bytes = words::counted(waiting.dropped as u64, "byte"));
                text.insert_str(0, &(note + "\n"));
            }
            for text in split_output(&text, MAX_BYTES) {
                let params = OutputParams { loop_id: loop_id.clone(), iteration, text: text.to_owned() };
                shared.client.send_notification::<OutputPrinted>(params).await;
            }
        }
        None
    }
}

/// Splits between characters, at line ends if possible.
fn split_output(mut text: &str, most: usize) -> Vec<&str> {
    let mut portions = Vec::new();
    while text.len() > most {
        let head = truncate::first_bytes(text, most);
        let end = head.rfind('\n').map_or(head.len(), |it| it + 1);
        let (portion, rest) = text.split_at(end);
        portions.push(portion);
        text = rest;
    }
    portions.push(text);
    portions
}

#[cfg(test)]
mod tests {
    use super::split_output;

    #[test]
    fn portions_hold_whole_lines_where_they_fit_and_lose_nothing() {
        let check = |text: &str, most: usize, expect: &[&str]| {
            assert_eq!(split_output(text, most), expect);
            assert_eq!(split_output(text, most).concat(), text);
        };
        check("", 4, &[""]);
        check("ab\ncd\n", 6, &["ab\ncd\n"]);
        check("ab\ncd\nef\n", 7, &["ab\ncd\n", "ef\n"]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("äöü", 3, &["ä", "ö", "ü"]);
    }
}
