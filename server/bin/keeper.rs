//! Entry point of the stand-alone keeper binary (see `operations::keeper_main`). A keeper stays resident for hours, so
//! it must not link the CLI or the language server. Also acts as the warden if `loopkeeper-warden` is not installed.

use std::process::ExitCode;

use loopkeeper_keeper::warden;
use loopkeeper_operations::keeper_main;
use loopkeeper_system::internal_program;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let word = args.next().unwrap_or_default();
    if word == warden::SUBCOMMAND {
        return warden::main(args);
    }
    if word == keeper_main::SUBCOMMAND {
        return keeper_main::main(args);
    }
    internal_program::refuse_user()
}
