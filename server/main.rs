//! The binary: arguments to subcommand, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    loopkeeper::cli::main()
}
