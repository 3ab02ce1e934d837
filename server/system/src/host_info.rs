//! Host facts for `doctor`: watch limits, free disk space, files left by a login. Read-only.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::tr;
use loopkeeper_view::doctor::{DoctorProblem, LoginEvidence, StateFacts};
use rustix::fs::{inotify, statvfs};

use super::state_dir::{StateDir, StateError};

/// Only the beginning of a file is searched for a text; the rest is not worth reading.
const MAX_BYTES: u64 = 1 << 20;

/// How many files and folders one user can watch.
pub fn max_user_watches() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?.trim().parse().ok()
}

/// Whether one more watcher can be created.
pub fn check_watcher() -> Result<(), String> {
    inotify::init(inotify::CreateFlags::CLOEXEC).map(drop).map_err(|error| error.to_string())
}

/// Facts about the state folder.
pub fn state(state: &Result<StateDir, StateError>) -> Result<StateFacts, DoctorProblem> {
    let problem = |error: &StateError| DoctorProblem {
        what: error.to_string(),
        hint: error.hint().unwrap_or_default(),
    };
    let root = state.as_ref().map_err(problem)?.root();
    let inspect = || {
        let mode = std::fs::metadata(root)?.mode() & 0o777;
        let disk = statvfs(root)?;
        Ok(StateFacts { path: root.display().to_string(), mode, free: disk.f_bavail * disk.f_frsize })
    };
    inspect().map_err(|error: std::io::Error| DoctorProblem {
        what: tr!("cannot inspect at {root}: {error}", root = root.display(), error),
        hint: tr!("set LOOPKEEPER_STATE_DIR to a folder of yours on a local disk").to_owned(),
    })
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
        let there =
            path.is_absolute() && std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() > 0);
        there && holds.is_none_or(|word| read_beginning(path).is_some_and(|it| it.contains(word)))
    }
}

fn read_beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use loopkeeper_view::doctor::LoginEvidence;

    use super::{LoginTraces, check_watcher, state};
    use crate::state_dir::StateDir;

    #[test]
    fn a_file_counts_when_it_holds_something() {
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
    fn the_state_folder_is_described() {
        let folder = tempfile::tempdir().unwrap();
        let facts = state(&StateDir::at(&folder.path().join("s"))).unwrap();
        assert!(facts.mode == 0o700 && facts.free > 0, "{facts:?}");
        assert_eq!(check_watcher(), Ok(()));
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(state(&StateDir::at(&file)).is_err());
    }
}
