//! The binary: arguments to subcommand, nothing else.

use std::process::ExitCode;

use loopkeeper::front::keeping;
use loopkeeper::keeper::domain;

fn main() -> ExitCode {
    // Where the small programs for these were not installed along: without the command line's machinery.
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == domain::WORD {
        return domain::main(args);
    }
    if word == keeping::WORD {
        return keeping::main(args);
    }
    loopkeeper::cli::main()
}
