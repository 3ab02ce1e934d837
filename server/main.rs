//! The binary: arguments to subcommand, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The warden stands before every agent and check: it starts without the command line's machinery.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|word| word == loopkeeper::keeper::domain::WORD) {
        return loopkeeper::keeper::domain::main(args);
    }
    loopkeeper::cli::main()
}
