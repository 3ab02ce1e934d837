//! Measures whether a disk can be written and its free space, in bytes and in inodes: errors of the system do not
//! distinguish them.

use std::path::Path;

use loopkeeper_text::tr;
use rustix::fs::{StatVfsMountFlags, statvfs};

/// What an iteration writes besides the work: its prompt, outputs, records and the objects of a snapshot.
const MIN_FREE_BYTES: u64 = 256 * 1024;
const MIN_FREE_INODES: u64 = 64;

/// What is missing on the disks of these paths, in words; `None` where there is room or it cannot be determined.
pub fn shortage(paths: &[&Path]) -> Option<String> {
    paths.iter().find_map(|path| {
        // A file system without blocks, such as `/proc`, has no room to report.
        let disk = statvfs(*path).ok().filter(|it| it.f_blocks > 0)?;
        let bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
        // File systems without a fixed number of inodes report none at all.
        let inodes = (disk.f_files > 0).then_some(disk.f_favail);
        missing_resource(bytes, inodes)
            .map(|it| tr!("{lack} on the disk of {path}", lack = it, path = path.display()))
    })
}

/// That nothing can be written on the disk of this path, in words.
pub fn write_protection(path: &Path) -> Option<String> {
    let is_read_only = statvfs(path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY));
    is_read_only.then(|| tr!("the disk of {path} is read-only", path = path.display()))
}

fn missing_resource(bytes: u64, inodes: Option<u64>) -> Option<&'static str> {
    match inodes {
        Some(0) => Some(tr!("no inodes are left")),
        Some(..MIN_FREE_INODES) => Some(tr!("almost no inodes are left")),
        _ if bytes == 0 => Some(tr!("no bytes are left")),
        _ if bytes < MIN_FREE_BYTES => Some(tr!("almost no bytes are left")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{MIN_FREE_BYTES, MIN_FREE_INODES, missing_resource, shortage};

    #[test]
    fn bytes_and_inodes_run_out() {
        let check =
            |bytes, inodes, expect| assert_eq!(missing_resource(bytes, inodes), expect, "{bytes} {inodes:?}");
        check(MIN_FREE_BYTES, Some(MIN_FREE_INODES), None);
        check(MIN_FREE_BYTES, None, None);
        check(MIN_FREE_BYTES - 1, None, Some("almost no bytes are left"));
        check(0, Some(MIN_FREE_INODES), Some("no bytes are left"));
        check(MIN_FREE_BYTES, Some(MIN_FREE_INODES - 1), Some("almost no inodes are left"));
        check(0, Some(0), Some("no inodes are left"));
    }

    #[test]
    fn unknown_free_space_is_not_a_shortage() {
        assert_eq!(shortage(&["/nonexistent".as_ref(), "/proc".as_ref()]), None);
    }
}
