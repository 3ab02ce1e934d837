//! Where a warden stands: alone above its family, or as the first process of a PID namespace.

use std::io;

use rustix::mount::{MountFlags, mount};
use rustix::process::getpid;

use crate::adapters::process::table::{self, Process};

/// What a job must leave behind as it found it.
pub(super) struct Place {
    /// What is mounted where, in a namespace of our own.
    mounts: Option<Vec<u8>>,
}

impl Place {
    pub(super) fn now() -> Self {
        Self { mounts: is_init().then(mounts) }
    }

    /// Nothing covers a program that the next job starts, and nobody came in from outside.
    pub(super) fn is_as_it_was(&self) -> bool {
        self.mounts.as_ref().is_none_or(|before| *before == mounts() && others().is_empty())
    }
}

fn mounts() -> Vec<u8> {
    std::fs::read("/proc/self/mountinfo").unwrap_or_default()
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
pub(super) fn others() -> Vec<Process> {
    let own = getpid().as_raw_pid();
    let mut all = table::all();
    if !is_init() {
        return table::below(own, all);
    }
    // Those who entered the namespace from outside have no parent in it.
    all.retain(|process| process.running && process.pid != own);
    all
}
