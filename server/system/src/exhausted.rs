//! Resources that ran out, and the remedy.

use std::io::{Error, ErrorKind};

/// `EMFILE`
const TOO_MANY_FILES: i32 = 24;

/// What helps against an error that the lack of a resource caused; `None` for other errors.
pub fn hint(error: &Error) -> Option<&'static str> {
    match error.kind() {
        _ if error.raw_os_error() == Some(TOO_MANY_FILES) => {
            Some("Raise the limit of open files: `ulimit -n`.")
        }
        // A thread or a process that cannot be started.
        ErrorKind::WouldBlock => Some("Raise the limit of processes: `ulimit -u`."),
        ErrorKind::OutOfMemory => Some("Raise the limit of memory: `ulimit -v`."),
        ErrorKind::StorageFull => Some("Make room on the disk, then try again."),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::hint;
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
        check(2, None);
        check(13, None);
    }
}
