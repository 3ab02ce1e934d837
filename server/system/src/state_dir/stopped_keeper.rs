//! A keeper whose process is stopped (`SIGSTOP`, Ctrl-Z): it holds its lock and answers nothing.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use rustix::process::Signal;

use super::workspace::LoopDir;
use crate::process_table::{self, Process};

/// The stopped process that holds the lock of the loop, if `pid` is its pid here.
pub(super) fn find(of: &LoopDir, pid: u32) -> Option<Process> {
    let process = process_table::find_process(i32::try_from(pid).ok()?).filter(|it| it.stopped)?;
    // A pid of another PID namespace may be that of another process here.
    let file = File::open(of.lock()).and_then(|it| it.metadata()).ok()?;
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().any(|line| is_lock(line, pid, file.ino())).then_some(process)
}

/// Continues it; false if it has exited.
pub(super) fn resume(process: &Process) -> bool {
    process.signal(Signal::CONT).is_ok()
}

/// Whether a line of `/proc/locks` is a lock of this process on this inode:
/// `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF`.
fn is_lock(line: &str, pid: u32, inode: u64) -> bool {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", holder, file, ..] = fields.as_slice() else { return false };
    let number = file.rsplit(':').next().and_then(|it| it.parse().ok());
    holder.parse() == Ok(pid) && number == Some(inode)
}

#[cfg(test)]
mod tests {
    use super::is_lock;

    #[test]
    fn only_an_exclusive_lock_of_the_process_on_the_file_counts() {
        let check = |line: &str, expect| assert_eq!(is_lock(line, 4711, 131_089), expect, "{line}");
        check("1: FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", true);
        check("1: FLOCK  ADVISORY  READ 4711 fe:00:131089 0 EOF", false);
        check("1: POSIX  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", false);
        check("1: FLOCK  ADVISORY  WRITE 4712 fe:00:131089 0 EOF", false);
        check("1: FLOCK  ADVISORY  WRITE 4711 fe:00:131088 0 EOF", false);
        check("1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", false);
        check("", false);
    }
}
