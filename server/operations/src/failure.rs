//! The error of an operation: what happened, then a hint with the remedy, and its kind for callers that distinguish
//! them (an exit code, the code of an error response).

use std::fmt::{Display, Write as _};

use loopkeeper_core::settings::{SettingFinding, SettingOrigin};
use loopkeeper_text::{sanitize, words};

use loopkeeper_keeper::KeeperError;
use loopkeeper_keeper::error_line::ErrorLine;
use loopkeeper_system::agents::AgentError;
use loopkeeper_system::config_text::ConfigFileError;
use loopkeeper_system::journal_file::JournalError;
use loopkeeper_system::snapshots::SnapshotError;
use loopkeeper_system::state_dir::StateError;
use loopkeeper_system::state_dir::find::FindError;
use loopkeeper_system::state_dir::lock::LockError;
use loopkeeper_system::task_files::TaskFileError;
use loopkeeper_system::trust::TrustError;
use loopkeeper_system::trust::surfaces::SurfaceError;

/// An operation that could not be performed as requested.
#[derive(Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub what: String,
    pub hint: Option<String>,
    /// The holder of the tree, if that is the reason.
    pub holder: Option<String>,
    /// Where to correct it.
    pub spots: Vec<FailureLocation>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureLocation {
    /// Relative to the root, or absolute.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
}

/// Kinds that callers react to differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Wrong arguments, configuration or task document.
    Usage,
    /// No such task, or several if none was named.
    NoTask,
    AgentMissing,
    NotTrusted,
    /// Another process works in this tree.
    TreeBusy,
    /// Not allowed in this phase.
    Conflict,
    /// Only the user may do this, but a process of a loop tried it.
    Forbidden,
    Unsupported,
    /// Any other error of the machine.
    Broken,
}

impl FailureKind {
    /// The kind that one of our processes reports by its exit code.
    pub fn of_exit(code: Option<i32>) -> Self {
        match code {
            Some(2) => Self::Usage,
            Some(5) => Self::NotTrusted,
            _ => Self::Broken,
        }
    }
}

impl Failure {
    pub fn new(kind: FailureKind, what: impl Display) -> Self {
        let what = what.to_string();
        // Messages of the core include their remedy.
        let (fact, hint) = words::fact_and_hint(&what);
        Self { kind, what: fact.to_owned(), hint: hint.map(str::to_owned), holder: None, spots: Vec::new() }
    }

    /// Why a program of ours ended with this exit code, from its standard error.
    pub fn of_process(code: Option<i32>, stderr: &[u8]) -> Self {
        let output = String::from_utf8_lossy(stderr);
        let kind = FailureKind::of_exit(code);
        match (ErrorLine::find_last(&output), output.trim()) {
            (Some(ErrorLine { fact, hint }), _) => Self { hint, ..Self::new(kind, fact) },
            (None, "") => {
                let code = code.map_or_else(|| "a signal".to_owned(), |it| format!("exit code {it}"));
                Self::new(kind, format_args!("a part of loopkeeper ended with {code} and no message"))
            }
            (None, text) => Self::new(kind, text),
        }
    }

    /// The text for standard error, with a final newline; JSON if the caller of this process requested it.
    pub fn for_stderr(&self) -> String {
        if ErrorLine::is_requested() {
            return ErrorLine { fact: self.what.clone(), hint: self.hint.clone() }.to_json();
        }
        let hint = self.hint.as_ref().map(|it| format!("Hint: {}\n", words::capitalised(it)));
        sanitize::text(&format!("error: {}\n{}", self.what, hint.unwrap_or_default()))
    }

    /// Wrong arguments or configuration.
    pub fn usage(what: impl Display) -> Self {
        Self::new(FailureKind::Usage, what)
    }

    /// A valid request that cannot be performed now.
    pub fn conflict(what: impl Display) -> Self {
        Self::new(FailureKind::Conflict, what)
    }

    /// Any other failure.
    pub fn ended(what: impl Display) -> Self {
        Self::new(FailureKind::Broken, what)
    }

    /// Refused, never silently accepted.
    pub fn unsupported(what: impl Display) -> Self {
        Self::new(FailureKind::Unsupported, format_args!("{what} is not yet supported"))
            .hint("`loopkeeper --help` lists what this version can do.")
    }

    pub fn hint(self, hint: impl Display) -> Self {
        Self { hint: Some(hint.to_string()), ..self }
    }
}

/// `EMFILE`
const TOO_MANY_FILES: i32 = 24;

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let hint = match error.kind() {
            _ if error.raw_os_error() == Some(TOO_MANY_FILES) => {
                "Raise the limit of open files: `ulimit -n`."
            }
            std::io::ErrorKind::WouldBlock => "Raise the limit of processes: `ulimit -u`.",
            std::io::ErrorKind::StorageFull => "Make room on the disk, then try again.",
            _ => return Self::ended(error),
        };
        Self::ended(error).hint(hint)
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::ended(&error).hint(error.hint())
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        Self::usage(&error).hint(error.hint())
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        let kind = match error {
            LockError::TreeBusy { .. } => FailureKind::TreeBusy,
            LockError::Held { .. } => FailureKind::Conflict,
            LockError::State(_) => FailureKind::Broken,
        };
        let failure = Self::new(kind, &error).hint(error.hint());
        match error {
            LockError::TreeBusy { holder, .. } => {
                Self { holder: holder.loop_id().map(str::to_owned), ..failure }
            }
            LockError::Held { .. } | LockError::State(_) => failure,
        }
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        Self::ended(&error)
    }
}

impl From<ConfigFileError> for Failure {
    fn from(error: ConfigFileError) -> Self {
        Self::usage(&error).hint(error.hint())
    }
}

/// Reports all errors of the configuration together.
impl From<&[SettingFinding]> for Failure {
    fn from(findings: &[SettingFinding]) -> Self {
        let blocking: Vec<_> = findings.iter().filter(|it| it.is_blocking()).collect();
        let spots = blocking.iter().filter_map(|it| FailureLocation::from_origin(&it.origin)).collect();
        if let [one] = blocking.as_slice() {
            let hint = if one.hint.ends_with('?') { one.hint.clone() } else { format!("{}.", one.hint) };
            let failure = Self::usage(format_args!("{}: {}", one.origin, one.message)).hint(hint);
            return Self { spots, ..failure };
        }
        let mut what = "the configuration has errors".to_owned();
        for it in blocking {
            let _ = write!(what, "\n  {}: {}; {}", it.origin, it.message, it.hint);
        }
        let failure = Self::usage(what).hint("Correct these lines: defaults are not used in their place.");
        Self { spots, ..failure }
    }
}

impl FailureLocation {
    fn from_origin(origin: &SettingOrigin) -> Option<Self> {
        match origin {
            SettingOrigin::File { place, line, .. } => Some(Self { file: place.file.clone(), line: *line }),
            SettingOrigin::Default | SettingOrigin::Option(_) => None,
        }
    }
}

impl From<TaskFileError> for Failure {
    fn from(error: TaskFileError) -> Self {
        Self::usage(&error).hint(error.hint())
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        Self::ended(&error).hint(error.hint())
    }
}

impl From<SurfaceError> for Failure {
    fn from(error: SurfaceError) -> Self {
        Self::usage(&error).hint(error.hint())
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        Self::new(FailureKind::AgentMissing, &error).hint(error.hint())
    }
}

impl From<KeeperError> for Failure {
    fn from(error: KeeperError) -> Self {
        let kind = match &error {
            KeeperError::Lock(LockError::TreeBusy { .. }) => FailureKind::TreeBusy,
            KeeperError::LogFilter(_) => FailureKind::Usage,
            _ => FailureKind::Broken,
        };
        Self::new(kind, &error).hint(error.hint())
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::ended(&error).hint(error.hint())
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.what)?;
        let stop = if self.what.ends_with('.') { "" } else { "." };
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, "{stop} {}", words::capitalised(hint)))
    }
}
