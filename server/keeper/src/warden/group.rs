//! Enters control groups and then becomes another program, so that all that it starts is counted there.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::iter::Peekable;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use loopkeeper_system::sandbox::IN_GROUP;

const PROBE: &str = "--probe";

/// `--in-group FOLDER …`, then `--` and the program with its arguments, or `--probe` to only enter.
pub(super) fn run(mut args: Peekable<impl Iterator<Item = OsString>>) -> ExitCode {
    let failed = |error: &io::Error| {
        let _ = writeln!(io::stderr(), "a control group cannot be entered: {error}");
        ExitCode::FAILURE
    };
    while args.next_if(|it| it == IN_GROUP).is_some() {
        let Some(folder) = args.next().map(PathBuf::from) else { return ExitCode::from(2) };
        // Zero is the process that writes.
        if let Err(error) = std::fs::write(folder.join("cgroup.procs"), "0") {
            return failed(&error);
        }
    }
    match (args.next(), args.next()) {
        (Some(word), None) if word == PROBE => ExitCode::SUCCESS,
        (Some(word), Some(program)) if word == "--" => failed(&Command::new(program).args(args).exec()),
        _ => ExitCode::from(2),
    }
}
