//! Receives live data that is not in the journal: the agent's last activity and streamed output. One connection per
//! running keeper; a closed connection means that the keeper ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::snapshot::LoopSnapshot;
use loopkeeper_operations::watch_client::{WatchMessage, WatchStream};
use loopkeeper_system::state_dir::StateDir;

/// Limit of buffered output per subscriber: older output is dropped, with a note.
const MAX_BUFFERED_BYTES: usize = 256 * 1024;

/// Delay between the end of a connection and the next one to the same keeper.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Shared by all subscribers.
#[derive(Clone, Default)]
pub struct LiveFeed {
    state: Arc<Mutex<LiveFeedState>>,
    changed: Arc<Notify>,
}

#[derive(Default)]
struct LiveFeedState {
    listening: BTreeSet<String>,
    activity: BTreeMap<String, String>,
    subscribed: BTreeSet<String>,
    waiting: BTreeMap<String, BufferedOutput>,
}

/// Output of one loop that was not taken yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BufferedOutput {
    pub text: String,
    pub dropped: usize,
    /// The iteration of its last output; 0 if the keeper does not report it.
    pub iteration: u32,
}

impl LiveFeed {
    /// The last observed activity of the loop's agent, sanitised.
    pub fn activity(&self, loop_id: &str) -> Option<String> {
        self.lock_state().activity.get(loop_id).cloned()
    }

    /// Output of this loop is kept for [`Self::take_output`] from now on.
    pub fn subscribe(&self, loop_id: &str) {
        self.lock_state().subscribed.insert(loop_id.to_owned());
    }

    pub fn unsubscribe(&self, loop_id: &str) {
        let mut state = self.lock_state();
        state.subscribed.remove(loop_id);
        state.waiting.remove(loop_id);
    }

    pub fn has_output(&self) -> bool {
        !self.lock_state().waiting.is_empty()
    }

    /// All output since the last call, by loop.
    pub fn take_output(&self) -> BTreeMap<String, BufferedOutput> {
        std::mem::take(&mut self.lock_state().waiting)
    }

    /// Resolves when there is new activity or output.
    pub async fn wait_for_updates(&self) {
        self.changed.notified().await;
    }

    /// Connects to every running keeper without a connection; `changed` is called when it recorded something or exited.
    pub(super) fn follow_keepers(
        &self,
        store: &StateDir,
        loops: &[Arc<LoopSnapshot>],
        changed: impl Fn() + Clone + Send + Sync + 'static,
    ) {
        let ended = |id: &str| loops.iter().any(|it| it.status.id == id && it.state.outcome().is_some());
        self.lock_state().subscribed.retain(|it| !ended(it));
        for loop_view in loops.iter().filter(|it| it.state.outcome().is_none() && it.status.keeper.alive) {
            let id = loop_view.status.id.clone();
            if self.lock_state().listening.insert(id.clone()) {
                let (live, store, changed) = (self.clone(), store.clone(), changed.clone());
                tokio::spawn(async move {
                    live.follow_keeper(&store, &id, &changed).await;
                    // Report a dead keeper immediately; back off before reconnecting to a live one.
                    changed();
                    sleep(RECONNECT_DELAY).await;
                    live.forget(&id);
                    changed();
                });
            }
        }
    }

    async fn follow_keeper(&self, store: &StateDir, id: &str, changed: &(impl Fn() + Sync)) {
        let Some(mut stream) = connect(store, id).await else { return };
        while let Some(message) = stream.next().await {
            match message.kind.as_str() {
                "recorded" => changed(),
                "activity" => self.set_activity(id, &message.text),
                "output" => self.add_output(id, &message),
                _ => {}
            }
        }
    }

    fn set_activity(&self, id: &str, text: &str) {
        let before = self.lock_state().activity.insert(id.to_owned(), text.to_owned());
        if before.as_deref() != Some(text) {
            self.changed.notify_one();
        }
    }

    fn add_output(&self, id: &str, message: &WatchMessage) {
        let mut state = self.lock_state();
        if !state.subscribed.contains(id) {
            return;
        }
        let waiting = state.waiting.entry(id.to_owned()).or_default();
        waiting.iteration = message.iteration;
        waiting.add(&message.text);
        self.changed.notify_one();
    }

    fn forget(&self, id: &str) {
        let mut state = self.lock_state();
        state.listening.remove(id);
        state.activity.remove(id);
    }

    fn lock_state(&self) -> MutexGuard<'_, LiveFeedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BufferedOutput {
    fn add(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
        let over = self.text.len().saturating_sub(MAX_BUFFERED_BYTES);
        if over > 0 {
            // Whole lines: cuts at the first line that begins after the part to drop.
            let cut = self
                .text
                .bytes()
                .skip(over)
                .position(|it| it == b'\n')
                .map_or(self.text.len(), |it| over + it + 1);
            self.dropped += cut;
            self.text.drain(..cut);
        }
    }
}

/// A keeper that just took its loop over holds its lock briefly before it listens.
async fn connect(store: &StateDir, id: &str) -> Option<WatchStream> {
    const POLL_INTERVAL: Duration = Duration::from_millis(50);
    for _ in 0..40 {
        let stream = WatchStream::connect(store, id).await;
        if stream.is_some() {
            return stream;
        }
        sleep(POLL_INTERVAL).await;
    }
    // The polling detects whether it is still running.
    None
}

#[cfg(test)]
mod tests {
    use super::{BufferedOutput, MAX_BUFFERED_BYTES};

    #[test]
    fn unread_output_is_cut_at_a_line_and_counted() {
        let mut waiting = BufferedOutput::default();
        waiting.add("first");
        waiting.add(&"x".repeat(MAX_BUFFERED_BYTES - 10));
        waiting.add("äöü");
        assert_eq!(waiting.dropped, 6);
        assert!(waiting.text.starts_with("xx") && waiting.text.ends_with("äöü\n"));
        waiting.add(&"y".repeat(2 * MAX_BUFFERED_BYTES));
        assert_eq!(waiting.text, "");
    }
}
