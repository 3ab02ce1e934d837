//! The process of one request as a program of its own (see `adapters::http`): all that knows TLS. Whoever rests for
//! hours would rest with it.

use std::process::ExitCode;

fn main() -> ExitCode {
    loopkeeper::adapters::http::fetch_process::main()
}
