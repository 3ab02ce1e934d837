//! `$ command`: runs `sh -c` without input; all processes that it started have ended before the result is evaluated.

use std::path::PathBuf;
use std::time::Duration;

use loopkeeper_core::check::{CheckResult, CommandExit, CommandRun, Status, judge, missing, negation};
use loopkeeper_core::decide::sandbox_denies_hosts;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::clauses::append_clause;
use loopkeeper_text::{sanitize, tr};

use super::runner_report::RunnerReport;
use super::{RawResult, RoundParams, missing_dependency};
use loopkeeper_system::host_proxy::HostProxy;
use loopkeeper_system::process::{Job, StdinSource, StreamLayout};

pub(super) async fn run(
    plan: &RoundParams<'_>,
    criterion: &Criterion,
    command: &str,
    timeout: Duration,
) -> CheckResult {
    let report = RunnerReport::of_check(plan, criterion);
    let (result, has_report) = run_once(plan, criterion, (command, timeout), report.as_ref()).await;
    if report.is_none() || has_report || result.status == Status::Pass {
        return result;
    }
    // The runner may not know the option.
    run_once(plan, criterion, (command, timeout), None).await.0
}

/// Runs the command once; also returns whether the runner wrote its report.
async fn run_once(
    plan: &RoundParams<'_>,
    criterion: &Criterion,
    (command, timeout): (&str, Duration),
    report: Option<&RunnerReport>,
) -> (CheckResult, bool) {
    let output = output_file(plan, criterion);
    let approved = match plan.permit.check(command) {
        Ok(approved) => approved,
        Err(denied) => {
            let finding = RawResult::new(Status::CouldNotRun, denied.to_string());
            return (finding.into_result(criterion, plan.redactor, Duration::ZERO), false);
        }
    };
    let job = Job {
        argv: approved.map(|it| ["/bin/sh", "-c", &negation::shell_script(&it)].map(Into::into).to_vec()),
        cwd: plan.root.to_path_buf(),
        env: report.map_or_else(|| plan.env.to_vec(), |it| it.environment(plan.env)),
        stdin: StdinSource::Null,
        grace: plan.grace,
        output: Some(output.clone()),
    };
    let mut run = match remove_output(&output) {
        Ok(()) => plan.wardens.run_to_end(&job, streams(criterion), timeout).await,
        Err(reason) => CommandRun { ending: CommandExit::NotStarted(reason), ..CommandRun::default() },
    };
    report.inspect(|it| it.remove_mentions(&mut run));
    let criterion = Criterion { timeout_ms: Some(timeout.as_millis() as u64), ..criterion.clone() };
    let mut result = judge::judge(&criterion, &run, plan.root, plan.redactor);
    name_denied_hosts(plan, &mut result);
    let missing_candidates = missing::missing_candidates(command, &run, &result);
    if let Some(missing) = missing_dependency::find_missing(plan, command, missing_candidates).await {
        result.set_missing(&missing, plan.redactor);
    }
    let reported = report.map(RunnerReport::read).unwrap_or_default();
    result.reported = reported.counts;
    (result, reported.is_there)
}

/// Adds to the fact of a check the hosts that the sandbox denied it.
fn name_denied_hosts(plan: &RoundParams<'_>, result: &mut CheckResult) {
    let denied = plan.wardens.isolation().network().proxy().map(HostProxy::take_denied);
    let Some(hosts) = denied.filter(|it| !it.is_empty() && result.status != Status::Pass) else { return };
    let denies = sanitize::line(&plan.redactor.redact(&sandbox_denies_hosts(&hosts)));
    result.fact = append_clause(&result.fact, &denies);
}

fn streams(criterion: &Criterion) -> StreamLayout {
    if judge::needs_streams_apart(criterion) { StreamLayout::Apart } else { StreamLayout::Together }
}

/// The base of output files. It ends in `.out`, because the writer replaces the last suffix, which otherwise could be
/// part of the criterion's id.
pub(in super::super) fn output_file(plan: &RoundParams<'_>, criterion: &Criterion) -> PathBuf {
    plan.output.join(format!("{:04}.{}.out", plan.number, criterion.id.0))
}

/// Removes the output of an earlier run, so that a repeated round keeps only its last output.
fn remove_output(output: &std::path::Path) -> Result<(), String> {
    for path in [output.to_path_buf(), output.with_extension("tail")] {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(tr!("could not replace {path}: {error}", path = path.display(), error));
            }
            _ => {}
        }
    }
    Ok(())
}
