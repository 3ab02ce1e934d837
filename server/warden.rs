//! The warden as a program of its own (see `keeper::domain`). One is started for every agent and every check, and
//! a small program starts in half the time. Takes the same arguments as `loopkeeper`: their first is the word.

use std::process::ExitCode;

fn main() -> ExitCode {
    loopkeeper::keeper::domain::main(std::env::args_os().skip(2))
}
