//! Reports failures on stderr: the fact, then a hint with the remedy.

use std::fmt::Display;
use std::io::Write as _;

use clap::error::ErrorKind;
use loopkeeper_system::state_dir::lock::TreeHolder;
use loopkeeper_text::{message, sanitize, tr};

use super::exit::Exit;
use super::{wrong_command, wrong_flag};
pub(crate) use loopkeeper_operations::failure::Failure;

/// The result of every subcommand.
pub(crate) type ExitResult = Result<Exit, Failure>;

/// Writes the failure to stderr and returns the exit code.
pub(crate) fn report(failure: &Failure) -> Exit {
    // Nothing can be reported if stderr is closed.
    let _ = anstream::stderr().write_all(failure.for_stderr().as_bytes());
    Exit::of_failure(failure.kind)
}

/// Prints a warning that does not stop the command.
pub(crate) fn warn(message: impl Display) {
    note(tr!("warning: {what}", what = message));
}

/// Prints a note for the waiting user.
pub(crate) fn note(message: impl Display) {
    let _ = anstream::stderr().write_all(sanitize::text(&format!("{message}\n")).as_bytes());
}

/// Reports that a command waits until `holder` releases the work tree.
pub(crate) fn note_wait(holder: &TreeHolder) {
    note(match holder {
        TreeHolder::Loop { id } => tr!("Loop {id} is running here; this command waits for it.", id),
        TreeHolder::Checks { task } => {
            tr!("Checks of {task} are running here; this command waits for them.", task)
        }
        TreeHolder::Unknown => tr!("Another process is running here; this command waits for it.").to_owned(),
    });
}

/// Reports that `command` does not accept the arguments. Help and version go to stdout and are not failures; all others
/// are usage errors in our own format.
pub(crate) fn of_arguments(error: &clap::Error, command: &clap::Command) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return Exit::Done;
    }
    let rendered = error.render().ansi().to_string();
    let args: Vec<String> = std::env::args_os().map(|it| it.to_string_lossy().into_owned()).collect();
    let hint = wrong_flag::hint(error, command, &args).or_else(|| wrong_command::hint(error, &args));
    let text = match (rendered.split_once("\n\nFor more information"), hint) {
        (Some((what, _)), Some(hint)) => format!("{}\n{}\n", without_tip(what), message::hint_line(hint)),
        (Some((what, _)), None) => {
            let hint = message::hint_line(tr!("`--help` shows how it is used."));
            format!("{}\n{hint}\n", what.trim_end())
        }
        (None, _) => rendered,
    };
    let _ = anstream::stderr().write_all(text.as_bytes());
    Exit::Usage
}

/// Clap's own tip (pass the flag as a value) contradicts the hint.
fn without_tip(rendered: &str) -> String {
    rendered.split("\n\n").filter(|it| !it.contains("tip:")).collect::<Vec<_>>().join("\n\n")
}
