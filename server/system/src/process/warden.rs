//! Holds the keeper's side of one warden: the process, and its return to the pool.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::process::Child;
use tokio::time::timeout;

use super::orphans;
use crate::host_proxy::ProxyLease;
use crate::sandbox::{JobGroups, ReachedLimits, WardenCommand};
use crate::warden_channel::WardenReport;

/// How long a warden may take to end its domain before its end is forced from outside.
pub(super) const FORCE_TIMEOUT: Duration = Duration::from_secs(3);

/// Wardens without a job.
pub(super) type IdleWardens = Mutex<Vec<WardenHandle>>;

#[derive(Debug)]
pub(super) struct WardenHandle {
    child: Child,
    pub(super) pid: i32,
    /// CPU time of its earlier jobs.
    pub(super) spent_ms: u64,
    /// Absent if the warden ends with its job.
    pool: Option<PoolHandle>,
    /// The control groups, removed with the warden.
    groups: JobGroups,
}

/// The pool that a warden returns to after its job.
#[derive(Debug)]
pub(super) struct PoolHandle {
    pub(super) requests: UnixStream,
    pub(super) idle: Weak<IdleWardens>,
    /// Dropped with the warden, which ends the proxy of its jobs.
    #[expect(dead_code, reason = "held until the warden ends")]
    pub(super) lease: Option<ProxyLease>,
}

impl WardenHandle {
    pub(super) fn start(warden: WardenCommand, pool: Option<PoolHandle>) -> io::Result<Self> {
        let WardenCommand { command, groups } = warden;
        let child = tokio::process::Command::from(command).spawn()?;
        let pid = child.id().map_or(0, |pid| pid as i32);
        orphans::register(pid);
        Ok(Self { child, pid, spent_ms: 0, pool, groups })
    }

    /// The channel for its jobs, if it accepts more than one.
    pub(super) fn request_channel(&self) -> Option<&UnixStream> {
        self.pool.as_ref().map(|pool| &pool.requests)
    }

    /// Marks the warden as busy, so that waits include it.
    pub(super) fn mark_busy(self) -> Self {
        orphans::mark_attached(self.pid);
        self
    }

    pub(super) async fn wait(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// The limits that its control groups enforced since the last call.
    pub(super) fn take_reached_limits(&mut self) -> ReachedLimits {
        self.groups.take_reached()
    }

    /// Call after a job that left nothing behind.
    pub(super) fn return_to_pool(mut self, report: &WardenReport) {
        self.spent_ms += report.cpu_ms;
        let Some(idle) = self.pool.as_ref().and_then(|pool| pool.idle.upgrade()) else {
            // The pool was dropped: closing the channel ends the warden.
            return orphans::unregister(self.pid);
        };
        orphans::mark_idle(self.pid);
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    /// Ends the warden. A stopped warden does not notice, and is killed.
    pub(super) async fn shutdown(mut self) {
        self.pool = None;
        if timeout(FORCE_TIMEOUT, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
        orphans::unregister(self.pid);
    }
}
