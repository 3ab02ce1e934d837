//! Real faults on real files: kills, power cuts, full disks, failing system calls. Each rig has a control that
//! has to fail, since a rig that finds nothing may be one that cannot find anything.
//!
//! `LOOPKEEPER_RIGS=full` repeats more often. A test whose name begins with `root_` needs root and mounts, with
//! `strace_` strace, with `lsprotocol_` the protocol's types: `tests/run` leaves out what cannot run here and says so.

pub(crate) mod disk;
mod hostile;
mod keeper;
mod lsp;
mod state;
mod store;
pub(crate) mod strace;

/// How often a rig repeats itself.
pub(crate) fn times(short: usize, full: usize) -> usize {
    if std::env::var("LOOPKEEPER_RIGS").is_ok_and(|it| it == "full") { full } else { short }
}

/// Something is missing on this machine. `tests/run` sets `LOOPKEEPER_RIGS` and has left such tests out: then
/// this is a failure, since nobody would see a test that only says that it did not run.
pub(crate) fn unavailable(what: &str, why: &str) {
    assert!(std::env::var_os("LOOPKEEPER_RIGS").is_none(), "{what}: {why}");
    crate::not_run(what, why);
}
