//! Finds and continues a keeper whose process is stopped (`SIGSTOP`, Ctrl-Z), so that it holds its lock and does not
//! respond.

use rustix::process::Signal;

use super::lock_holder;
use super::workspace::LoopDir;
use crate::process_table::Process;

/// The stopped process that holds the lock of the loop, if `pid` is its pid here: a pid of another PID namespace may be
/// that of another process.
pub(super) fn find(loop_dir: &LoopDir, pid: u32) -> Option<Process> {
    lock_holder::find(&loop_dir.lock()).filter(|it| it.stopped && u32::try_from(it.pid) == Ok(pid))
}

/// Continues it; false if it has exited.
pub(super) fn resume(process: &Process) -> bool {
    process.signal(Signal::CONT).is_ok()
}
