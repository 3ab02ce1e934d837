//! Watches the client's process, so that its death is noticed even if other processes keep the pipes open.

use std::os::fd::BorrowedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};

/// Poll interval where no descriptor of the process is available.
const POLL_INTERVAL: Duration = Duration::from_millis(1500);

pub(super) enum ParentProcess {
    /// Not announced, or not visible to us, for example outside of our container.
    Unknown,
    #[cfg(target_os = "linux")]
    Descriptor(OwnedFd),
    Polled(Pid),
}

impl ParentProcess {
    pub(super) fn of(pid: i64) -> Self {
        let Some(pid) = i32::try_from(pid).ok().filter(|it| *it > 0).and_then(Pid::from_raw) else {
            return Self::Unknown;
        };
        #[cfg(target_os = "linux")]
        if let Ok(descriptor) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            return Self::Descriptor(descriptor);
        }
        if exists(pid) { Self::Polled(pid) } else { Self::Unknown }
    }

    /// A descriptor that becomes readable when the process ends.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => Some(descriptor.as_fd()),
            Self::Unknown | Self::Polled(_) => None,
        }
    }

    /// How often to poll.
    pub(super) fn poll_interval(&self) -> Option<Duration> {
        matches!(self, Self::Polled(_)).then_some(POLL_INTERVAL)
    }

    pub(super) fn is_gone(&self) -> bool {
        match self {
            Self::Polled(pid) => !exists(*pid),
            Self::Unknown => false,
            #[cfg(target_os = "linux")]
            Self::Descriptor(_) => false,
        }
    }
}

/// A process that we may not signal exists as well.
fn exists(pid: Pid) -> bool {
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}
