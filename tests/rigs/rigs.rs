//! Real faults on real files: kills, power cuts, full disks, failing system calls. Each rig has a control that
//! has to fail, since a rig that finds nothing may be one that cannot find anything.
//!
//! `LOOPKEEPER_RIGS=full` repeats more often. A test whose name has `rig_root` needs root, `rig_strace` needs
//! strace; without it they say that they were not run.

pub(crate) mod disk;
mod state;
mod store;
pub(crate) mod strace;

/// How often a rig repeats itself.
pub(crate) fn times(short: usize, full: usize) -> usize {
    if std::env::var("LOOPKEEPER_RIGS").is_ok_and(|it| it == "full") { full } else { short }
}
