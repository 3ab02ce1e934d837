//! Runs the servers that `GET` checks need: started for a round, awaited, and ended after it, each in a separate kill
//! domain. If a server is not ready in time, or its port is taken, the requests of the round have no result.

use loopkeeper_text::tr;
use std::collections::VecDeque;
use std::time::Duration;

use futures::future::join_all;
use loopkeeper_core::check::MissingDependency;
use loopkeeper_core::check::answer::HttpOutcome;
use loopkeeper_core::check::missing::{self, MissingCandidate};
use loopkeeper_core::settings::ServiceSettings;
use tokio::time::{Instant, sleep, timeout_at};

use super::{RoundParams, missing_dependency};
use loopkeeper_system::http::{HttpClient, HttpRequest};
use loopkeeper_system::process::{Job, JobHandle, OutputEvent, ProcessError, StdinSource, TerminateMode};
use loopkeeper_system::trust::permit::ApprovedInput;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_POLL_DELAY: Duration = Duration::from_millis(500);
/// Timeout of one readiness request, which is then repeated.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Number of output lines kept per server.
const LAST_LINES: usize = 20;

/// The running servers, all ready. They are ended on drop.
pub(super) struct RunningServers(Vec<CheckServer>);

/// Why a server is not available.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NotReady {
    pub(super) fact: String,
    /// The last lines of its output.
    pub(super) last_lines: String,
    /// The missing dependency that prevented the start, if known.
    pub(super) missing: Option<Box<MissingDependency>>,
    command: String,
    missing_candidates: Vec<MissingCandidate>,
}

struct CheckServer {
    name: String,
    service: ApprovedInput<ServiceSettings>,
    running: JobHandle,
    last_lines: VecDeque<String>,
}

impl RunningServers {
    pub(super) async fn start(plan: &RoundParams<'_>) -> Result<Self, NotReady> {
        let mut approved = Vec::new();
        for service in plan.servers {
            let denied =
                |it| NotReady::new(tr!("the server `{name}` is {why}", name = name(service), why = it));
            approved.push(plan.permit.service(service).map_err(denied)?);
        }
        for service in &approved {
            let ready = &service.value().ready;
            // Another process on this port would be checked instead of ours.
            match plan.asker.is_taken(readiness_request(service.clone())).await {
                Ok(false) => {}
                Ok(true) => {
                    let missing = MissingDependency::address_in_use(ready);
                    return Err(NotReady {
                        missing: Some(Box::new(missing.clone())),
                        ..NotReady::new(missing.name)
                    });
                }
                Err(why) => {
                    let fact =
                        tr!("cannot determine whether another process answers at {ready}: {why}", ready, why);
                    return Err(NotReady::new(fact));
                }
            }
        }
        let mut servers = Self(Vec::new());
        let mut failed = None;
        for service in approved {
            match CheckServer::start(plan, service) {
                Ok(server) => servers.0.push(server),
                Err(why) => failed = Some(why),
            }
        }
        if failed.is_none() {
            let ready = join_all(servers.0.iter_mut().map(|it| it.get_ready(plan.asker))).await;
            failed = ready.into_iter().find_map(Result::err);
        }
        match failed {
            None => Ok(servers),
            Some(mut why) => {
                servers.end().await;
                let missing_candidates = std::mem::take(&mut why.missing_candidates);
                why.missing = missing_dependency::find_missing(plan, &why.command, missing_candidates)
                    .await
                    .map(Box::new);
                Err(why)
            }
        }
    }

    /// Drains server output, so that a full pipe does not block a server.
    pub(super) async fn drain_output(&mut self) {
        join_all(self.0.iter_mut().map(CheckServer::listen)).await;
        std::future::pending::<()>().await;
    }

    pub(super) async fn end(self) {
        join_all(self.0.into_iter().map(CheckServer::end)).await;
    }
}

impl CheckServer {
    fn start(plan: &RoundParams<'_>, service: ApprovedInput<ServiceSettings>) -> Result<Self, NotReady> {
        let name = name(service.value());
        let job = Job {
            argv: service.clone().map(|it| it.command.into_iter().map(Into::into).collect()),
            cwd: plan.root.to_path_buf(),
            env: plan.env.to_vec(),
            stdin: StdinSource::Null,
            grace: plan.grace,
            output: None,
        };
        let failed = |error: ProcessError| {
            let fact = tr!("the server `{name}` could not be started: {error}", name, error);
            let missing_candidates = match error {
                ProcessError::NotFound { program } => missing::not_started(&program),
                _ => Vec::new(),
            };
            NotReady { missing_candidates, command: service.value().command.join(" "), ..NotReady::new(fact) }
        };
        let running = plan.wardens.start_alone(&job).map_err(failed)?;
        Ok(Self { name, service, running, last_lines: VecDeque::new() })
    }

    async fn get_ready(&mut self, asker: HttpClient<'_>) -> Result<(), NotReady> {
        let service = self.service.clone();
        let (ready, ms) = (service.value().ready.clone(), service.value().timeout_ms);
        let until = Instant::now() + Duration::from_millis(ms);
        let answers = timeout_at(until, wait_ready(asker, service));
        let has_ended = tokio::select! {
            () = self.listen() => true,
            answered = answers => match answered {
                Ok(()) => return Ok(()),
                Err(_) => false,
            },
        };
        let name = &self.name;
        let fact = if has_ended {
            tr!("the server `{name}` ended before it was ready", name)
        } else {
            tr!(
                "the server `{name}` was not ready at {ready} within {duration}",
                name,
                ready,
                duration = format_ms(ms)
            )
        };
        Err(self.not_ready(&fact))
    }

    /// Collects output until the server has ended.
    async fn listen(&mut self) {
        while let Some(event) = self.running.next().await {
            let OutputEvent::Line { bytes, .. } = event else { continue };
            if self.last_lines.len() == LAST_LINES {
                self.last_lines.pop_front();
            }
            self.last_lines.push_back(String::from_utf8_lossy(&bytes).into_owned());
        }
    }

    fn not_ready(&self, fact: &str) -> NotReady {
        let last_lines: Vec<&str> = self.last_lines.iter().map(String::as_str).collect();
        let last = last_lines.iter().rev().find(|it| !it.trim().is_empty());
        let fact = last.map_or(fact.to_owned(), |it| tr!("{fact}: {line}", fact, line = it.trim()));
        let (command, last_lines) = (self.service.value().command.clone(), last_lines.join("\n"));
        let missing_candidates = missing::missing_candidates_of_server(&command, &last_lines);
        NotReady { last_lines, command: command.join(" "), missing_candidates, ..NotReady::new(fact) }
    }

    async fn end(mut self) {
        self.running.terminate(TerminateMode::Grace);
        self.running.wait().await;
    }
}

impl NotReady {
    fn new(fact: String) -> Self {
        Self {
            fact,
            last_lines: String::new(),
            missing: None,
            command: String::new(),
            missing_candidates: Vec::new(),
        }
    }
}

/// Polls with increasing pauses until the server is ready.
async fn wait_ready(asker: HttpClient<'_>, service: ApprovedInput<ServiceSettings>) {
    let mut pause = FIRST_PAUSE;
    loop {
        if let HttpOutcome::Answered(answer) = asker.get(readiness_request(service.clone())).await
            && (200..400).contains(&answer.status)
        {
            return;
        }
        sleep(pause).await;
        pause = (pause * 2).min(MAX_POLL_DELAY);
    }
}

fn readiness_request(service: ApprovedInput<ServiceSettings>) -> HttpRequest {
    let servers = vec![service.value().ready.clone()];
    HttpRequest { url: service.map(|it| it.ready), servers, timeout: TIMEOUT, redirects: 0 }
}

/// A name short enough for a fact.
fn name(service: &ServiceSettings) -> String {
    let program = service.command.first().map(String::as_str).unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default().to_owned()
}

fn format_ms(ms: u64) -> String {
    if ms.is_multiple_of(1000) { tr!("{seconds} s", seconds = ms / 1000) } else { tr!("{ms} ms", ms) }
}
