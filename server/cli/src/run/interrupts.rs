//! Handles Ctrl-C on the terminal of a loop: the first stops it after its iteration, the second immediately.

use loopkeeper_text::tr;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;
use crate::watch::InterruptSource;
use loopkeeper_operations::control_client;
use loopkeeper_system::state_dir::StateDir;

pub(super) struct CtrlC<'a> {
    store: &'a StateDir,
    loop_id: String,
    source: Signal,
    signals: u32,
}

impl<'a> CtrlC<'a> {
    pub(super) fn listen(store: &'a StateDir, loop_id: &str) -> Result<Self, Failure> {
        let source = signal(SignalKind::interrupt())?;
        Ok(Self { store, loop_id: loop_id.to_owned(), source, signals: 0 })
    }

    /// Whether the loop was stopped in the middle of an iteration.
    pub(super) fn was_urgent(&self) -> bool {
        self.signals > 1
    }
}

impl InterruptSource for CtrlC<'_> {
    async fn next(&mut self) -> Option<String> {
        self.source.recv().await?;
        self.signals += 1;
        let now = self.was_urgent();
        Some(match control_client::send(self.store, &self.loop_id, json!({"do": "stop", "now": now})) {
            Ok(()) if now => tr!("Stopping now.").to_owned(),
            Ok(()) => tr!("Stopping after this iteration. Ctrl-C again stops now.").to_owned(),
            Err(failure) => failure.to_string(),
        })
    }
}
