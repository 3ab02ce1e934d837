//! Keeps other processes of the same user out of this one: what it holds open decides verdicts.

use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

/// From now on no process of the same user may trace this one, read its memory, or take or reopen its files. Programs
/// that it starts are not affected.
pub fn forbid_tracing() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Jobs of root start without the capability that would override [`forbid_tracing`].
pub fn drop_tracing_capability() {
    // A process that may not drop it has none to pass on.
    let _ = remove_capability_from_bounding_set(CapabilitySet::SYS_PTRACE);
}
