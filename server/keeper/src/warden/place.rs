//! The execution context of a warden: a plain subreaper, or PID 1 of a namespace.

use std::io;

use rustix::mount::{MountFlags, mount};
use rustix::process::getpid;

use loopkeeper_system::process::table::{self, Process};

/// What a job inherits from its warden and must leave as it found it.
#[derive(PartialEq, Eq)]
pub(super) struct HostFingerprint {
    limits: Vec<u8>,
    /// What is mounted where, in a namespace of our own.
    mounts: Option<Vec<u8>>,
}

impl HostFingerprint {
    pub(super) fn capture() -> Self {
        let read = |path| std::fs::read(path).unwrap_or_default();
        Self { limits: read("/proc/self/limits"), mounts: is_init().then(|| read("/proc/self/mountinfo")) }
    }

    /// Nothing covers a program that the next job starts or keeps it from its work, and nobody came into the
    /// namespace from outside.
    pub(super) fn is_as_it_was(&self) -> bool {
        *self == Self::capture() && (!is_init() || other_processes().is_empty())
    }
}

/// Shows the namespace's processes instead of the system's. Only where bubblewrap has made the mounts private.
pub(super) fn mount_proc() -> io::Result<()> {
    if !is_init() {
        return Err(io::Error::other("not the first process of a namespace"));
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)
        .map_err(|error| io::Error::other(format!("could not mount /proc: {error}")))
}

/// The first process of a PID namespace of its own: when it ends, the kernel ends everything else in it.
pub(super) fn is_init() -> bool {
    getpid().is_init()
}

/// Everybody in the domain but the warden.
pub(super) fn other_processes() -> Vec<Process> {
    let own = getpid().as_raw_pid();
    let mut all = table::list_processes();
    if !is_init() {
        return table::descendants(own, all);
    }
    // Those who entered the namespace from outside have no parent in it.
    all.retain(|process| process.running && process.pid != own);
    all
}
