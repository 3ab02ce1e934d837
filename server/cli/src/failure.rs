//! Reports failures on stderr: what happened, then a hint with the remedy.

use std::fmt::Display;
use std::io::Write as _;

use clap::error::ErrorKind;
use loopkeeper_system::state_dir::lock::TreeHolder;
use loopkeeper_text::{sanitize, words};

use super::exit::Exit;
pub(crate) use loopkeeper_operations::failure::Failure;

/// The result of every subcommand.
pub(crate) type ExitResult = Result<Exit, Failure>;

/// Writes the failure to stderr and returns the exit code.
pub(crate) fn report(failure: &Failure) -> Exit {
    // Nothing can be reported if stderr is gone.
    let _ = anstream::stderr().write_all(failure.for_stderr().as_bytes());
    Exit::of_failure(failure.kind)
}

/// Prints a warning that does not stop the command.
pub(crate) fn warn(what: impl Display) {
    note(format_args!("warning: {what}"));
}

/// Prints a note for the waiting user.
pub(crate) fn note(what: impl Display) {
    let _ = anstream::stderr().write_all(sanitize::text(&format!("{what}\n")).as_bytes());
}

/// Reports that a command waits until `holder` releases the work tree.
pub(crate) fn note_wait(holder: &TreeHolder) {
    note(format_args!(
        "{} running here; this command waits for them.",
        words::capitalised(&holder.to_string())
    ));
}

/// Help and version go to stdout and are not failures; all others are usage errors in our own format.
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
