//! `--stdio`, `serve`, or no argument if stdin is not a terminal: the language server, started by editors.

use super::exit::Exit;
use super::failure::{self, Failure};
use loopkeeper_lsp::{self as lsp, ServeError};
use loopkeeper_operations::failure::FailureKind;
use loopkeeper_text::message::HintedError as _;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The only transport there is; editors name it
    #[arg(long)]
    stdio: bool,
    /// Editors say it again in `initialize`, which is what counts
    #[arg(long = "clientProcessId", value_name = "PID")]
    client_process_id: Option<u32>,
}

pub(crate) fn run() -> Exit {
    match lsp::serve() {
        Ok(true) => Exit::Done,
        Ok(false) => Exit::Ended,
        Err(ServeError::LogFilter(error)) => {
            failure::report(&Failure::from_message(FailureKind::Usage, error.to_message()))
        }
        Err(ref failed @ ServeError::Io(ref error)) => failure::report(&Failure::of_system(failed, error)),
    }
}
