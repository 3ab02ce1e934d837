//! Runs the checks of one round sequentially in the root. Each command runs in a separate kill domain; file checks run
//! in this process. Evaluates by the core's rules and decides nothing about the loop. Dropping the future ends the
//! running check.

mod clean;
mod command;
pub(super) mod files;
mod get;
mod missing_dependency;
mod runner_report;
mod servers;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::check::excerpt::Excerpt;
use loopkeeper_core::check::report::ReportingRunner;
use loopkeeper_core::check::{CheckResult, Location, Status, words};
use loopkeeper_core::settings::ServiceSettings;
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, tr};
use tokio::time::Instant;
use tracing::{Instrument as _, debug_span};

pub(super) use self::command::output_file;
use self::servers::{NotReady, RunningServers};
use super::event_log;
use loopkeeper_system::http::HttpClient;
use loopkeeper_system::process::WardenPool;
use loopkeeper_system::trust::permit::Permit;

/// Everything a round needs.
#[derive(Debug, Clone, Copy)]
pub struct RoundParams<'a> {
    /// The root: working directory of commands, base of globs.
    pub root: &'a Path,
    /// The pinned criteria in document order.
    pub criteria: &'a [Criterion],
    pub extent: RoundExtent,
    /// Default for criteria without their own timeout.
    pub timeout: Duration,
    /// Time between TERM and KILL of a command that timed out.
    pub grace: Duration,
    /// The complete environment of commands.
    pub env: &'a [(OsString, OsString)],
    pub wardens: &'a WardenPool,
    pub redactor: &'a Redactor,
    /// Which checks are allowed to run.
    pub permit: &'a Permit,
    /// Sends the requests.
    pub asker: HttpClient<'a>,
    /// Servers that requests need.
    pub servers: &'a [ServiceSettings],
    /// Files that `clean` tolerates: untracked at the start.
    pub untracked: &'a [String],
    /// An existing folder. Each command's full output is written to `<NNNN>.<criterion>.out` in it.
    pub output: &'a Path,
    /// The iteration, `NNNN` in output names.
    pub number: u32,
    /// Where test runners write reports of their own, if they are asked for them.
    pub reports: Option<&'a ReportChannels>,
}

/// Which criteria run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundExtent {
    All,
    /// Up to the first that does not pass.
    FirstFailure,
}

/// The test runners that are asked for a report.
#[derive(Debug, Clone, Default)]
pub struct ReportChannels {
    /// Each command writes to `<criterion>.xml` in it.
    pub folder: PathBuf,
    pub runners: BTreeMap<CriterionId, ReportingRunner>,
}

/// Returns one result per criterion that ran, in their order.
pub async fn run_round(plan: &RoundParams<'_>) -> Vec<CheckResult> {
    if plan.servers.is_empty() || !plan.criteria.iter().any(is_request) {
        return run_all(plan, None).await;
    }
    match RunningServers::start(plan).await {
        Err(why) => run_all(plan, Some(&why)).await,
        Ok(mut servers) => {
            let results = tokio::select! {
                results = run_all(plan, None) => results,
                () = servers.drain_output() => Vec::new(),
            };
            servers.end().await;
            results
        }
    }
}

/// `no_server`: why requests cannot be answered.
async fn run_all(plan: &RoundParams<'_>, no_server: Option<&NotReady>) -> Vec<CheckResult> {
    let mut results = Vec::with_capacity(plan.criteria.len());
    for criterion in plan.criteria {
        let result = match no_server.filter(|_| is_request(criterion)) {
            Some(why) => not_ready_result(plan, criterion, why),
            None => run_criterion(plan, criterion).await,
        };
        let is_last = plan.extent == RoundExtent::FirstFailure && result.status != Status::Pass;
        results.push(result);
        if is_last {
            break;
        }
    }
    results
}

fn is_request(criterion: &Criterion) -> bool {
    matches!(criterion.check, Some(Check::Get { .. }))
}

fn not_ready_result(plan: &RoundParams<'_>, criterion: &Criterion, why: &NotReady) -> CheckResult {
    let finding = RawResult::new(Status::CouldNotRun, why.fact.clone());
    let Excerpt { head, tail, left_out } = Excerpt::of_text(&why.last_lines, 0, plan.redactor);
    let mut result =
        CheckResult { head, tail, left_out, ..finding.into_result(criterion, plan.redactor, Duration::ZERO) };
    if let Some(missing) = &why.missing {
        result.set_missing(missing, plan.redactor);
    }
    result
}

async fn run_criterion(plan: &RoundParams<'_>, criterion: &Criterion) -> CheckResult {
    let check = async {
        let result = judge_criterion(plan, criterion).await;
        event_log::log_check(&result);
        result
    };
    check.instrument(debug_span!("check", criterion = criterion.id.0)).await
}

async fn judge_criterion(plan: &RoundParams<'_>, criterion: &Criterion) -> CheckResult {
    let begin = Instant::now();
    let timeout = criterion.timeout_ms.map_or(plan.timeout, Duration::from_millis);
    let finding = match &criterion.check {
        None => RawResult::new(Status::Unverified, tr!("no check")),
        Some(Check::Command { command, .. }) => return command::run(plan, criterion, command, timeout).await,
        Some(Check::Clean) => clean::check_clean(plan, timeout).await,
        Some(Check::Get { url, .. }) => return get::run(plan, criterion, url, timeout).await,
        // Judges run after all other checks, see `judges`.
        Some(Check::Judge { .. }) => {
            RawResult::new(Status::Unverified, tr!("not asked: other checks come first"))
        }
        Some(
            check @ (Check::Exists { .. } | Check::Missing { .. } | Check::Has { .. } | Check::Lacks { .. }),
        ) => files::check_files(plan.root, check, timeout).await,
    };
    finding.into_result(criterion, plan.redactor, begin.elapsed())
}

/// The result of a check before redaction and sanitising.
#[derive(Debug, Clone, PartialEq)]
struct RawResult {
    status: Status,
    fact: String,
    locations: Vec<Location>,
}

impl RawResult {
    fn new(status: Status, fact: impl Into<String>) -> Self {
        Self { status, fact: fact.into(), locations: Vec::new() }
    }

    fn timed_out(timeout: Duration) -> Self {
        Self::new(Status::TimedOut, words::no_result(timeout.as_millis() as u64))
    }

    fn into_result(self, criterion: &Criterion, redactor: &Redactor, took: Duration) -> CheckResult {
        let clean = |text: &str| redactor.redact(&sanitize::line(text));
        let location = |it: Location| Location { file: clean(&it.file), message: clean(&it.message), ..it };
        CheckResult {
            duration_ms: took.as_millis() as u64,
            locations: self.locations.into_iter().map(location).collect(),
            ..CheckResult::new(criterion.id.clone(), self.status, clean(&self.fact))
        }
    }
}
