//! Finds the process that holds a lock, in the list of the kernel.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{major, minor};

use crate::process_table::{self, Process};

/// The process that holds the lock at `path` exclusively. `None`: no process of this PID namespace.
pub(super) fn find(path: &Path) -> Option<Process> {
    let file = File::open(path).and_then(|it| it.metadata()).ok()?;
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let device = (major(file.dev()), minor(file.dev()));
    process_table::find_process(find_holder(&locks, device, file.ino())?)
}

/// The holder of the lock on this file. Some file systems (btrfs) have another device in the list than in the file's
/// metadata: only if no line has the device does the inode decide alone.
fn find_holder(locks: &str, device: (u32, u32), inode: u64) -> Option<i32> {
    let locks: Vec<ExclusiveLock> =
        locks.lines().filter_map(ExclusiveLock::parse).filter(|it| it.inode == inode).collect();
    locks.iter().find(|it| it.device == device).or(locks.first()).map(|it| it.pid)
}

/// An exclusive lock that a process of this PID namespace holds.
struct ExclusiveLock {
    pid: i32,
    device: (u32, u32),
    inode: u64,
}

impl ExclusiveLock {
    /// Parses `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF`.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = fields.as_slice() else { return None };
        let mut numbers = file.split(':');
        let mut hex = || u32::from_str_radix(numbers.next()?, 16).ok();
        let device = (hex()?, hex()?);
        let inode = numbers.next()?.parse().ok()?;
        // The holder is in another PID namespace if it has no number here.
        let pid = pid.parse().ok().filter(|it| *it > 0)?;
        Some(Self { pid, device, inode })
    }
}

#[cfg(test)]
mod tests {
    use super::find_holder;

    #[test]
    fn only_an_exclusive_lock_on_the_file_counts() {
        let check = |locks: &str, expect: Option<i32>| {
            assert_eq!(find_holder(locks, (0xfe, 0), 131_089), expect, "{locks}");
        };
        check("1: FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", Some(4711));
        check("1: FLOCK  ADVISORY  READ 4711 fe:00:131089 0 EOF", None);
        check("1: POSIX  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", None);
        check("1: FLOCK  ADVISORY  WRITE 4711 fe:00:131088 0 EOF", None);
        check("1: FLOCK  ADVISORY  WRITE 0 fe:00:131089 0 EOF", None);
        check("1: FLOCK  ADVISORY  WRITE -1 fe:00:131089 0 EOF", None);
        check("1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", None);
        check("", None);
        // A file of another file system with the same inode, and a file system that reports another device.
        let other = "1: FLOCK  ADVISORY  WRITE 99 00:1b:131089 0 EOF";
        check(&format!("{other}\n2: FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF\n"), Some(4711));
        check(other, Some(99));
    }
}
