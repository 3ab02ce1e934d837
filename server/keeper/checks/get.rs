//! `GET`: one request, judged by its answer. Needs trust like a command: an address can tell a server something.

use std::time::{Duration, Instant};

use loopkeeper_core::check::answer::{MOST_REDIRECTS, Reply, judge_reply};
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::task::Criterion;

use super::command::output_file;
use super::{Finding, Plan};
use crate::adapters::http::Request;

pub(super) async fn run(plan: &Plan<'_>, criterion: &Criterion, url: &str, timeout: Duration) -> CheckResult {
    let begun = Instant::now();
    let url = match plan.permit.request(url) {
        Ok(url) => url,
        Err(denied) => {
            let finding = Finding::of(Status::CouldNotRun, denied.to_string());
            return finding.into_result(criterion, plan.redactor, Duration::ZERO);
        }
    };
    let servers = plan.servers.iter().map(|it| it.ready.clone()).collect();
    let reply = plan.asker.get(Request { url, servers, timeout, redirects: MOST_REDIRECTS }).await;
    keep(plan, criterion, &reply);
    let criterion = Criterion { timeout_ms: Some(timeout.as_millis() as u64), ..criterion.clone() };
    let result = judge_reply(&criterion, &reply, plan.redactor);
    CheckResult { duration_ms: begun.elapsed().as_millis() as u64, ..result }
}

/// Where the output of commands is kept too; a result stands without it.
fn keep(plan: &Plan<'_>, criterion: &Criterion, reply: &Reply) {
    let path = output_file(plan, criterion);
    let text = match reply {
        Reply::Answered(answer) => plan.redactor.redact(&answer.text()),
        Reply::TimedOut | Reply::None(_) => String::new(),
    };
    let _ = crate::keeper::private_file(&path, text.as_bytes());
}
