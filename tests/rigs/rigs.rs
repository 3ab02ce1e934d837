//! Real faults on real files: kills, power cuts, full disks, failing system calls. Each rig has a control that has to
//! fail, because a rig that finds nothing may be unable to find anything.
//!
//! `LOOPKEEPER_RIGS=full` repeats more often. A test whose name begins with `root_` needs root and mounts, with
//! `strace_` strace, with `lsprotocol_` the protocol's types: `tests/run` leaves out what cannot run here and reports
//! it.

pub(crate) mod disk;
mod hostile;
mod keeper;
mod lsp;
mod soak;
mod state;
mod store;
pub(crate) mod strace;
mod ways_out;

/// Number of repetitions of a rig.
pub(crate) fn times(short: usize, full: usize) -> usize {
    if std::env::var("LOOPKEEPER_RIGS").is_ok_and(|it| it == "full") { full } else { short }
}

/// Reports that something is missing on this machine. If `tests/run` set `LOOPKEEPER_RIGS`, it has already left such
/// tests out: then this is a failure, because a test that only prints that it did not run would go unnoticed.
pub(crate) fn unavailable(what: &str, why: &str) {
    assert!(std::env::var_os("LOOPKEEPER_RIGS").is_none(), "{what}: {why}");
    crate::not_run(what, why);
}
