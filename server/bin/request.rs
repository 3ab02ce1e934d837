//! Entry point of the HTTP helper (see `system::http`). TLS is linked only into this binary, so that resident
//! keepers do not keep it in memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    loopkeeper_system::http::fetch_process::main()
}
