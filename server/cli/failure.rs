//! What stderr says when a command fails: what happened, then a hint with the remedy.

use std::fmt::{Display, Write as _};
use std::io::Write as _;

use clap::error::ErrorKind;
use loopkeeper_core::sanitize;
use loopkeeper_core::settings::SettingFinding;
use loopkeeper_core::view::words;

use super::exit::Exit;
use crate::adapters::agents::AgentError;
use crate::adapters::config_files::ConfigFileError;
use crate::adapters::journal_file::JournalError;
use crate::adapters::snapshots::SnapshotError;
use crate::adapters::state_dir::StateError;
use crate::adapters::state_dir::find::FindError;
use crate::adapters::state_dir::lock::LockError;
use crate::adapters::task_files::TaskFileError;
use crate::adapters::trust::TrustError;
use crate::adapters::trust::surfaces::SurfaceError;
use crate::keeper::KeeperError;

/// What every subcommand returns.
pub(crate) type Answer = Result<Exit, Failure>;

/// A command that could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    what: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, what: impl Display) -> Self {
        let what = what.to_string();
        // Sentences of the core carry their remedy with them.
        match what.split_once(". Hint: ").or_else(|| what.split_once("\nHint: ")) {
            Some((what, hint)) => Self { exit, what: what.to_owned(), hint: Some(hint.to_owned()) },
            None => Self { exit, what, hint: None },
        }
    }

    /// Wrong arguments or configuration.
    pub(crate) fn usage(what: impl Display) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// Everything else that went wrong.
    pub(crate) fn ended(what: impl Display) -> Self {
        Self::new(Exit::Ended, what)
    }

    /// Refused, never accepted in silence.
    pub(crate) fn unsupported(what: impl Display) -> Self {
        Self::usage(format_args!("{what} is not yet supported"))
            .hint("`loopkeeper --help` lists what this version can do.")
    }

    pub(crate) fn hint(self, hint: impl Display) -> Self {
        Self { hint: Some(hint.to_string()), ..self }
    }

    /// Writes the failure to stderr and says how the process ends.
    pub(crate) fn report(&self) -> Exit {
        let mut text = format!("error: {}\n", self.what);
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "Hint: {}", words::capitalised(hint));
        }
        // There is nobody left to tell when stderr is gone.
        // File names and what others said may be part of it.
        let _ = anstream::stderr().write_all(sanitize::text(&text).as_bytes());
        self.exit
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::ended(error)
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
        Self::ended(&error).hint(error.hint())
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

/// Everything that is wrong with the configuration, at once.
impl From<&[SettingFinding]> for Failure {
    fn from(findings: &[SettingFinding]) -> Self {
        let blocking: Vec<_> = findings.iter().filter(|it| it.blocks()).collect();
        if let [one] = blocking.as_slice() {
            return Self::usage(format_args!("{}: {}", one.origin, one.message))
                .hint(if one.hint.ends_with('?') { one.hint.clone() } else { format!("{}.", one.hint) });
        }
        let mut what = "the configuration cannot be taken as written".to_owned();
        for it in blocking {
            let _ = write!(what, "\n  {}: {}; {}", it.origin, it.message, it.hint);
        }
        Self::usage(what).hint("Correct these lines; nothing runs on defaults instead.")
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
        Self::usage(&error).hint(error.hint())
    }
}

impl From<KeeperError> for Failure {
    fn from(error: KeeperError) -> Self {
        Self::ended(&error).hint(error.hint())
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::ended(&error).hint(error.hint())
    }
}

/// Something worth saying that stops nothing.
pub(crate) fn warn(what: impl Display) {
    note(format_args!("warning: {what}"));
}

/// Something a person who waits should know.
pub(crate) fn note(what: impl Display) {
    let _ = anstream::stderr().write_all(sanitize::text(&format!("{what}\n")).as_bytes());
}

impl Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.what)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, ". {}", words::capitalised(hint)))
    }
}

/// Help and version go to stdout and are no failure; the rest is a usage error in our own form.
pub(crate) fn of_arguments(error: &clap::Error) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return Exit::Done;
    }
    let rendered = error.render().ansi().to_string();
    let text = match rendered.split_once("\n\nFor more information") {
        Some((what, _)) => format!("{}\nHint: `--help` shows how it is used.\n", what.trim_end()),
        None => rendered,
    };
    let _ = anstream::stderr().write_all(text.as_bytes());
    Exit::Usage
}
