//! Sends the requests of `GET` checks, and those that wait until a server is ready. Each request is made by a separate
//! process that links TLS, so that an idle keeper does not have to; this side starts the process and reads its output.
//! Does not judge the response.

pub mod fetch_process;
mod wire;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use loopkeeper_core::check::answer::{BODY_BYTES, HttpOutcome};
use loopkeeper_core::check::{CommandExit, CommandRun};
use loopkeeper_text::tr;

use self::wire::{RequestKind, WireRequest, WireResponse};
use super::process::{Job, StdinSource, orphans, run_for};
use super::sandbox::Isolation;
use super::trust::permit::ApprovedInput;

/// Time that a process needs in addition to the request's timeout, to start and to report that there was no response.
const PROCESS_MARGIN: Duration = Duration::from_millis(700);
/// Limit of the status and headers that precede the body.
const HEAD_BYTES: usize = 1024 * 1024;

/// Runs HTTP requests in a sandboxed helper process.
#[derive(Debug, Clone, Copy)]
pub struct HttpClient<'a> {
    /// Must understand [`fetch_process::SUBCOMMAND`].
    pub program: &'a Path,
    pub domain: &'a Isolation,
    /// Environment of the loop's other jobs: its mark identifies the processes of the loop.
    pub env: &'a [(OsString, OsString)],
}

/// One request, with the non-public addresses that it may reach.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    pub url: ApprovedInput<String>,
    /// URLs at which the servers that are started for it become ready.
    pub servers: Vec<String>,
    pub timeout: Duration,
    pub redirects: u32,
}

impl HttpClient<'_> {
    /// Sends the request and waits for the response. Dropping the future cancels the request.
    pub async fn get(self, request: HttpRequest) -> HttpOutcome {
        match self.run_request(RequestKind::Answer, request).await {
            Ok(WireResponse::Reply(reply)) => reply,
            Ok(WireResponse::Taken(_)) => HttpOutcome::None(tr!("could not be asked").to_owned()),
            Err(why) => HttpOutcome::None(tr!("could not be asked: {why}", why)),
        }
    }

    /// Whether something listens where a server is to become ready; the error is the reason why this is unknown, as
    /// text.
    pub async fn is_taken(self, request: HttpRequest) -> Result<bool, String> {
        match self.run_request(RequestKind::Listener, request).await? {
            WireResponse::Taken(taken) => Ok(taken),
            WireResponse::Reply(_) => Err(tr!("it took too long").to_owned()),
        }
    }

    /// The error describes, as text, what is wrong with the process that should make the request.
    async fn run_request(self, kind: RequestKind, request: HttpRequest) -> Result<WireResponse, String> {
        let HttpRequest { url, servers, timeout, redirects } = request;
        let wire_request = WireRequest { what: kind, url: url.value().clone(), servers, timeout, redirects };
        let mark = self.env.iter().filter(|(name, _)| name == orphans::ENV_LOOP).cloned();
        let job = Job {
            argv: url.map(|_| vec![self.program.into(), fetch_process::SUBCOMMAND.into()]),
            cwd: "/".into(),
            // Other users may read arguments, and an address may contain a key.
            env: mark.chain([(wire::VARIABLE.into(), wire_request.to_text().into())]).collect(),
            stdin: StdinSource::Null,
            grace: Duration::ZERO,
            output: None,
        };
        let run = run_for(&job, timeout + PROCESS_MARGIN, self.domain, BODY_BYTES + HEAD_BYTES).await;
        parse_output(&run)
    }
}

fn parse_output(run: &CommandRun) -> Result<WireResponse, String> {
    match &run.ending {
        CommandExit::Exited(0) => WireResponse::decode(&run.stdout)
            .ok_or_else(|| tr!("its answer cannot be interpreted").to_owned()),
        CommandExit::TimedOut => Ok(WireResponse::Reply(HttpOutcome::TimedOut)),
        CommandExit::NotStarted(why) => Err(why.clone()),
        CommandExit::Exited(_) | CommandExit::Signalled(_) => {
            let words = String::from_utf8_lossy(&run.stderr);
            Err(words.lines().rfind(|it| !it.trim().is_empty()).unwrap_or(tr!("it was cut off")).to_owned())
        }
    }
}
