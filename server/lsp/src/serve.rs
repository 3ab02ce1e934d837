//! The server's process: standard streams, one connection, an exit code.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use thiserror::Error;
use tower_lsp::LspService;

use super::ext;
use super::server::LspServer;
use super::session::ServerState;
use super::trace;
use super::transport::{self, ConnectionEnd, TransportLimits};
use loopkeeper_system::logging::LogFilterError;
use loopkeeper_system::process::hardening;
use loopkeeper_text::tr;

/// Why the server did not start.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error(transparent)]
    LogFilter(#[from] LogFilterError),
    #[error("{}", tr!("the server did not start: {error}", error = _0))]
    Io(#[from] io::Error),
}

/// Serves one client on stdin and stdout; returns whether the connection ended with `shutdown` and `exit`.
pub fn serve() -> Result<bool, ServeError> {
    // Input counts as the user's own, so no other process may open these streams.
    hardening::forbid_tracing()?;
    let trace = trace::start()?;
    let build = |client| LspServer::new(Arc::new(ServerState::new(client, trace)));
    let (service, socket) = LspService::build(build)
        .custom_method(ext::LOOPS, LspServer::loops)
        .custom_method(ext::SUBSCRIBE, LspServer::subscribe)
        .custom_method(ext::ITERATIONS, LspServer::iterations)
        .custom_method(ext::TRUST_PAGE, LspServer::trust_page)
        .custom_method(ext::TRANSCRIPT, LspServer::transcript)
        .custom_method(ext::START_PREVIEW, LspServer::start_preview)
        .custom_method("$/setTrace", LspServer::set_trace)
        .finish();
    // Not `io::stdout`, because its lock and line buffer slow down whole frames.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Ok(transport::run(service, socket, input, output, TransportLimits::default())?
        == ConnectionEnd::AfterShutdown)
}
