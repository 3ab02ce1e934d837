//! The error of an operation: what happened, then a hint with the remedy, and its kind for callers that distinguish
//! them (an exit code, the code of an error response).

use std::fmt::{Display, Write as _};

use loopkeeper_core::settings::{SettingFinding, SettingOrigin};
use loopkeeper_text::clauses::append_clause;
use loopkeeper_text::message::{HintedError as _, Message};
use loopkeeper_text::{sanitize, tr};

use loopkeeper_keeper::KeeperError;
use loopkeeper_keeper::error_line::ErrorLine;
use loopkeeper_system::agents::AgentError;
use loopkeeper_system::config_text::ConfigFileError;
use loopkeeper_system::journal_file::JournalError;
use loopkeeper_system::resource_limits;
use loopkeeper_system::snapshots::SnapshotError;
use loopkeeper_system::state_dir::StateError;
use loopkeeper_system::state_dir::find::FindError;
use loopkeeper_system::state_dir::lock::LockError;
use loopkeeper_system::task_files::TaskFileError;
use loopkeeper_system::trust::TrustError;
use loopkeeper_system::trust::agent_files::AgentFileError;

/// An operation that could not be performed as requested.
#[derive(Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: Message,
    /// The holder of the tree, if that is the reason.
    pub holder: Option<String>,
    /// Where to correct it.
    pub locations: Vec<FailureLocation>,
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
    pub fn new(kind: FailureKind, fact: impl Display) -> Self {
        Self::from_message(kind, Message::new(fact.to_string()))
    }

    pub fn from_message(kind: FailureKind, message: Message) -> Self {
        Self { kind, message, holder: None, locations: Vec::new() }
    }

    /// Why a program of ours ended with this exit code, from its standard error.
    pub fn of_process(code: Option<i32>, stderr: &[u8]) -> Self {
        let output = String::from_utf8_lossy(stderr);
        let kind = FailureKind::of_exit(code);
        match (ErrorLine::find_last(&output), output.trim()) {
            (Some(ErrorLine(message)), _) => Self::from_message(kind, message),
            (None, "") => {
                let signal = || tr!("a part of loopkeeper ended with a signal and no message").to_owned();
                let exit =
                    |code| tr!("a part of loopkeeper ended with exit code {code} and no message", code);
                Self::new(kind, code.map_or_else(signal, exit))
            }
            (None, text) => Self::new(kind, text),
        }
    }

    /// The text for standard error, with a final newline; JSON if the caller of this process requested it.
    pub fn for_stderr(&self) -> String {
        if ErrorLine::is_requested() {
            return ErrorLine(self.message.clone()).to_json();
        }
        sanitize::text(&self.message.error_lines())
    }

    /// Wrong arguments or configuration.
    pub fn usage(fact: impl Display) -> Self {
        Self::new(FailureKind::Usage, fact)
    }

    /// A valid request that cannot be performed now.
    pub fn conflict(fact: impl Display) -> Self {
        Self::new(FailureKind::Conflict, fact)
    }

    /// Any other failure.
    pub fn ended(fact: impl Display) -> Self {
        Self::new(FailureKind::Broken, fact)
    }

    /// A failure caused by the system, with the remedy if a resource ran out.
    pub fn of_system(fact: impl Display, error: &std::io::Error) -> Self {
        let failure = Self::ended(fact);
        match resource_limits::hint(error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Refused, never silently accepted.
    pub fn unsupported(fact: impl Display) -> Self {
        Self::new(FailureKind::Unsupported, tr!("{what} is not yet supported", what = fact))
            .hint(tr!("`loopkeeper --help` lists what this version can do."))
    }

    pub fn hint(self, hint: impl Display) -> Self {
        Self { message: self.message.with_hint(hint.to_string()), ..self }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::of_system(&error, &error)
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::from_message(FailureKind::Broken, error.to_message())
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        Self::from_message(FailureKind::Usage, error.to_message())
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        let kind = match error {
            LockError::TreeBusy { .. } => FailureKind::TreeBusy,
            LockError::Held { .. } => FailureKind::Conflict,
            LockError::State(_) => FailureKind::Broken,
        };
        let failure = Self::from_message(kind, error.to_message());
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
        Self::from_message(FailureKind::Broken, error.to_message())
    }
}

impl From<ConfigFileError> for Failure {
    fn from(error: ConfigFileError) -> Self {
        Self::from_message(FailureKind::Usage, error.to_message())
    }
}

/// Reports all errors of the configuration together.
impl From<&[SettingFinding]> for Failure {
    fn from(findings: &[SettingFinding]) -> Self {
        let blocking: Vec<_> = findings.iter().filter(|it| it.is_blocking()).collect();
        let locations = blocking.iter().filter_map(|it| FailureLocation::from_origin(&it.origin)).collect();
        if let [one] = blocking.as_slice() {
            return Self { locations, ..Self::from_message(FailureKind::Usage, one.to_message()) };
        }
        let mut what = tr!("the configuration has errors").to_owned();
        for it in blocking {
            let _ = write!(what, "\n  {}: {}", it.origin, append_clause(&it.message, &it.hint));
        }
        let failure =
            Self::usage(what).hint(tr!("Correct these lines: defaults are not used in their place."));
        Self { locations, ..failure }
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
        Self::from_message(FailureKind::Usage, error.to_message())
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        Self::from_message(FailureKind::Broken, error.to_message())
    }
}

impl From<AgentFileError> for Failure {
    fn from(error: AgentFileError) -> Self {
        Self::from_message(FailureKind::Usage, error.to_message())
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        Self::from_message(FailureKind::AgentMissing, error.to_message())
    }
}

impl From<KeeperError> for Failure {
    fn from(error: KeeperError) -> Self {
        let kind = match &error {
            KeeperError::Lock(LockError::TreeBusy { .. }) => FailureKind::TreeBusy,
            KeeperError::LogFilter(_) => FailureKind::Usage,
            _ => FailureKind::Broken,
        };
        Self::from_message(kind, error.to_message())
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::from_message(FailureKind::Broken, error.to_message())
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message.sentences())
    }
}

#[cfg(test)]
mod tests {
    use loopkeeper_text::language::Language;

    use super::Failure;

    #[test]
    fn a_failure_is_written_in_the_language_of_the_user() {
        let check = |expect: [&str; 2], fail: fn() -> Failure| {
            let message = Language::SimplifiedChinese.during(fail).message;
            assert_eq!([message.fact(), message.hint().unwrap_or_default()], expect);
        };
        check(["loopkeeper 的一个部分以退出码 3 结束，没有消息", ""], || {
            Failure::of_process(Some(3), b"")
        });
        check(["loopkeeper 的一个部分因信号结束，没有消息", ""], || {
            Failure::of_process(None, b" \n")
        });
        check(["尚不支持 Windows", "`loopkeeper --help` 列出此版本的功能。"], || {
            Failure::unsupported("Windows")
        });
    }
}
