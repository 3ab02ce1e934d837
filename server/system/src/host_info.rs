//! Host facts for `doctor`: watch limits, free disk space, files left by a login. Read-only.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use loopkeeper_agent::login::LoginEvidence;
use rustix::fs::{inotify, statvfs};

/// Only the beginning of a file is searched for a text.
const MAX_BYTES: u64 = 1 << 20;

/// How many files and folders one user can watch.
pub fn max_user_watches() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?.trim().parse().ok()
}

/// Whether one more watcher can be created.
pub fn check_watcher() -> Result<(), String> {
    inotify::init(inotify::CreateFlags::CLOEXEC).map(drop).map_err(|error| error.to_string())
}

/// The permissions of a folder, and the space on its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderStatus {
    pub mode: u32,
    /// In bytes.
    pub free: u64,
}

pub fn inspect_folder(path: &Path) -> io::Result<FolderStatus> {
    let mode = std::fs::metadata(path)?.mode() & 0o777;
    let disk = statvfs(path)?;
    Ok(FolderStatus { mode, free: disk.f_bavail * disk.f_frsize })
}

/// Traces of a login in this user's environment and home folder, with the variables as an agent would get them.
pub struct LoginTraces {
    passed: Vec<(OsString, OsString)>,
}

impl LoginTraces {
    /// `passed`: the environment of agents.
    pub fn new(passed: Vec<(OsString, OsString)>) -> Self {
        Self { passed }
    }
}

impl LoginEvidence for LoginTraces {
    fn has_variable(&self, name: &str) -> bool {
        std::env::var_os(name).is_some_and(|it| !it.is_empty())
    }

    fn agent_variable(&self, name: &str) -> Option<String> {
        let found = self.passed.iter().find(|it| it.0 == name);
        found.map(|(_, value)| value.to_string_lossy().into_owned()).filter(|it| !it.is_empty())
    }

    fn home_dir(&self) -> PathBuf {
        self.agent_variable("HOME").map(PathBuf::from).unwrap_or_default()
    }

    fn has_file(&self, path: &Path, holds: Option<&str>) -> bool {
        let exists =
            path.is_absolute() && std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() > 0);
        exists && holds.is_none_or(|word| read_beginning(path).is_some_and(|it| it.contains(word)))
    }
}

fn read_beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::DirBuilderExt as _;

    use loopkeeper_agent::login::LoginEvidence;

    use super::{LoginTraces, check_watcher, inspect_folder};

    #[test]
    fn a_file_counts_only_if_it_holds_the_expected_text() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::write(at("empty"), "").unwrap();
        std::fs::write(at("full"), "{\"a\":1}").unwrap();
        let traces = LoginTraces::new(vec![("HOME".into(), home.path().into()), ("EMPTY".into(), "".into())]);
        assert_eq!((traces.home_dir(), traces.agent_variable("EMPTY")), (home.path().to_owned(), None));
        for (name, holds, expect) in [
            ("empty", None, false),
            ("full", None, true),
            ("full", Some("\"a\""), true),
            ("full", Some("\"b\""), false),
            ("", None, false),
        ] {
            assert_eq!(traces.has_file(&at(name), holds), expect, "{name} {holds:?}");
        }
    }

    #[test]
    fn a_folder_is_described() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        assert!(inspect_folder(&path).is_err());
        std::fs::DirBuilder::new().mode(0o700).create(&path).unwrap();
        let facts = inspect_folder(&path).unwrap();
        assert!(facts.mode == 0o700 && facts.free > 0, "{facts:?}");
        assert_eq!(check_watcher(), Ok(()));
    }
}
