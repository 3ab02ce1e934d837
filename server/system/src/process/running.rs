//! Controls a running job: its output, CPU time and exit.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};

use super::lines::LineSplitter;
use super::output_file::OutputFile;
use super::supervise::SupervisorMessage;
use super::warden::FORCE_TIMEOUT;
use super::{JobOutcome, OutputEvent, Stream, TerminateMode, orphans};
use crate::process_table;
use crate::sandbox::ReachedLimits;
use crate::warden_channel::{GRACE, NOW, WardenReport};

/// Whether a job is blocked in its stop hook until we respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopHookWait {
    Yes,
    No,
}

/// A warden reports the start within milliseconds. A stopped warden must not delay the loop.
const START_TIMEOUT: Duration = Duration::from_secs(1);

/// The pid of the main process.
#[derive(Debug)]
pub(super) enum MainProcess {
    Awaited(oneshot::Receiver<Option<i32>>),
    /// `None`: it exited before it could be found.
    Known(Option<u32>),
}

/// A running job. Dropping it ends the job.
#[derive(Debug)]
pub struct JobHandle {
    pub(super) pid: i32,
    pub(super) main: MainProcess,
    /// CPU time of the warden's earlier jobs.
    pub(super) spent_ms: u64,
    pub(super) inbox: mpsc::Receiver<SupervisorMessage>,
    pub(super) control: UnixStream,
    pub(super) force: watch::Sender<Option<Instant>>,
    pub(super) grace: Duration,
    pub(super) requested: Option<TerminateMode>,
    pub(super) lines: LineSplitter,
    pub(super) output: Option<OutputFile>,
    pub(super) report: Option<WardenReport>,
    pub(super) reached: ReachedLimits,
}

impl JobHandle {
    /// The next line, `None` when the domain is empty. The job is blocked while this is not called. Cancel safe.
    pub async fn next(&mut self) -> Option<OutputEvent> {
        loop {
            if let Some(event) = self.lines.next() {
                return Some(event);
            }
            match self.next_chunk().await {
                Some((stream, bytes)) => self.lines.push_chunk(stream, bytes),
                None if self.lines.finish() => {}
                None => return None,
            }
        }
    }

    /// The next bytes, unsplit. Cancel safe.
    pub(super) async fn next_chunk(&mut self) -> Option<(Stream, Vec<u8>)> {
        match self.inbox.recv().await? {
            SupervisorMessage::Chunk(stream, bytes) => {
                if let Some(output) = &mut self.output {
                    output.write(stream, &bytes);
                }
                Some((stream, bytes))
            }
            SupervisorMessage::Ended(report, reached) => {
                (self.report, self.reached) = (Some(report), reached);
                None
            }
        }
    }

    /// Switches the output to another file. Errors of the previous file show in the number of bytes that are in no
    /// file.
    pub fn output_to(&mut self, base: &Path) -> io::Result<u64> {
        let Some(output) = self.output.take() else { return Ok(0) };
        let (next, dropped) = output.continue_at(base)?;
        self.output = Some(next);
        Ok(dropped)
    }

    /// While its work is judged, a job counts as detached: waits for the loop's jobs do not include it.
    pub fn set_stop_hook_wait(&self, held: StopHookWait) {
        match held {
            StopHookWait::Yes => orphans::mark_detached(self.pid),
            StopHookWait::No => orphans::mark_attached(self.pid),
        }
    }

    /// Pid of the warden, or of the bubblewrap around it.
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Pid of the main process in this process's namespace, whatever namespace it runs in. `None`: it exited
    /// immediately.
    pub async fn main_pid(&mut self) -> Option<u32> {
        if let MainProcess::Awaited(started) = &mut self.main {
            let pid = timeout(START_TIMEOUT, started).await.ok().and_then(Result::ok).flatten();
            self.main = MainProcess::Known(pid.map(i32::unsigned_abs));
        }
        match self.main {
            MainProcess::Known(pid) => pid,
            MainProcess::Awaited(_) => None,
        }
    }

    /// Requests the end of the job. Repeating the request changes nothing, but `Now` after `Grace` cuts the grace time
    /// short.
    pub fn terminate(&mut self, mode: TerminateMode) {
        if self.requested == Some(TerminateMode::Now) || self.requested == Some(mode) {
            return;
        }
        self.requested = Some(mode);
        let (request, time) = match mode {
            TerminateMode::Grace => (GRACE, self.grace + FORCE_TIMEOUT),
            TerminateMode::Now => (NOW, FORCE_TIMEOUT),
        };
        // If the warden has ended, no process is left.
        let _ = self.control.write(&[request]);
        let _ = self.force.send(Some(Instant::now() + time));
    }

    /// CPU time used by everything in the domain so far.
    pub fn cpu_ms(&self) -> io::Result<u64> {
        Ok(process_table::cpu_ms(self.pid)?.saturating_sub(self.spent_ms))
    }

    /// Waits for the end and returns the outcome; unread output goes to the file only.
    pub async fn wait(mut self) -> JobOutcome {
        while self.next_chunk().await.is_some() {}
        let report = self.report.take().unwrap_or_default();
        let (dropped, output_error) = self.output.take().map_or((0, None), OutputFile::finish);
        JobOutcome {
            exit: report.exit.filter(|_| report.not_started.is_none()),
            signal: report.signal,
            not_started: report.not_started,
            survivors: report.survivors,
            unkillable: report.unkillable,
            cpu_ms: report.cpu_ms,
            reached: self.reached,
            dropped,
            output_error,
        }
    }
}
