//! Detects resources that ran out or soon will, and names the remedy.

use std::io::{Error, ErrorKind};

use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Files that a keeper has open while an agent or a check starts, with a reserve for its clients.
pub const KEEPER_FILES: u64 = 32;

pub const RAISE_FILES: &str = tr_later!("Raise the limit of open files: `ulimit -n`.");

pub const RAISE_MEMORY: &str = tr_later!("Raise the limit of memory: `ulimit -v`.");

/// Stack that a command uses at most, with a reserve. The system kills a process that exceeds its limit.
pub const STACK_BYTES: u64 = 1 << 20;

/// Address space that a program, its threads and the largest document that is read may need together. A failed
/// allocation aborts the program.
pub const ADDRESS_SPACE_BYTES: u64 = 256 << 20;

/// This process's limit of open files, if it is too low for a keeper.
pub fn low_file_limit() -> Option<u64> {
    limit_below(getrlimit(Resource::Nofile).current, KEEPER_FILES)
}

/// This process's limit of the stack in bytes, if a command may overflow it.
pub fn low_stack_limit() -> Option<u64> {
    limit_below(getrlimit(Resource::Stack).current, STACK_BYTES)
}

/// This process's limit of its address space in bytes, if an allocation may fail.
pub fn low_address_space_limit() -> Option<u64> {
    limit_below(getrlimit(Resource::As).current, ADDRESS_SPACE_BYTES)
}

/// `None` is no limit.
fn limit_below(limit: Option<u64>, needed: u64) -> Option<u64> {
    limit.filter(|it| *it < needed)
}

/// What helps against an error that the lack of a resource caused; `None` for other errors.
pub fn hint(error: &Error) -> Option<&'static str> {
    match error.kind() {
        _ if Errno::from_io_error(error) == Some(Errno::MFILE) => Some(translate(RAISE_FILES)),
        // A thread or a process that cannot be started.
        ErrorKind::WouldBlock => Some(tr!("Raise the limit of processes: `ulimit -u`.")),
        ErrorKind::OutOfMemory => Some(translate(RAISE_MEMORY)),
        ErrorKind::FileTooLarge => Some(tr!("Raise the limit of file sizes: `ulimit -f`.")),
        ErrorKind::StorageFull => Some(tr!("Make room on the disk, then try again.")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{KEEPER_FILES, hint, limit_below};
    use std::io::Error;

    #[test]
    fn each_resource_has_its_limit_named() {
        let check = |code: i32, expect: Option<&str>| {
            let found = hint(&Error::from_raw_os_error(code));
            assert_eq!(found.is_some(), expect.is_some(), "{code}: {found:?}");
            assert!(
                expect.is_none_or(|it| found.is_some_and(|found| found.contains(it))),
                "{code}: {found:?}"
            );
        };
        check(24, Some("`ulimit -n`"));
        check(11, Some("`ulimit -u`"));
        check(12, Some("`ulimit -v`"));
        check(28, Some("Make room"));
        check(27, Some("`ulimit -f`"));
        check(2, None);
        check(13, None);
    }

    #[test]
    fn a_keeper_needs_some_open_files() {
        let check = |limit, expect| assert_eq!(limit_below(limit, KEEPER_FILES), expect, "{limit:?}");
        check(Some(3), Some(3));
        check(Some(31), Some(31));
        check(Some(32), None);
        check(Some(1024), None);
        check(None, None);
    }
}
