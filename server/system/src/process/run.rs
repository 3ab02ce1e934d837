//! Runs a job with a timeout and returns its output as a whole.

use std::time::Duration;

use loopkeeper_core::check::{CommandExit, CommandRun};
use tokio::time::{Instant, timeout_at};

use super::head_tail::DEFAULT_BYTES;
use super::output_buffer::OutputBuffer;
use super::{Job, JobHandle, ProcessError, TerminateMode, orphans, start};
use crate::sandbox::Isolation;

/// Runs a job to its end and keeps the beginning and the end of its output. After `timeout` it is ended (within the
/// job's grace time). Dropping the future ends the job, too.
pub async fn run_to_end(job: &Job, timeout: Duration, domain: &Isolation) -> CommandRun {
    run_for(job, timeout, domain, DEFAULT_BYTES).await
}

/// Like [`run_to_end`], keeping `most` bytes of the beginning and of the end of each stream.
pub(crate) async fn run_for(job: &Job, timeout: Duration, domain: &Isolation, most: usize) -> CommandRun {
    collect_output(start(job, domain), timeout, OutputBuffer::with_separate(most)).await
}

/// Like [`run_to_end`] for a job that runs detached from the loop: waiting for the loop's jobs does not include it.
pub async fn run_beside(job: &Job, timeout: Duration, domain: &Isolation) -> CommandRun {
    let started = start(job, domain).inspect(|running| orphans::mark_detached(running.pid));
    collect_output(started, timeout, OutputBuffer::with_separate(DEFAULT_BYTES)).await
}

fn not_started(reason: String) -> CommandRun {
    CommandRun { ending: CommandExit::NotStarted(reason), ..CommandRun::default() }
}

/// Collects the output of a started job, and ends it after `timeout`.
pub(super) async fn collect_output(
    started: Result<JobHandle, ProcessError>,
    timeout: Duration,
    mut collected: OutputBuffer,
) -> CommandRun {
    let mut running = match started {
        Ok(running) => running,
        Err(error) => return not_started(error.to_string()),
    };
    let begin = Instant::now();
    let mut timed_out = false;
    loop {
        let next = if timed_out {
            running.next_chunk().await
        } else if let Ok(next) = timeout_at(begin + timeout, running.next_chunk()).await {
            next
        } else {
            timed_out = true;
            running.terminate(TerminateMode::Grace);
            continue;
        };
        match next {
            Some((stream, bytes)) => collected.push(stream, &bytes),
            None => break,
        }
    }
    let outcome = running.wait().await;
    CommandRun {
        ending: match (timed_out, outcome.not_started, outcome.signal, outcome.exit) {
            (true, ..) => CommandExit::TimedOut,
            (_, Some(reason), ..) => CommandExit::NotStarted(reason),
            (_, _, Some(signal), _) => CommandExit::Signalled(signal),
            (_, _, _, exit) => CommandExit::Exited(exit.unwrap_or(-1)),
        },
        duration_ms: begin.elapsed().as_millis() as u64,
        survivors: [outcome.survivors, outcome.unkillable].concat(),
        ..collected.finish()
    }
}
