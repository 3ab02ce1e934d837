//! Finds the process that holds a lock, in the list of the kernel.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::process_table::{self, Process};

/// The process that holds the lock at `path` exclusively. `None`: no process of this PID namespace.
pub(super) fn find(path: &Path) -> Option<Process> {
    let file = File::open(path).and_then(|it| it.metadata()).ok()?;
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let pid = locks.lines().find_map(|line| holder(line, file.ino()))?;
    process_table::find_process(pid)
}

/// The process of a line of `/proc/locks` that is a lock on this inode:
/// `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF`.
fn holder(line: &str, inode: u64) -> Option<i32> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", holder, file, ..] = fields.as_slice() else { return None };
    let number: u64 = file.rsplit(':').next()?.parse().ok()?;
    // The holder is in another PID namespace if it has no number here.
    holder.parse().ok().filter(|pid| number == inode && *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::holder;

    #[test]
    fn only_an_exclusive_lock_on_the_file_counts() {
        let check = |line: &str, expect: Option<i32>| assert_eq!(holder(line, 131_089), expect, "{line}");
        check("1: FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", Some(4711));
        check("1: FLOCK  ADVISORY  READ 4711 fe:00:131089 0 EOF", None);
        check("1: POSIX  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", None);
        check("1: FLOCK  ADVISORY  WRITE 4711 fe:00:131088 0 EOF", None);
        check("1: FLOCK  ADVISORY  WRITE 0 fe:00:131089 0 EOF", None);
        check("1: FLOCK  ADVISORY  WRITE -1 fe:00:131089 0 EOF", None);
        check("1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:131089 0 EOF", None);
        check("", None);
    }
}
