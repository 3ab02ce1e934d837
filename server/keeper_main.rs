//! The keeper of a loop as a program of its own (see `operations::keeper_main`): one rests for hours, and what only terminals
//! and editors need would rest with it. It can be a warden too, where none was installed along.

use std::io::Write as _;
use std::process::ExitCode;

use loopkeeper::keeper::warden;
use loopkeeper::operations::keeper_main;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == warden::WORD {
        return warden::main(args);
    }
    if word == keeper_main::WORD {
        return keeper_main::main(args);
    }
    let _ =
        writeln!(std::io::stderr(), "error: this is a part of loopkeeper\nHint: Run `loopkeeper` instead.");
    ExitCode::from(2)
}
