//! Handles signals, and notices when the state folder is deleted or replaced.

use std::path::PathBuf;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::KeeperError;
use loopkeeper_system::removal_watch::RemovalWatch;

/// Whether there is running work, which must not continue without a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateDirWatch {
    Busy,
    Idle,
}

/// Polling interval for a deleted state folder while something runs.
const POLL_INTERVAL: Duration = Duration::from_secs(4);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    Interrupt,
    Terminate,
}

impl StopSignal {
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// The signals that stop the keeper. SIGHUP, sent when a terminal closes, is not among them.
pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    _hang_up: Signal,
}

impl StopSignals {
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            _hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.interrupt.recv() => StopSignal::Interrupt,
            _ = self.terminate.recv() => StopSignal::Terminate,
        }
    }
}

/// Resolves when the journal, the first of `paths`, was deleted or replaced. Idle keepers use inotify and never wake
/// up, busy ones poll.
pub(super) async fn wait_removed(
    paths: impl Fn() -> Vec<PathBuf>,
    watch: StateDirWatch,
    is_ours: impl Fn() -> bool,
) -> KeeperError {
    if watch == StateDirWatch::Idle {
        // Work that just began may already be over.
        tokio::task::yield_now().await;
    }
    loop {
        let moving = match watch {
            StateDirWatch::Busy => {
                tokio::time::sleep(POLL_INTERVAL).await;
                None
            }
            // Recreated each time: files that were moved to another path no longer belong to us.
            StateDirWatch::Idle => Some(RemovalWatch::new(paths())),
        };
        if !is_ours() {
            return KeeperError::StateGone { path: paths().into_iter().next().unwrap_or_default() };
        }
        if let Some(moving) = moving {
            moving.wait_removed().await;
        }
    }
}
