//! The warden: the parent process of one agent or check at a time, which leaves no process of its job behind.
//!
//! `loopkeeper domain [--stdin FILE] --grace-ms N -- ARGV…`. Its stdin is the channel to the keeper: orders come in,
//! the report goes out, and on EOF (the keeper has ended, for any reason) it ends everything immediately. `loopkeeper
//! domain --orders` takes one job after the other from its stdin (see `loopkeeper_system::process::job_request`), each
//! with a separate channel, as long as nothing remains of a job when the next begins. `loopkeeper domain --guard …` runs
//! the warden with the rest of its arguments and ends what it leaves behind. `loopkeeper domain --in-group FOLDER … --
//! PROGRAM …` enters control groups and becomes that program. Must stay small: no async, no threads but those in which a
//! restricted job starts, no settings, nothing read from the workspace.

mod arguments;
mod execution_context;
mod group;
mod guard;
mod network;
mod watch;

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::Serialize;

use self::arguments::{WardenArgs, WardenMode};
use self::execution_context::{HostFingerprint, is_init};
use self::watch::{JobReaper, JobStart, WardenSignals};
use loopkeeper_system::process::hardening;
use loopkeeper_system::process::job_request::{self, JobRequest, ReceivedJob};
use loopkeeper_system::sandbox::{IN_GROUP, LandlockRules, NetworkSetup};
use loopkeeper_system::warden_channel::{GUARD, StartReport, WardenReport};

pub use loopkeeper_system::warden_channel::SUBCOMMAND;

/// Runs one warden until it is done. `args` come after the subcommand's name.
pub fn main(args: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let mut args = args.peekable();
    if args.peek().is_some_and(|it| it == IN_GROUP) {
        return group::run(args);
    }
    if args.next_if(|it| it == GUARD).is_some() {
        return guard::run(args);
    }
    let Some(WardenArgs { own_proc, overlay, rules, resources, network, work }) =
        WardenArgs::read(args, std::env::vars_os())
    else {
        return ExitCode::from(2);
    };
    let prepared = if own_proc { execution_context::mount_proc() } else { Ok(()) };
    let prepared = prepared.and_then(|()| network::prepare(network, io::stdin()));
    let prepared = prepared.and_then(|()| overlay.as_ref().map_or(Ok(()), execution_context::mount_overlay));
    let prepared = prepared.and_then(|()| resources.apply(own_proc));
    // A job must not reach the channel to the keeper: it could report its own result.
    let prepared = prepared.and_then(|()| hardening::forbid_tracing());
    hardening::drop_tracing_capability();
    if is_init() || overlay.is_some() || network.own_namespace {
        hardening::drop_mount_capabilities();
    }
    if network.is_separate() {
        hardening::drop_network_capability();
    }
    if !is_init() {
        // Without its guard a warden takes no more jobs.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
    match work {
        WardenMode::Probe => probe(prepared, network),
        WardenMode::Job(request) => job(prepared, &request, &rules),
        WardenMode::Orders => serve_jobs(prepared, &rules),
    }
}

/// Succeeds if a warden can work as the first process of a namespace, or in a network namespace of its own.
fn probe(prepared: io::Result<()>, network: NetworkSetup) -> ExitCode {
    if let Err(error) = prepared {
        let _ = writeln!(io::stderr(), "{error}");
        return ExitCode::FAILURE;
    }
    if is_init() || network.own_namespace { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn job(prepared: io::Result<()>, request: &JobRequest, rules: &LandlockRules) -> ExitCode {
    let done = prepared.and_then(|()| {
        let (signals, keeper) = (WardenSignals::install()?, io::stdin());
        let start = JobStart { request, rules, outputs: None };
        Ok(watch(JobReaper::start(start, &signals, keeper.as_fd())?, request, &keeper))
    });
    let report = done.unwrap_or_else(|error| not_started(&error));
    send_report(&report, io::stdin());
    let code = report.exit.or(report.signal.map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn watch(reaper: JobReaper<'_>, request: &JobRequest, keeper: impl AsFd) -> WardenReport {
    send_report(&StartReport { main: reaper.main() }, keeper);
    reaper.supervise(request.grace)
}

fn not_started(error: &io::Error) -> WardenReport {
    WardenReport { not_started: Some(error.to_string()), exit: Some(127), ..WardenReport::default() }
}

/// If the keeper has ended the report is lost; all processes of the job have ended in any case.
fn send_report(message: &impl Serialize, keeper: impl AsFd) {
    if let Ok(mut line) = serde_json::to_vec(message) {
        line.push(b'\n');
        let _ = rustix::io::write(keeper, &line);
    }
}

/// Runs one job after the other, until the channel closes or something remains of a job.
fn serve_jobs(prepared: io::Result<()>, rules: &LandlockRules) -> ExitCode {
    // bubblewrap's own stderr is no longer needed; each job has its own pipes.
    let _ = std::fs::File::options()
        .write(true)
        .open("/dev/null")
        .and_then(|null| Ok(rustix::stdio::dup2_stderr(null)?));
    let ready = prepared.and_then(|()| Ok((WardenSignals::install()?, HostFingerprint::capture()?)));
    let (signals, fingerprint) = match ready {
        Ok(ready) => ready,
        Err(error) => return report_setup_error(&error),
    };
    let mut earlier_cpu_ms = 0;
    while signals.quiet_until(io::stdin().as_fd()) {
        // No message or no job: the keeper has ended or is not ours.
        let Ok(Some(received)) = job_request::receive(io::stdin()) else { return ExitCode::SUCCESS };
        let ReceivedJob { request, control, out, err } = received;
        let start = JobStart { request: &request, rules, outputs: Some([out, err]) };
        let started = JobReaper::start(start, &signals, control.as_fd());
        let mut report = match started {
            Ok(reaper) => watch(reaper, &request, &control),
            Err(error) => not_started(&error),
        };
        let total = report.cpu_ms.max(earlier_cpu_ms);
        report.cpu_ms = total - std::mem::replace(&mut earlier_cpu_ms, total);
        // Leave the work tree, so that it can be moved or unmounted while idle.
        let left_folder = std::env::set_current_dir("/").is_ok();
        report.again = left_folder
            && report.unkillable.is_empty()
            && !signals.is_end_requested()
            && fingerprint.is_unchanged();
        send_report(&report, &control);
        if !report.again {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// Reports the error to the first request.
fn report_setup_error(error: &io::Error) -> ExitCode {
    if let Ok(Some(received)) = job_request::receive(io::stdin()) {
        send_report(&not_started(error), received.control);
    }
    ExitCode::FAILURE
}
