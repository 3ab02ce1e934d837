//! `GET`: one request, judged by its response. Requires trust like a command, because an address can carry data to a
//! server.

use std::time::{Duration, Instant};

use loopkeeper_core::check::answer::{HttpOutcome, MAX_REDIRECTS, judge_reply};
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_task::criterion::Criterion;

use super::command::output_file;
use super::{RawResult, RoundParams};
use loopkeeper_system::http::HttpRequest;

pub(super) async fn run(
    plan: &RoundParams<'_>,
    criterion: &Criterion,
    url: &str,
    timeout: Duration,
) -> CheckResult {
    let begun = Instant::now();
    let url = match plan.permit.request(url) {
        Ok(url) => url,
        Err(denied) => {
            let finding = RawResult::new(Status::CouldNotRun, denied.to_string());
            return finding.into_result(criterion, plan.redactor, Duration::ZERO);
        }
    };
    let servers = plan.servers.iter().map(|it| it.ready.clone()).collect();
    let reply = plan.asker.get(HttpRequest { url, servers, timeout, redirects: MAX_REDIRECTS }).await;
    save_output(plan, criterion, &reply);
    let criterion = Criterion { timeout_ms: Some(timeout.as_millis() as u64), ..criterion.clone() };
    let result = judge_reply(&criterion, &reply, plan.redactor);
    CheckResult { duration_ms: begun.elapsed().as_millis() as u64, ..result }
}

/// Saves the response next to the outputs of commands; a failure does not affect the result.
fn save_output(plan: &RoundParams<'_>, criterion: &Criterion, reply: &HttpOutcome) {
    let path = output_file(plan, criterion);
    let text = match reply {
        HttpOutcome::Answered(answer) => plan.redactor.redact(&answer.text()),
        HttpOutcome::TimedOut | HttpOutcome::None(_) => String::new(),
    };
    let _ = crate::private_file(&path, text.as_bytes());
}
